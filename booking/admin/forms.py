"""The forms of a booking in the administration: they speak to the services, never to the table."""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import (
    AdminDateWidget,
    AdminSplitDateTime,
    AdminTextInputWidget,
    AdminTimeWidget,
    AutocompleteSelect,
)
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from booking import services
from booking.admin.generic import ModelForm
from booking.changing import change_dates
from booking.exceptions import BookingError, SeriesClash
from booking.forms.booking import REPEATS
from booking.models import Booking, Occurrence, Room, Series, Source
from booking.recurrence import RULE_LENGTH
from booking.services import OnClash, Scope

PLACE_FIELDS = ("room", "starts_at", "ends_at")
REPEAT_FIELDS = ("repeats", "until", "skip")
SERIES_FIELDS = ("room", "start", "minutes", "rule", "since", "skip")
SKIP = _("Leave out dates that cannot be had")


class ServiceForm(ModelForm[Booking]):
    """Writes as `acting_user` through the services; checked by doing it and rolling it back.

    `seen_version` tells a change that was made while the form was open.
    """

    acting_user: AbstractBaseUser

    headcount = forms.IntegerField(
        label=capfirst(_("headcount")), min_value=1, max_value=services.MAX_HEADCOUNT
    )
    seen_version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Booking
        fields = ("organizer", "title", "visibility", "headcount")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        try:
            with transaction.atomic():
                self.write()
                transaction.set_rollback(True)
        except BookingError as error:
            self.add_error(self._field_of(error), _told(error))
        return cleaned

    def write(self) -> Booking:
        """Do what the form says through the services; raises BookingError."""
        raise NotImplementedError

    def _details(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("title", "visibility", "headcount")}

    def _field_of(self, error: BookingError) -> str | None:
        """Where in the form an error belongs; None is above it."""
        wanted = {"taken": "room", "room_not_found": "room", "policy": "starts_at"}.get(error.code)
        if error.code == "invalid":
            wanted = {"recurrence": "rule"}.get(error.field, error.field)
        if error.code == "policy" and error.refusal.rule == "capacity":
            wanted = "headcount"
        return wanted if wanted in self.fields else None


