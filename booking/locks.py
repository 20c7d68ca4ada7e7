"""The rows a change takes before it decides: the booking first, then its room.

A room row is taken FOR NO KEY UPDATE: it keeps out a blackout (FOR UPDATE) as FOR SHARE would, and
makes the writers of one room queue. With FOR SHARE two overlapping inserts would wait for each
other inside the exclusion check: a deadlock. Must be called inside a transaction.

Occurrences come last, in the order of their keys: who waits for one has its room, or wants none.
What has lapsed is written down by whoever is there, without the booking's row (services.lapses), so
that holding a booking does not keep its occurrences as they were read.
"""

from collections.abc import Iterable
from datetime import date, datetime

from django.contrib.auth.models import AbstractBaseUser

from booking.exceptions import (
    AlreadyCancelled,
    AlreadyOver,
    BookingNotFound,
    NotAllowed,
    RoomNotFound,
    SeriesNeedsDate,
    VersionConflict,
)
from booking.models import Booking, Occurrence, Room
from booking.rights import may_approve, may_change
from booking.storable import is_storable


def lock_room(code: str) -> Room:
    room = (
        Room.objects.select_related("floor__building__site", "policy")
        .select_for_update(of=("self",), no_key=True)
        .filter(code=code)
        .first()
        if is_storable(code)
        else None
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
    if not may_change(by, booking, source=source):
        raise NotAllowed(booking=booking_id)
    if version is not None:
        check_version(booking, version)
    return booking


def lock_bookings(booking_ids: Iterable[int]) -> dict[int, Booking]:
    """Several bookings, by primary key, in one order for everybody."""
    found = Booking.objects.select_for_update(no_key=True, of=("self",))
    return {each.pk: each for each in found.filter(pk__in=list(booking_ids)).order_by("pk")}


def lock_closing(closing: Iterable[str], others: Iterable[str]) -> None:
    """Take rooms that are about to be shut FOR UPDATE, and the others concerned, in one order."""
    closing = set(closing)
    for code in sorted({*closing, *others}):
        if code not in closing:
            lock_room(code)
            continue
        list(Room.objects.select_for_update(of=("self",)).filter(code=code).values_list("pk"))


def check_version(booking: Booking, version: int) -> None:
    """Raises VersionConflict unless the booking is as it was read."""
    if version != booking.version:
        raise VersionConflict(booking=booking.pk, version=booking.version)


def lock_request(booking_id: int, *, by: AbstractBaseUser) -> tuple[Booking, list[Occurrence]]:
    """A booking and its occurrences, for somebody who may decide on it.

    Raises BookingNotFound, NotAllowed.
    """
    booking = Booking.objects.select_for_update(no_key=True).filter(pk=booking_id).first()
    if booking is None:
        raise BookingNotFound(booking=booking_id)
    occurrences = occurrences_of(booking, None, is_held=True)
    if not may_approve(by, booking, {each.room.policy_id for each in occurrences}):
        raise NotAllowed(booking=booking_id)
    return booking, occurrences


def occurrences_of(
    booking: Booking, recurrence_date: date | None, *, is_held: bool = False
) -> list[Occurrence]:
    """All of them by time, or those of one date. is_held: taken, by who takes no room afterwards."""
    if is_held:
        keys = booking.occurrences.order_by("pk").select_for_update(no_key=True)
        list(keys.values_list("pk"))
    chosen = booking.occurrences.with_room().order_by("during")
    if recurrence_date is not None:
        chosen = chosen.filter(recurrence_date=recurrence_date)
        if not chosen:
            raise BookingNotFound(booking=booking.pk)
    return list(chosen)


def hold(occurrences: Iterable[Occurrence]) -> None:
    """Take occurrences that are about to change, once their rooms are taken.

    Raises AlreadyCancelled when one lapsed since it was read.
    """
    read = {each.pk: each for each in occurrences}
    rows = Occurrence.objects.filter(pk__in=read).order_by("pk").select_for_update(no_key=True)
    statuses = dict(rows.values_list("pk", "status"))
    for pk, each in read.items():
        if statuses.get(pk) != each.status:
            raise AlreadyCancelled(booking=each.booking_id)


def movable_occurrence(
    booking: Booking, recurrence_date: date | None, *, now: datetime
) -> Occurrence:
    if booking.is_series and recurrence_date is None:
        raise SeriesNeedsDate(booking=booking.pk)
    [occurrence] = occurrences_of(booking, recurrence_date)
    if not occurrence.blocks(now):
        raise AlreadyCancelled(booking=booking.pk)
    if occurrence.ends_at <= now:
        raise AlreadyOver(booking=booking.pk)
    return occurrence
