"""A booking as people type it: a room, a day, wall times of the room's zone, and what it is for."""

import datetime as dt
import uuid
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import gettext_lazy as _

from booking.forms.cancelling import SCOPES
from booking.forms.fields import ByCode, ClockField, DayField, PeopleField
from booking.models import Room
from booking.models.agreements import KEY_LENGTH, TITLE_LENGTH
from booking.policies import instant_of
from booking.services import Scope

REPEATS = [
    ("", _("Does not repeat")),
    ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", _("Every working day")),
    ("FREQ=WEEKLY", _("Every week")),
    ("FREQ=WEEKLY;INTERVAL=2", _("Every two weeks")),
    ("FREQ=MONTHLY", _("Every month on that day")),
]


class RoomField(ByCode, forms.ModelChoiceField):  # type: ignore[type-arg]  # not subscriptable
    """One of the rooms in use, by its code."""

    def __init__(self, **more: Any) -> None:
        super().__init__(
            queryset=Room.objects.none(), to_field_name="code", empty_label=None, **more
        )

    def label_from_instance(self, room: Any) -> str:
        seats = _("%(seats)s seats") % {"seats": room.seats}
        return f"{room} · {room.floor.building} · {seats}"


class PlaceForm(forms.Form):
    """`cleaned_data` has `starts_at` and `ends_at`, aware; an end of 00:00 ends the day."""

    room = RoomField(label=_("Room"))
    date = DayField(label=_("Date"))
    starts = ClockField(label=_("From"))
    ends = ClockField(label=_("To"))
    headcount = PeopleField(label=_("People"), help_text=_("Yourself included."))
    title = forms.CharField(
        label=_("Title (optional)"), max_length=TITLE_LENGTH, required=False, strip=True
    )
    is_private = forms.BooleanField(
        label=_("Private: others only see that the room is busy"), required=False
    )

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        rooms = Room.objects.filter(is_active=True).select_related("floor__building__site")
        self.fields["room"].queryset = rooms.order_by("floor__building__code", "code")  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if all(given.get(name) is not None for name in ("room", "date", "starts", "ends")):
            zone = given["room"].floor.building.site.zone
            given["starts_at"] = self._instant("starts", zone, given["date"], given["starts"])
            given["ends_at"] = self._instant("ends", zone, _last_day(given), given["ends"])
            if given["starts_at"] and given["ends_at"] and given["ends_at"] <= given["starts_at"]:
                self.add_error("ends", _("The end is after the start."))
        return given

    @property
    def minutes(self) -> int:
        """How long it is, of a form that is right."""
        given = self.cleaned_data
        return int((given["ends_at"] - given["starts_at"]) / dt.timedelta(minutes=1))

    def _instant(
        self, field: str, zone: ZoneInfo, day: dt.date, wall: dt.time
    ) -> dt.datetime | None:
        instant = instant_of(zone, day, wall)
        if instant is None:
            self.add_error(field, _("The clocks skip that time on this day."))
        return instant


def _last_day(given: dict[str, Any]) -> dt.date:
    day: dt.date = given["date"]
    return day + dt.timedelta(days=1) if given["ends"] == dt.time(0) else day


class BookingForm(PlaceForm):
    """Of a booking to be made; the key makes the same form sent twice one booking."""

    repeats = forms.ChoiceField(label=_("Repeat"), choices=REPEATS, required=False)
    until = DayField(label=_("Until, at the latest"), required=False)
    skip = forms.BooleanField(label=_("Leave out dates that cannot be had"), required=False)
    key = forms.CharField(
        widget=forms.HiddenInput, max_length=KEY_LENGTH, initial=lambda: f"portal-{uuid.uuid4()}"
    )

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        if given.get("repeats") and not given.get("until") and "until" not in self.errors:
            self.add_error("until", _("Say until when."))
        return given

    @property
    def recurrence(self) -> str:
        """The rule of the series (RFC 5545); empty for a single booking."""
        given = self.cleaned_data
        return f"{given['repeats']};UNTIL={given['until']:%Y%m%d}" if given["repeats"] else ""


class ChangeForm(PlaceForm):
    """Of a booking that exists, of the version that was shown."""

    scope = forms.ChoiceField(
        label=_("How much of the series"),
        choices=SCOPES,
        widget=forms.RadioSelect,
        required=False,
        initial=Scope.THIS.value,
    )
    skip = forms.BooleanField(label=_("Leave out dates that cannot be had"), required=False)
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
