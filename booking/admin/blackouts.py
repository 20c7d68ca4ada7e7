"""Blackouts in the administration: what would be hit is shown and settled before rooms are shut."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminSplitDateTime
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from booking import closures, services
from booking.admin.generic import ModelAdmin
from booking.closures import Hit
from booking.exceptions import BookingError
from booking.intervals import Interval
from booking.models import Blackout, Building, Room, Site, Source
from booking.visibility import seen

SETTLE = "settle-"


class BlackoutForm(forms.Form):
    """The place and the time of a blackout to be."""

    site = forms.ModelChoiceField(
        Site.objects.all(), label=capfirst(_("site")), required=False, help_text=_("All its rooms.")
    )
    building = forms.ModelChoiceField(
        Building.objects.all(),
        label=capfirst(_("building")),
        required=False,
        help_text=_("All its rooms."),
    )
    room = forms.ModelChoiceField(
        Room.objects.all(), label=capfirst(_("room")), required=False, help_text=_("Only this one.")
    )
    starts_at = forms.SplitDateTimeField(label=capfirst(_("starts")), widget=AdminSplitDateTime)
    ends_at = forms.SplitDateTimeField(label=capfirst(_("ends")), widget=AdminSplitDateTime)
    reason = forms.CharField(
        label=capfirst(_("reason")),
        max_length=200,
        help_text=_("People are told it; maintenance, an event."),
        widget=forms.TextInput(attrs={"class": "vTextField"}),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        places = [cleaned[name] for name in ("site", "building", "room") if cleaned.get(name)]
        if len(places) != 1:
            raise ValidationError(_("A blackout is of one site, building or room."))
        cleaned["place"] = places[0]
        starts_at, ends_at = cleaned.get("starts_at"), cleaned.get("ends_at")
        if starts_at and ends_at and ends_at <= max(starts_at, timezone.now()):
            self.add_error("ends_at", _("A blackout ends after it starts, and not in the past."))
        return cleaned


@admin.action(description=_("Lift selected blackouts"), permissions=["change"])
def lift_selected(
    model_admin: "BlackoutAdmin", request: HttpRequest, queryset: QuerySet[Blackout]
) -> None:
    for each in queryset:
        services.lift_blackout(each.pk, by=_person(request), now=timezone.now())
        model_admin.log_change(request, each, str(_("Lifted")))
    model_admin.message_user(request, _("The rooms can be booked again."), messages.SUCCESS)


@admin.register(Blackout)
class BlackoutAdmin(ModelAdmin[Blackout]):
    """Made in two steps, then only looked at and lifted."""

    list_display = ("place", "starts_at", "ends_at", "reason", "is_in_force", "created_by")
    list_filter = ("site", "building", "room")
    list_select_related = ("site", "building", "room", "created_by")
    search_fields = ("reason", "room__code", "building__code")
    date_hierarchy = "starts_at"
    actions = (lift_selected,)
    readonly_fields = (
        "site",
        "building",
        "room",
        "starts_at",
        "ends_at",
        "reason",
        "created_by",
        "created_at",
        "lifted_at",
    )
    fields = readonly_fields

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description=_("place"))
    def place(self, blackout: Blackout) -> Any:
        return blackout.place

    @admin.display(description=_("in force"), boolean=True)
    def is_in_force(self, blackout: Blackout) -> bool:
        return blackout.lifted_at is None and blackout.ends_at > timezone.now()

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """First the place and the time; then, if something is hit, what becomes of each."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = BlackoutForm(request.POST or None)
        hits: list[Hit] | None = None
        if request.method == "POST" and form.is_valid():
            hits = _hits(form.cleaned_data)
            settlements = _settlements(request, hits)
            if len(settlements) == len(hits):
                response = self._close(request, form, settlements)
                if response is not None:
                    return response
        context = {
            **admin.site.each_context(request),
            "title": _("Shut rooms"),
            "opts": self.opts,
            "form": form,
            "hits": None if hits is None else [_shown(each, request) for each in hits],
            "settle": SETTLE,
            "media": self.media + form.media,
        }
        return TemplateResponse(request, "admin/booking/close_rooms.html", context)

    def _close(
        self, request: HttpRequest, form: BlackoutForm, settlements: dict[int, str]
    ) -> HttpResponse | None:
        """Shut the rooms; None, with a message, if they cannot be as it was asked."""
        wanted = {
            name: form.cleaned_data[name] for name in ("place", "starts_at", "ends_at", "reason")
        }
        try:
            blackout = services.close_rooms(
                settlements=settlements,
                by=_person(request),
                now=timezone.now(),
                source=Source.ADMIN,
                **wanted,
            )
        except BookingError as error:
            self.message_user(request, error.text(), messages.ERROR)
            return None
        self.log_addition(request, blackout, str(_("Shut")))
        self.message_user(request, _("The rooms are shut."), messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:booking_blackout_changelist"))


def _hits(cleaned: dict[str, Any]) -> list[Hit]:
    now = timezone.now()
    during = Interval(cleaned["starts_at"], cleaned["ends_at"])
    found = closures.hits_of(cleaned["place"], during, now=now)
    return closures.alternatives_to(found, cleaned["place"], now=now)


def _shown(hit: Hit, request: HttpRequest) -> dict[str, Any]:
    """What the page says of a booking that is hit, as far as the person may see it."""
    known = seen(hit.occurrence.booking, _person(request))
    return {
        "occurrence": hit.occurrence,
        "alternative": hit.alternative,
        "organizer": _("(private)") if known.is_masked else known.organizer,
    }


def _settlements(request: HttpRequest, hits: list[Hit]) -> dict[int, str]:
    """What was chosen for those that are hit, as far as it was."""
    chosen = {
        each.occurrence.pk: request.POST.get(f"{SETTLE}{each.occurrence.pk}") for each in hits
    }
    return {pk: text for pk, text in chosen.items() if text}


def _person(request: HttpRequest) -> Any:
    """The signed-in user: the admin lets nobody else in."""
    return request.user
