"""A booking as people type it: a room, a day, wall times of the room's zone, and what it is for."""

import datetime as dt
import uuid
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import gettext_lazy as _

from booking.forms.fields import ByCode, ClockField, DayField, PeopleField
from booking.models import Room
from booking.models.agreements import KEY_LENGTH, TITLE_LENGTH
from booking.policies import instant_of


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

    key = forms.CharField(
        widget=forms.HiddenInput, max_length=KEY_LENGTH, initial=lambda: f"portal-{uuid.uuid4()}"
    )


class ChangeForm(PlaceForm):
    """Of a booking that exists, of the version that was shown."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
