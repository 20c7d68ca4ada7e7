"""Deciding on requests: by compare-and-swap, by somebody who may, never twice."""

from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from booking.exceptions import AlreadyDecided, InvalidBooking
from booking.locks import check_version, lock_request
from booking.models import Booking, Occurrence, Status
from booking.services.placing import lapses_at, span
from booking.services.records import Action, clean_reason, loaded, pictures, record


def approve_booking(
    booking_id: int,
    *,
    by: AbstractBaseUser,
    now: datetime,
    version: int,
    reason: str = "",
    source: str,
) -> Booking:
    """Make a request, as it was at `version`, a booking.

    Raises BookingNotFound, NotAllowed, AlreadyDecided, VersionConflict.
    """
    with transaction.atomic():
        booking, waiting = _waiting(booking_id, by=by, now=now, version=version)
        before = pictures(waiting)
        for each in waiting:
            each.status = Status.BOOKED
            each.lapses_at = lapses_at(each.status, each.room.policy, span(each), now=now)
        return _decided(
            booking, waiting, Action.APPROVED, by=by, source=source, before=before, reason=reason
        )


def reject_booking(
    booking_id: int,
    *,
    by: AbstractBaseUser,
    now: datetime,
    version: int,
    reason: str,
    source: str,
) -> Booking:
    """Refuse a request, as it was at `version`; a reason is part of it.

    Raises BookingNotFound, NotAllowed, AlreadyDecided, VersionConflict, InvalidBooking (reason).
    """
    if not clean_reason(reason):
        raise InvalidBooking(field="reason")
    with transaction.atomic():
        booking, waiting = _waiting(booking_id, by=by, now=now, version=version)
        before = pictures(waiting)
        for each in waiting:
            each.status = Status.REJECTED
            each.lapses_at = None
        return _decided(
            booking, waiting, Action.REJECTED, by=by, source=source, before=before, reason=reason
        )


def _waiting(
    booking_id: int, *, by: AbstractBaseUser, now: datetime, version: int
) -> tuple[Booking, list[Occurrence]]:
    """The booking, held, and what of it waits for a decision."""
    booking, occurrences = lock_request(booking_id, by=by)
    waiting = [each for each in occurrences if each.status == Status.PENDING and each.blocks(now)]
    if not waiting:
        raise AlreadyDecided(booking=booking_id, status=occurrences[0].status_at(now))
    check_version(booking, version)
    return booking, waiting


def _decided(
    booking: Booking,
    decided: list[Occurrence],
    action: Action,
    *,
    by: AbstractBaseUser,
    source: str,
    before: object,
    reason: str,
) -> Booking:
    Occurrence.objects.bulk_update(decided, ["status", "lapses_at"])
    record(
        booking,
        action,
        by=by,
        source=source,
        before=before,
        after=pictures(decided),
        reason=reason,
    )
    return loaded(booking)
