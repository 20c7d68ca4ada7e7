"""The one form of a booking in the administration: it speaks to the services, never to the table."""

import uuid
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminSplitDateTime, AutocompleteSelect
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from booking import services
from booking.admin.generic import ModelForm
from booking.exceptions import BookingError
from booking.models import Booking, Occurrence, Room, Source

PLACE_FIELDS = ("room", "starts_at", "ends_at")


class BookingForm(ModelForm[Booking]):
    """Book, or change, as `acting_user`; checked by doing it and rolling it back.

    `request_key` makes a form that is sent twice one booking, `seen_version` tells a change that
    was made while the form was open.
    """

    acting_user: AbstractBaseUser

    headcount = forms.IntegerField(
        label=capfirst(_("headcount")), min_value=1, max_value=services.MAX_HEADCOUNT
    )
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
    seen_version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Booking
        fields = ("organizer", "title", "visibility", "headcount")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        booking = self.instance
        if booking.pk is None:
            self.fields["request_key"].initial = f"admin-{uuid.uuid4()}"
            return
        self.fields["seen_version"].initial = booking.version
        if booking.is_series:
            for name in PLACE_FIELDS:
                del self.fields[name]
            return
        for name in PLACE_FIELDS:
            self.fields[name].initial = getattr(booking, name)
        # A booking keeps its room even where nobody else may book it any more.
        field = self.fields["room"]
        if isinstance(field, forms.ModelChoiceField):
            field.queryset = Room.objects.filter(Q(is_active=True) | Q(pk=booking.room.pk))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        try:
            with transaction.atomic():
                self.write()
                transaction.set_rollback(True)
        except BookingError as error:
            self.add_error(self._field_of(error), error.text())
        return cleaned

    def write(self) -> Booking:
        """Do what the form says through the services; raises BookingError."""
        values = self.cleaned_data
        details = {name: values[name] for name in ("title", "visibility", "headcount")}
        places = {name: values[name] for name in PLACE_FIELDS if name in values}
        if "room" in places:
            places["room"] = places["room"].code
        if self.instance.pk is None:
            return services.book_room(
                organizer=values["organizer"],
                by=self.acting_user,
                source=Source.ADMIN,
                idempotency_key=values["request_key"] or f"admin-{uuid.uuid4()}",
                now=timezone.now(),
                **details,
                **places,
            )
        booking = services.amend_booking(
            self.instance.pk,
            by=self.acting_user,
            source=Source.ADMIN,
            version=values.get("seen_version"),
            **details,
        )
        if not places or not self._is_moved(booking, **places):
            return booking
        return services.reschedule_booking(
            booking.pk,
            by=self.acting_user,
            source=Source.ADMIN,
            version=booking.version,
            now=timezone.now(),
            **places,
        )

    @staticmethod
    def _is_moved(booking: Booking, *, room: str, starts_at: datetime, ends_at: datetime) -> bool:
        held = (booking.room.code, booking.starts_at, booking.ends_at)
        return held != (room, starts_at, ends_at)

    def _field_of(self, error: BookingError) -> str | None:
        """Where in the form an error belongs; None is above it."""
        wanted = {"taken": "room", "room_not_found": "room", "policy": "starts_at"}.get(error.code)
        if error.code == "invalid":
            wanted = error.field
        if error.code == "policy" and error.refusal.rule == "capacity":
            wanted = "headcount"
        return wanted if wanted in self.fields else None
