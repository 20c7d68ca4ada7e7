"""Conversation figures: how attempts end, what they take, what is put right, by period."""

from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from agentruntime.agents import all_agents
from audit import presenters
from audit.admin.pages import language, page, render
from audit.figures import Period, figures

DAYS = 30
MAX_DAYS = 366


def _agents() -> list[tuple[str, str]]:
    return [("", _("All")), *((spec.name, spec.name) for spec in all_agents())]


def _date(label: Any) -> forms.DateField:
    return forms.DateField(
        label=label, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )


class PeriodForm(forms.Form):
    """Both days count."""

    since = _date(gettext_lazy("From"))
    until = _date(gettext_lazy("To"))
    agent = forms.ChoiceField(label=gettext_lazy("Agent"), choices=_agents, required=False)

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        since, until = given.get("since"), given.get("until")
        if since and until:
            if until < since:
                raise forms.ValidationError(_("The period ends before it begins."))
            if (until - since).days >= MAX_DAYS:
                raise forms.ValidationError(_("A year at most."))
        return given

    def period(self) -> Period:
        """The days as instants of the pages' zone."""
        given = self.cleaned_data
        return Period(
            since=timezone.make_aware(datetime.combine(given["since"], time(0))),
            until=timezone.make_aware(
                datetime.combine(given["until"] + timedelta(days=1), time(0))
            ),
            agent=given["agent"],
        )


@page()
@require_safe
def shown(request: HttpRequest) -> HttpResponse:
    """The figures of a period; of the last 30 days unless another is asked for."""
    today = timezone.localdate()
    first = {"since": today - timedelta(days=DAYS - 1), "until": today, "agent": ""}
    form = PeriodForm(request.GET or first)
    found = figures(form.period()) if form.is_valid() else None
    specs, spoken = all_agents(), language()
    return render(
        request,
        "figures",
        title=_("Conversation figures"),
        form=form,
        found=found,
        phases={
            each.phase: presenters.phase_words(specs, each.phase, spoken)
            for each in (found.ended if found else ())
        },
        slots={
            each.slot: presenters.slot_words(specs, each.slot, spoken)
            for each in (found.revised if found else ())
        },
    )
