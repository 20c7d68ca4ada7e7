"""Every change to a booking, for every door: chat, portal, administration, API.

Each service is one transaction (a savepoint inside a caller's). The database's constraints decide;
what Python checks before is courtesy, and a violation is translated by the constraint's name.
Raises only `booking.exceptions.BookingError`s for what a person can cause.
"""

import hashlib
import json
from datetime import date, datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now

from agentruntime.models import Effect
from booking import diary, policies
from booking.exceptions import (
    AlreadyCancelled,
    AlreadyOver,
    IdempotencyMismatch,
    InvalidBooking,
    PolicyViolation,
    RoomNotFound,
    RoomUnavailable,
)
from booking.intervals import Interval
from booking.locks import (
    lock_booking,
    lock_room,
    lock_rooms,
    movable_occurrence,
    occurrences_of,
)
from booking.models import Booking, BookingChange, Occurrence, Room, Source, Status, Visibility
from booking.models.agreements import KEY_LENGTH, TITLE_LENGTH
from booking.policies import Refusal, Rules

MAX_HEADCOUNT = 100_000


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
    now: datetime,
) -> Booking:
    """Book a room, or ask for it where it needs approval (status pending, blocks the slot too).

    The same key of the same organizer again returns the booking it made and writes nothing.
    Raises RoomNotFound, PolicyViolation, RoomUnavailable, InvalidBooking, IdempotencyMismatch.
    """
    title = _clean_title(title)
    _check_instants(starts_at=starts_at, ends_at=ends_at)
    _check_values(headcount=headcount, visibility=visibility, source=source, key=idempotency_key)
    request = {
        "room": room,
        "starts_at": starts_at.timestamp(),
        "ends_at": ends_at.timestamp(),
        "headcount": headcount,
        "title": title,
        "visibility": str(visibility),
    }
    booking = Booking(
        organizer_id=organizer.pk,
        title=title,
        visibility=visibility,
        headcount=headcount,
        source=source,
        effect=effect,
        idempotency_key=idempotency_key,
        request_digest=_digest(request),
    )
    try:
        with transaction.atomic():
            place = lock_room(room)
            return _made_before(booking) or _book(
                booking, place, starts_at=starts_at, ends_at=ends_at, now=now
            )
    except IntegrityError as error:
        if _constraint(error) == "booking_once_per_key":
            # In flight for another room, whose lock this one did not wait for: another request.
            _made_before(booking)
        raise _translated(error, room=room) from error.__cause__


def cancel_booking(
    booking_id: int,
    *,
    by: AbstractBaseUser,
    now: datetime,
    version: int | None = None,
    reason: str = "",
    recurrence_date: date | None = None,
    source: str,
) -> Booking:
    """Cancel what of a booking is not over yet; with `recurrence_date` only that date of a series.

    Raises BookingNotFound, NotAllowed, VersionConflict, AlreadyCancelled, AlreadyOver.
    """
    with transaction.atomic():
        booking = lock_booking(booking_id, by=by, source=source, version=version)
        chosen = occurrences_of(booking, recurrence_date)
        live = [each for each in chosen if each.is_active]
        if not live:
            raise AlreadyCancelled(booking=booking_id)
        coming = [each for each in live if each.ends_at > now]
        if not coming:
            raise AlreadyOver(booking=booking_id)
        before = [BookingChange.picture(each) for each in coming]
        for each in coming:
            each.status = Status.CANCELLED
        Occurrence.objects.filter(pk__in=[each.pk for each in coming]).update(
            status=Status.CANCELLED
        )
        _record(
            booking,
            BookingChange.Action.CANCELLED,
            by=by,
            source=source,
            before=before,
            after=[BookingChange.picture(each) for each in coming],
            reason=reason,
        )
        return _loaded(booking)


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
    _check_instants(starts_at=starts_at, ends_at=ends_at)
    target = room or ""
    try:
        with transaction.atomic():
            booking = lock_booking(booking_id, by=by, source=source, version=version)
            occurrence = movable_occurrence(booking, recurrence_date, now=now)
            during = _moved(occurrence, starts_at=starts_at, ends_at=ends_at)
            target = room or occurrence.room.code
            if (target, during) == (occurrence.room.code, _during(occurrence)):
                return _loaded(booking)
            before = BookingChange.picture(occurrence)
            place = lock_rooms(occurrence.room.code, target)
            _move(booking, occurrence, place, during, now=now)
            _record(
                booking,
                BookingChange.Action.MOVED,
                by=by,
                source=source,
                before=[before],
                after=[BookingChange.picture(occurrence)],
            )
            return _loaded(booking)
    except IntegrityError as error:
        raise _translated(error, room=target) from error.__cause__


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
        booking.title = booking.title if title is None else _clean_title(title)
        booking.visibility = visibility or booking.visibility
        booking.headcount = booking.headcount if headcount is None else headcount
        _check_values(headcount=booking.headcount, visibility=booking.visibility, source=source)
        for each in live:
            _check_seats(each.room, booking.headcount)
        after = _details(booking)
        if after != before:
            booking.save(update_fields=["title", "visibility", "headcount"])
            _record(
                booking,
                BookingChange.Action.AMENDED,
                by=by,
                source=source,
                before=before,
                after=after,
            )
        return _loaded(booking)


