"""Checking in: saying that the room is used, while it is still kept for one."""

from datetime import date, datetime

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from booking.attendance import check_in_window
from booking.exceptions import (
    AlreadyCancelled,
    AlreadyOver,
    CheckInTooEarly,
    CheckInTooLate,
    NotApproved,
    SeriesNeedsDate,
)
from booking.locks import lock_booking, occurrences_of
from booking.models import Booking, Occurrence, Status
from booking.services.records import Action, loaded, pictures, record


def check_in(
    booking_id: int,
    *,
    by: AbstractBaseUser,
    now: datetime,
    recurrence_date: date | None = None,
    source: str,
) -> Booking:
    """Check in to a booking, or to one date of a series (by default the one whose time it is).

    Again is the same answer, and writes nothing.
    Raises BookingNotFound, NotAllowed, NotApproved, CheckInTooEarly (opens_at), CheckInTooLate
    (closed_at), AlreadyCancelled, AlreadyOver, SeriesNeedsDate.
    """
    with transaction.atomic():
        booking = lock_booking(booking_id, by=by, source=source, version=None)
        occurrence = _due(booking, recurrence_date, now=now)
        if occurrence.status == Status.CHECKED_IN and occurrence.ends_at > now:
            return loaded(booking)
        _check(occurrence, now=now)
        before = pictures([occurrence])
        occurrence.status = Status.CHECKED_IN
        occurrence.checked_in_at, occurrence.lapses_at = now, None
        occurrence.save(update_fields=["status", "checked_in_at", "lapses_at"])
        record(
            booking,
            Action.CHECKED_IN,
            by=by,
            source=source,
            before=before,
            after=pictures([occurrence]),
        )
        return loaded(booking)


def _due(booking: Booking, recurrence_date: date | None, *, now: datetime) -> Occurrence:
    found = occurrences_of(booking, recurrence_date, is_held=True)
    if len(found) == 1:
        return found[0]
    for each in found:
        window = check_in_window(each)
        if each.is_active and window.starts_at <= now < window.ends_at:
            return each
    raise SeriesNeedsDate(booking=booking.pk)


def _check(occurrence: Occurrence, *, now: datetime) -> None:
    booking, window = occurrence.booking_id, check_in_window(occurrence)
    if occurrence.status_at(now) == Status.RELEASED:
        raise CheckInTooLate(booking=booking, closed_at=window.ends_at)
    if not occurrence.blocks(now):
        raise AlreadyCancelled(booking=booking)
    if occurrence.ends_at <= now:
        raise AlreadyOver(booking=booking)
    if occurrence.status != Status.BOOKED:
        raise NotApproved(booking=booking)
    if now < window.starts_at:
        raise CheckInTooEarly(booking=booking, opens_at=window.starts_at)
