"""Retention in the administration: the plan before it runs, and the rules that run nightly."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from agentruntime.agents import all_agents
from agentruntime.timetravel.retention import Pruned
from audit import retention, services
from audit.admin.pages import page, render
from audit.forms import ReasonForm
from audit.models import PRUNE, Operation, RetentionRule

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[RetentionRule]
else:
    ModelAdmin = admin.ModelAdmin

# A page is waited for; what is left is for the next one, or the command.
PAGE_SECONDS = 15.0
ROWS_SHOWN = 50


def _agents() -> list[tuple[str, str]]:
    return [("", _("All")), *((spec.name, spec.name) for spec in all_agents())]


class PlanForm(forms.Form):
    agent = forms.ChoiceField(label=gettext_lazy("Agent"), choices=_agents, required=False)
    keep_last = forms.IntegerField(
        label=gettext_lazy("Keep the newest"),
        min_value=0,
        initial=50,
        help_text=gettext_lazy("So many checkpoints of a thread stay, however old they are."),
    )
    older_than_days = forms.IntegerField(
        label=gettext_lazy("Keep for days"),
        min_value=0,
        initial=30,
        help_text=gettext_lazy("Younger checkpoints stay."),
    )

    def wish(self) -> retention.Wish:
        """What was asked for."""
        given = self.cleaned_data
        return retention.Wish(
            agent=given["agent"],
            keep_last=given["keep_last"],
            before=timezone.now() - timedelta(days=given["older_than_days"]),
        )


@page(PRUNE)
@require_http_methods(["GET", "HEAD", "POST"])
def plan(request: HttpRequest) -> HttpResponse:
    """First the plan, then, with a reason, the pruning of exactly that."""
    data = request.POST if request.method == "POST" else request.GET
    form = PlanForm(data or None)
    reason = ReasonForm(request.POST if request.method == "POST" else None)
    report, is_done = None, False
    threads: list[Pruned] = []
    if data and form.is_valid():
        is_done = request.method == "POST" and reason.is_valid()
        wish = form.wish()
        report = retention.prune(
            wish,
            dry=not is_done,
            max_seconds=PAGE_SECONDS,
            told=lambda each: (
                threads.append(each)
                if len(threads) < ROWS_SHOWN and (each.planned.bytes or each.skipped)
                else None
            ),
        )
        if is_done:
            retention.recorded(
                report,
                wish,
                by=request.user,  # type: ignore[arg-type]
                reason=reason.cleaned_data["reason"],
            )
    return render(
        request,
        "retention",
        title=_("Retention"),
        form=form,
        reason=reason,
        report=report,
        threads=threads,
        is_done=is_done,
    )


@admin.register(RetentionRule)
class RetentionRuleAdmin(ModelAdmin):
    list_display = ("agent", "keep_last", "older_than_days", "sandbox_days", "is_on", "ran_at")
    readonly_fields = ("ran_at",)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "agent":
            return forms.ChoiceField(label=db_field.verbose_name, choices=lambda: _agents()[1:])
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def _may(self, request: HttpRequest) -> bool:
        return request.user.has_perm(PRUNE)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._may(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._may(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001
        super().save_model(request, obj, form, change)
        services.record(
            Operation.Kind.RETENTION,
            by=request.user,  # type: ignore[arg-type]
            reason="",
            details={
                name: getattr(obj, name)
                for name in ("agent", "keep_last", "older_than_days", "sandbox_days", "is_on")
            },
        )