def _book(
    booking: Booking, place: Room, *, starts_at: datetime, ends_at: datetime, now: datetime
) -> Booking:
    rules = _check_room(place, headcount=booking.headcount, now=now)
    refusal = policies.check(rules, starts_at=starts_at, ends_at=ends_at, now=now)
    if refusal is not None:
        raise PolicyViolation(refusal)
    booking.save(force_insert=True)
    occurrence = _placed(Occurrence(booking=booking), place, rules, Interval(starts_at, ends_at))
    occurrence.save(force_insert=True)
    BookingChange.objects.create(
        booking=booking,
        by_id=booking.organizer_id,
        source=booking.source,
        action=BookingChange.Action.BOOKED,
        after=[BookingChange.picture(occurrence)],
    )
    return _loaded(booking)


def _move(
    booking: Booking, occurrence: Occurrence, place: Room, during: Interval, *, now: datetime
) -> None:
    rules = _check_room(place, headcount=booking.headcount, now=now)
    refusal = policies.check(rules, starts_at=during.starts_at, ends_at=during.ends_at, now=now)
    # Changing only the end of a meeting that already runs does not make its start a new wish.
    is_running = during.starts_at == occurrence.starts_at <= now and place.pk == occurrence.room_id
    if refusal is not None and is_running and refusal.rule == "past":
        refusal = policies.check(
            rules, starts_at=during.starts_at, ends_at=during.ends_at, now=during.starts_at
        )
    if refusal is not None:
        raise PolicyViolation(refusal)
    _placed(occurrence, place, rules, during).save(
        update_fields=["room", "during", "blocked", "status"]
    )
    occurrence.refresh_from_db(fields=["starts_at", "ends_at"])


def _placed(occurrence: Occurrence, place: Room, rules: Rules, during: Interval) -> Occurrence:
    """The occurrence in that room at that time; what needed approval needs it again."""
    blocked = rules.blocked(during)
    if occurrence.room_id != place.pk or occurrence.status != Status.CHECKED_IN:
        needs_approval = place.needs_approval or place.policy.needs_approval
        occurrence.status = Status.PENDING if needs_approval else Status.BOOKED
    occurrence.room = place
    occurrence.during = (during.starts_at, during.ends_at)
    occurrence.blocked = (blocked.starts_at, blocked.ends_at)
    return occurrence


def _check_room(room: Room, *, headcount: int, now: datetime) -> Rules:
    if not room.is_active:
        raise RoomNotFound(room=room.code)
    _check_seats(room, headcount)
    return diary.rules_of([room], now=now)[room.pk]


def _check_seats(room: Room, headcount: int) -> None:
    if room.seats < headcount:
        params = {"headcount": headcount, "room": room.code, "seats": room.seats}
        raise PolicyViolation(Refusal("capacity", params))


def _during(occurrence: Occurrence) -> Interval:
    return Interval(occurrence.starts_at, occurrence.ends_at)


def _moved(
    occurrence: Occurrence, *, starts_at: datetime | None, ends_at: datetime | None
) -> Interval:
    kept = _during(occurrence)
    first = starts_at or kept.starts_at
    last = ends_at or (kept.ends_at if starts_at is None else kept.starting(first).ends_at)
    if last <= first:
        raise InvalidBooking(field="ends_at")
    return Interval(first, last)


def _made_before(booking: Booking) -> Booking | None:
    """The booking the same key made, if it was for the same request."""
    made = Booking.objects.filter(
        organizer=booking.organizer_id, idempotency_key=booking.idempotency_key
    ).first()
    if made is None:
        return None
    if made.request_digest != booking.request_digest:
        raise IdempotencyMismatch(booking=made.pk)
    return _loaded(made)


def _loaded(booking: Booking) -> Booking:
    return Booking.objects.with_occurrences().get(pk=booking.pk)


def _record(
    booking: Booking,
    action: BookingChange.Action,
    *,
    by: AbstractBaseUser,
    source: str,
    before: Any,
    after: Any,
    reason: str = "",
) -> None:
    """Raise the booking's version and keep what happened."""
    Booking.objects.filter(pk=booking.pk).update(version=F("version") + 1, updated_at=Now())
    BookingChange.objects.create(
        booking=booking,
        by_id=by.pk,
        source=source,
        action=action,
        before=before,
        after=after,
        reason=" ".join(reason.split())[:200],
    )


def _details(booking: Booking) -> dict[str, Any]:
    return {
        "title": booking.title,
        "visibility": str(booking.visibility),
        "headcount": booking.headcount,
    }


def _clean_title(title: str) -> str:
    """One line without NUL; raises InvalidBooking when it is too long."""
    title = " ".join(title.replace("\0", " ").split())
    if len(title) > TITLE_LENGTH:
        raise InvalidBooking(field="title")
    return title


def _check_instants(**instants: datetime | None) -> None:
    for field, instant in instants.items():
        if instant is not None and instant.tzinfo is None:
            raise InvalidBooking(field=field)


def _check_values(*, headcount: int, visibility: str, source: str, key: str = "-") -> None:
    valid = {
        "headcount": 1 <= headcount <= MAX_HEADCOUNT,
        "visibility": visibility in Visibility.values,
        "source": source in Source.values,
        "idempotency_key": 1 <= len(key) <= KEY_LENGTH,
    }
    for field, is_valid in valid.items():
        if not is_valid:
            raise InvalidBooking(field=field)


def _digest(request: dict[str, Any]) -> str:
    text = json.dumps(request, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _constraint(error: IntegrityError) -> str:
    diagnostics = getattr(error.__cause__, "diag", None)
    return getattr(diagnostics, "constraint_name", None) or ""


def _translated(error: IntegrityError, *, room: str) -> Exception:
    """The violation in the domain's words; one that no person can cause stays what it is."""
    taken = _constraint(error) == "occurrence_room_free"
    return RoomUnavailable(room=room) if taken else error
