"""Taking a cancellation back, soon, where nobody else has the room yet."""

from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction

from booking.closures import blackouts_of, refusal_of
from booking.exceptions import (
    AlreadyOver,
    BookingError,
    CannotUndo,
    PolicyViolation,
    RoomNotFound,
)
from booking.locks import lock_booking, lock_rooms, occurrences_of
from booking.models import Booking, BookingChange, Occurrence, Status
from booking.services.lapses import free_lapsed
from booking.services.placing import lapses_at, span
from booking.services.records import Action, loaded, pictures, record, translated

UNDO = timedelta(minutes=10)
"""How long a cancellation can be taken back by who made it."""


def restore_booking(
    booking_id: int,
    *,
    by: AbstractBaseUser,
    now: datetime,
    version: int | None = None,
    source: str,
) -> Booking:
    """Make what the latest change cancelled what it was before.

    Raises BookingNotFound, NotAllowed, VersionConflict, CannotUndo, AlreadyOver, RoomNotFound (out
    of use by now), RoomUnavailable.
    """
    try:
        with transaction.atomic():
            booking = lock_booking(booking_id, by=by, source=source, version=version)
            was = _cancelled(booking, by=by, now=now)
            if not was:
                raise AlreadyOver(booking=booking_id)
            codes = {each.room.code for each, _status in was}
            lock_rooms(*codes)
            before = pictures(each for each, _status in was)
            for each, status in was:
                _restore(each, status, now=now)
            record(
                booking,
                Action.RESTORED,
                by=by,
                source=source,
                before=before,
                after=pictures(each for each, _status in was),
            )
            return loaded(booking)
    except IntegrityError as error:
        room = Occurrence.objects.filter(booking=booking_id).values_list("room__code", flat=True)
        raise translated(error, room=room[0]) from error.__cause__


def may_restore(booking: Booking, *, by: AbstractBaseUser, now: datetime) -> bool:
    """Whether restore_booking would do it, as things are now. Reads only."""
    try:
        was = _cancelled(booking, by=by, now=now)
        return bool(was) and all(_is_free(each, now=now) for each, _status in was)
    except BookingError:
        return False


def _is_free(occurrence: Occurrence, *, now: datetime) -> bool:
    _check_open(occurrence)
    blocked = (occurrence.blocked.lower, occurrence.blocked.upper)
    others = Occurrence.objects.blocking(now).filter(room=occurrence.room_id)
    return not others.filter(blocked__overlap=blocked).exists()


def _cancelled(
    booking: Booking, *, by: AbstractBaseUser, now: datetime
) -> list[tuple[Occurrence, Status]]:
    """What the latest change cancelled and is still to come, with the status it had."""
    latest = BookingChange.objects.filter(booking=booking).order_by("pk").last()
    is_undoable = (
        latest is not None
        and latest.action == Action.CANCELLED
        and latest.by_id == by.pk
        and latest.at > now - UNDO
    )
    if latest is None or not is_undoable:
        raise CannotUndo(booking=booking.pk)
    statuses = {each["occurrence"]: Status(each["status"]) for each in latest.before}
    return [
        (each, statuses[each.pk])
        for each in occurrences_of(booking, None)
        if each.pk in statuses and each.status == Status.CANCELLED and each.ends_at > now
    ]


def _restore(occurrence: Occurrence, status: Status, *, now: datetime) -> None:
    room = occurrence.room
    _check_open(occurrence)
    free_lapsed(room, span(occurrence), now=now)
    occurrence.status = status
    occurrence.lapses_at = lapses_at(status, room.policy, span(occurrence), now=now)
    occurrence.save(update_fields=["status", "lapses_at"])


def _check_open(occurrence: Occurrence) -> None:
    room = occurrence.room
    if not room.is_active:
        raise RoomNotFound(room=room.code)
    shut = blackouts_of(room, span(occurrence))
    if shut:
        raise PolicyViolation(refusal_of(shut[0], room.floor.building.site.zone))
