"""The rows a change takes before it decides: the booking first, then its room.

A room row is taken FOR NO KEY UPDATE: it keeps out a blackout (FOR UPDATE) as FOR SHARE would, and
makes the writers of one room queue. With FOR SHARE two overlapping inserts would wait for each
other inside the exclusion check: a deadlock. Must be called inside a transaction.
"""

from datetime import date, datetime

from django.contrib.auth.models import AbstractBaseUser, PermissionsMixin

from booking.exceptions import (
    AlreadyCancelled,
    AlreadyOver,
    BookingNotFound,
    NotAllowed,
    RoomNotFound,
    SeriesNeedsDate,
    VersionConflict,
)
from booking.models import Booking, Occurrence, Room, Source


def lock_room(code: str) -> Room:
    room = (
        Room.objects.select_related("floor__building__site", "policy")
        .select_for_update(of=("self",), no_key=True)
        .filter(code=code)
        .first()
    )
    if room is None:
        raise RoomNotFound(room=code)
    return room


def lock_rooms(*codes: str) -> Room:
    """Take the rows of several rooms in one order for everybody; the last of them.

    A move takes the room it leaves as well: two people who swap rooms would otherwise wait for
    each other inside the exclusion check.
    """
    locked = {code: lock_room(code) for code in sorted(set(codes))}
    return locked[codes[-1]]


def lock_booking(
    booking_id: int, *, by: AbstractBaseUser, source: str, version: int | None
) -> Booking:
    booking = Booking.objects.select_for_update(no_key=True).filter(pk=booking_id).first()
    if booking is None:
        raise BookingNotFound(booking=booking_id)
    if booking.organizer_id != by.pk and not _may_change_any(by, source):
        raise NotAllowed(booking=booking_id)
    if version is not None and version != booking.version:
        raise VersionConflict(booking=booking_id, version=booking.version)
    return booking


def _may_change_any(by: AbstractBaseUser, source: str) -> bool:
    """Other people's bookings are changed through the administration only, by permission."""
    is_clerk = isinstance(by, PermissionsMixin) and by.has_perm("booking.change_booking")
    return source == Source.ADMIN and is_clerk


def occurrences_of(booking: Booking, recurrence_date: date | None) -> list[Occurrence]:
    chosen = booking.occurrences.select_related("room__policy").order_by("during")
    if recurrence_date is not None:
        chosen = chosen.filter(recurrence_date=recurrence_date)
        if not chosen:
            raise BookingNotFound(booking=booking.pk)
    return list(chosen)


def movable_occurrence(
    booking: Booking, recurrence_date: date | None, *, now: datetime
) -> Occurrence:
    if booking.is_series and recurrence_date is None:
        raise SeriesNeedsDate(booking=booking.pk)
    [occurrence] = occurrences_of(booking, recurrence_date)
    if not occurrence.is_active:
        raise AlreadyCancelled(booking=booking.pk)
    if occurrence.ends_at <= now:
        raise AlreadyOver(booking=booking.pk)
    return occurrence