class BookingForm(ServiceForm):
    """Book, once or as a series, or change a single booking.

    `request_key` makes a form that is sent twice one booking.
    """

    room = forms.ModelChoiceField(
        label=capfirst(_("room")),
        queryset=Room.objects.filter(is_active=True),
        widget=AutocompleteSelect(Occurrence._meta.get_field("room"), admin.site),
    )
    starts_at = forms.SplitDateTimeField(label=capfirst(_("starts")), widget=AdminSplitDateTime)
    ends_at = forms.SplitDateTimeField(
        label=capfirst(_("ends")),
        widget=AdminSplitDateTime,
        help_text=_("Times are in the zone this administration shows; a booking excludes its end."),
    )
    request_key = forms.CharField(widget=forms.HiddenInput, required=False)
    repeats = forms.ChoiceField(label=_("Repeat"), choices=REPEATS, required=False)
    until = forms.DateField(label=_("Until, at the latest"), widget=AdminDateWidget, required=False)
    skip = forms.BooleanField(label=SKIP, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        booking = self.instance
        if booking.pk is None:
            self.fields["request_key"].initial = f"admin-{uuid.uuid4()}"
            return
        self.fields["seen_version"].initial = booking.version
        for name in REPEAT_FIELDS:
            del self.fields[name]
        for name in PLACE_FIELDS:
            self.fields[name].initial = getattr(booking, name)
        _keep_room(self.fields["room"], booking.room)

    def clean_until(self) -> Any:
        until = self.cleaned_data["until"]
        if self.cleaned_data.get("repeats") and until is None:
            raise ValidationError(_("Say until when."), code="required")
        return until

    def write(self) -> Booking:
        """Book or change; raises BookingError."""
        values, details = self.cleaned_data, self._details()
        if self.instance.pk is None:
            return self._booked(values, details)
        places = {name: values[name] for name in PLACE_FIELDS}
        places["room"] = places["room"].code
        booking = services.amend_booking(
            self.instance.pk,
            by=self.acting_user,
            source=Source.ADMIN,
            version=values.get("seen_version"),
            **details,
        )
        if not self._is_moved(booking, **places):
            return booking
        return services.reschedule_booking(
            booking.pk,
            by=self.acting_user,
            source=Source.ADMIN,
            version=booking.version,
            now=timezone.now(),
            **places,
        )

    def _booked(self, values: dict[str, Any], details: dict[str, Any]) -> Booking:
        common = {
            "organizer": values["organizer"],
            "by": self.acting_user,
            "room": values["room"].code,
            "source": Source.ADMIN,
            "idempotency_key": values["request_key"] or f"admin-{uuid.uuid4()}",
            "now": timezone.now(),
            **details,
        }
        starts_at, ends_at = values["starts_at"], values["ends_at"]
        if not values["repeats"]:
            return services.book_room(starts_at=starts_at, ends_at=ends_at, **common)
        first = starts_at.astimezone(values["room"].floor.building.site.zone)
        return services.book_series(
            first=first.date(),
            start=first.time(),
            minutes=int((ends_at - starts_at) / timedelta(minutes=1)),
            recurrence=f"{values['repeats']};UNTIL={values['until']:%Y%m%d}",
            on_clash=OnClash.SKIP if values["skip"] else OnClash.REFUSE,
            **common,
        )

    @staticmethod
    def _is_moved(booking: Booking, *, room: str, starts_at: datetime, ends_at: datetime) -> bool:
        held = (booking.room.code, booking.starts_at, booking.ends_at)
        return held != (room, starts_at, ends_at)


class SeriesForm(ServiceForm):
    """Change what is to come of a series: all of it, or from a date on."""

    room = forms.ModelChoiceField(
        label=capfirst(_("room")),
        queryset=Room.objects.filter(is_active=True),
        widget=AutocompleteSelect(Occurrence._meta.get_field("room"), admin.site),
    )
    start = forms.TimeField(
        label=capfirst(_("start")),
        widget=AdminTimeWidget,
        help_text=_("The wall time of the room's zone."),
    )
    minutes = forms.IntegerField(label=capfirst(_("minutes")), min_value=1, max_value=1440)
    rule = forms.CharField(
        label=capfirst(_("recurrence rule")),
        max_length=RULE_LENGTH,
        widget=AdminTextInputWidget,
        help_text=_("RFC 5545, with COUNT or UNTIL: FREQ=WEEKLY;COUNT=4."),
    )
    since = forms.DateField(
        label=_("From this date on"),
        widget=AdminDateWidget,
        required=False,
        help_text=_("One of its dates; empty means all that is to come. What is over stays."),
    )
    skip = forms.BooleanField(label=SKIP, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        series = self.instance.series
        self.fields["seen_version"].initial = self.instance.version
        for name, value in self._held(series).items():
            self.fields[name].initial = value
        _keep_room(self.fields["room"], series.room)

    @staticmethod
    def _held(series: Series) -> dict[str, Any]:
        return {
            "room": series.room,
            "start": series.start,
            "minutes": series.minutes,
            "rule": series.booking.recurrence,
        }

    def write(self) -> Booking:
        """Change the words and, where they differ, the dates; raises BookingError."""
        values, booking = self.cleaned_data, self.instance
        common = {
            "by": self.acting_user,
            "source": Source.ADMIN,
            "version": values.get("seen_version"),
            **self._details(),
        }
        held = self._held(Series.objects.select_related("room", "booking").get(booking=booking.pk))
        changed = {name for name, value in held.items() if values[name] != value}
        if not changed:
            return services.amend_booking(booking.pk, **common)
        return change_dates(
            booking.pk,
            scope=Scope.FOLLOWING if values["since"] else Scope.ALL,
            recurrence_date=values["since"],
            room=values["room"].code,
            start=values["start"],
            minutes=values["minutes"],
            recurrence=values["rule"] if "rule" in changed else None,
            on_clash=OnClash.SKIP if values["skip"] else OnClash.REFUSE,
            now=timezone.now(),
            **common,
        )

    def _field_of(self, error: BookingError) -> str | None:
        if error.code == "booking_not_found":
            return "since"
        field = super()._field_of(error)
        return "start" if field is None and error.code == "policy" else field


def _keep_room(field: forms.Field, room: Room) -> None:
    """A booking keeps its room even where nobody else may book it any more."""
    if isinstance(field, forms.ModelChoiceField):
        field.queryset = Room.objects.filter(Q(is_active=True) | Q(pk=room.pk))


def _told(error: BookingError) -> list[str]:
    """The words of a refusal; of a series that clashes, a line for each date."""
    if not isinstance(error, SeriesClash):
        return [error.text()]
    days = [f"{each['date']}: {each['text'] or gettext('taken')}" for each in error.dates]
    return [error.text(), *days]
