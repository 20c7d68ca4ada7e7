"""Booking a room, and changing, moving or cancelling what was booked."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction

from agentruntime.models import Effect
from booking.exceptions import AlreadyCancelled, AlreadyOver, InvalidBooking
from booking.intervals import Interval
from booking.locks import (
    hold,
    lock_booking,
    lock_room,
    lock_rooms,
    movable_occurrence,
    occurrences_of,
)
from booking.models import Booking, Occurrence, Room, Status, Visibility
from booking.services import placing
from booking.services.lapses import free_lapsed
from booking.services.placing import PLACED, span
from booking.services.quotas import Use, check_one_room, check_quotas
from booking.services.records import (
    Action,
    as_person,
    constraint,
    digest,
    loaded,
    made_before,
    pictures,
    record,
    record_first,
    translated,
)
from booking.services.values import check_instants, check_values, clean_title


class Scope(StrEnum):
    """Which dates of a series are meant."""

    THIS = "this"
    FOLLOWING = "following"
    ALL = "all"


def book_room(
    *,
    organizer: AbstractBaseUser,
    room: str,
    starts_at: datetime,
    ends_at: datetime,
    headcount: int,
    title: str = "",
    visibility: str = Visibility.PUBLIC,
    source: str,
    idempotency_key: str,
    effect: Effect | None = None,
    by: AbstractBaseUser | None = None,
    now: datetime,
) -> Booking:
    """Book a room, or ask for it where it needs approval (status pending, blocks the slot too).

    `by` acts for the organizer, with their own rights; by default the organizer.
    The same key of the same organizer again returns the booking it made and writes nothing.
    Raises RoomNotFound, PolicyViolation, RoomUnavailable, InvalidBooking, IdempotencyMismatch.
    """
    title = clean_title(title)
    check_instants(starts_at=starts_at, ends_at=ends_at)
    check_values(headcount=headcount, visibility=visibility, source=source, key=idempotency_key)
    request = {
        "room": room,
        "starts_at": starts_at.timestamp(),
        "ends_at": ends_at.timestamp(),
        "headcount": headcount,
        "title": title,
        "visibility": str(visibility),
    }
    booking = Booking(
        organizer=as_person(organizer),
        title=title,
        visibility=visibility,
        headcount=headcount,
        source=source,
        effect=effect,
        idempotency_key=idempotency_key,
        request_digest=digest(request),
    )
    try:
        with transaction.atomic():
            place = lock_room(room)
            return made_before(booking) or _book(
                booking, place, (starts_at, ends_at), by=by or organizer, now=now
            )
    except IntegrityError as error:
        if constraint(error) == "booking_once_per_key":
            # In flight for another room, whose lock this one did not wait for: another request.
            made_before(booking)
        raise translated(error, room=room) from error.__cause__


def cancel_booking(
    booking_id: int,
    *,
    by: AbstractBaseUser,
    now: datetime,
    version: int | None = None,
    reason: str = "",
    recurrence_date: date | None = None,
    scope: str | None = None,
    source: str,
) -> Booking:
    """Cancel what of a booking is not over yet; with `recurrence_date` only that date of a series.

    `scope`: this date (what a date means by itself), this and the following, or all.
    Raises BookingNotFound, NotAllowed, VersionConflict, AlreadyCancelled, AlreadyOver,
    InvalidBooking (scope).
    """
    scope = scope or (Scope.ALL if recurrence_date is None else Scope.THIS)
    if scope not in set(Scope) or (scope == Scope.ALL) != (recurrence_date is None):
        raise InvalidBooking(field="scope")
    with transaction.atomic():
        booking = lock_booking(booking_id, by=by, source=source, version=version)
        chosen = occurrences_of(booking, recurrence_date, is_held=True)
        if scope == Scope.FOLLOWING:
            since = recurrence_date or date.min
            everything = occurrences_of(booking, None)
            chosen = [each for each in everything if (each.recurrence_date or since) >= since]
        live = [each for each in chosen if each.blocks(now)]
        if not live:
            raise AlreadyCancelled(booking=booking_id)
        coming = [each for each in live if each.ends_at > now]
        if not coming:
            raise AlreadyOver(booking=booking_id)
        before = pictures(coming)
        for each in coming:
            each.status = Status.CANCELLED
        Occurrence.objects.filter(pk__in=[each.pk for each in coming]).update(
            status=Status.CANCELLED
        )
        record(
            booking,
            Action.CANCELLED,
            by=by,
            source=source,
            before=before,
            after=pictures(coming),
            reason=reason,
        )
        return loaded(booking)


def reschedule_booking(
    booking_id: int,
    *,
    by: AbstractBaseUser,
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    room: str | None = None,
    recurrence_date: date | None = None,
    now: datetime,
    version: int | None = None,
    source: str,
) -> Booking:
    """Move a booking, or one date of a series, to another time or room; its old slot is kept until then.

    A new start alone keeps the duration; a new end alone changes it. Moving to where it is already
    writes nothing. A move into a room that needs approval makes it pending again.
    Raises as book_room and cancel_booking do, and SeriesNeedsDate.
    """
    check_instants(starts_at=starts_at, ends_at=ends_at)
    target = room or ""
    try:
        with transaction.atomic():
            booking = lock_booking(booking_id, by=by, source=source, version=version)
            occurrence = movable_occurrence(booking, recurrence_date, now=now)
            during = _moved(occurrence, starts_at=starts_at, ends_at=ends_at)
            target = room or occurrence.room.code
            if (target, during) == (occurrence.room.code, span(occurrence)):
                return loaded(booking)
            before = pictures([occurrence])
            place = lock_rooms(occurrence.room.code, target)
            hold([occurrence])
            _move(booking, occurrence, place, during, by=by, now=now)
            record(
                booking,
                Action.MOVED,
                by=by,
                source=source,
                before=before,
                after=pictures([occurrence]),
            )
            return loaded(booking)
    except IntegrityError as error:
        raise translated(error, room=target) from error.__cause__


def amend_booking(
    booking_id: int,
    *,
    by: AbstractBaseUser,
    title: str | None = None,
    visibility: str | None = None,
    headcount: int | None = None,
    version: int | None = None,
    source: str,
) -> Booking:
    """Change what a booking says without moving it. None leaves a value as it is.

    Raises BookingNotFound, NotAllowed, VersionConflict, AlreadyCancelled, InvalidBooking,
    PolicyViolation (capacity).
    """
    with transaction.atomic():
        booking = lock_booking(booking_id, by=by, source=source, version=version)
        live = [each for each in occurrences_of(booking, None) if each.is_active]
        if not live:
            raise AlreadyCancelled(booking=booking_id)
        before = _details(booking)
        booking.title = booking.title if title is None else clean_title(title)
        booking.visibility = visibility or booking.visibility
        booking.headcount = booking.headcount if headcount is None else headcount
        check_values(headcount=booking.headcount, visibility=booking.visibility, source=source)
        for each in live:
            placing.check_seats(each.room, booking.headcount)
        after = _details(booking)
        if after != before:
            booking.save(update_fields=["title", "visibility", "headcount"])
            record(
                booking,
                Action.AMENDED,
                by=by,
                source=source,
                before=before,
                after=after,
            )
        return loaded(booking)


def _book(
    booking: Booking,
    place: Room,
    wanted: tuple[datetime, datetime],
    *,
    by: AbstractBaseUser,
    now: datetime,
) -> Booking:
    terms = placing.terms_of(place, person=by, headcount=booking.headcount, now=now)
    placing.check_rules(terms, *wanted, now=now)
    during = Interval(*wanted)
    placing.check_open(terms, during, now=now)
    booking.save(force_insert=True)
    free_lapsed(place, terms.rules.blocked(during), now=now)
    occurrence = placing.place(Occurrence(booking=booking), terms, during, now=now)
    occurrence.save(force_insert=True)
    check_quotas(booking, terms, after=[Use.of(occurrence)], now=now)
    check_one_room(booking, terms, [occurrence], now=now)
    record_first(booking, [occurrence], by=by, source=booking.source)
    return loaded(booking)


def _move(
    booking: Booking,
    occurrence: Occurrence,
    place: Room,
    during: Interval,
    *,
    by: AbstractBaseUser,
    now: datetime,
) -> None:
    terms = placing.terms_of(place, person=by, headcount=booking.headcount, now=now)
    # Changing only the end of a meeting that already runs does not make its start a new wish.
    is_running = during.starts_at == occurrence.starts_at <= now and place.pk == occurrence.room_id
    since = min(now, during.starts_at) if is_running else now
    placing.check_rules(terms, during.starts_at, during.ends_at, now=since)
    placing.check_open(terms, during, now=now)
    is_kept = occurrence.room.policy_id == place.policy_id
    before = [Use.of(occurrence)] if is_kept else []
    free_lapsed(place, terms.rules.blocked(during), now=now)
    occurrence.is_shifted = False  # it is where somebody put it
    placing.place(occurrence, terms, during, now=now).save(update_fields=[*PLACED, "is_shifted"])
    occurrence.refresh_from_db(fields=["starts_at", "ends_at"])
    check_quotas(booking, terms, before=before, after=[Use.of(occurrence)], now=now)
    check_one_room(booking, terms, [occurrence], now=now)


def _moved(
    occurrence: Occurrence, *, starts_at: datetime | None, ends_at: datetime | None
) -> Interval:
    kept = span(occurrence)
    first = starts_at or kept.starts_at
    last = ends_at or (kept.ends_at if starts_at is None else kept.starting(first).ends_at)
    if last <= first:
        raise InvalidBooking(field="ends_at")
    return Interval(first, last)


def _details(booking: Booking) -> dict[str, Any]:
    return {
        "title": booking.title,
        "visibility": str(booking.visibility),
        "headcount": booking.headcount,
    }
