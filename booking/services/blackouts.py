"""Shutting rooms for a while, and settling the bookings that this hits, in one step.

Bookings take their room's row, a blackout takes it FOR UPDATE: whichever comes second sees the
other. The order of locks is that of every change: bookings, then rooms.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction

from booking import diary
from booking.closures import Hit, hits_of, rooms_of
from booking.exceptions import BlackoutHits, InvalidBooking, NotAllowed
from booking.intervals import Interval
from booking.locks import hold, lock_bookings, lock_closing
from booking.models import Blackout, Booking, Building, Occurrence, Room, Site, Status
from booking.rights import is_permitted
from booking.services import placing
from booking.services.lapses import free_lapsed
from booking.services.records import Action, clean_reason, pictures, record, translated
from booking.services.values import check_instants


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """What becomes of one booking that is hit: it is moved to a room, cancelled, or kept."""

    kind: str
    room: str = ""

    @classmethod
    def read(cls, text: str) -> "Settlement":
        """Of `move:CODE`, `cancel` or `keep`. Raises InvalidBooking (settlements)."""
        kind, _colon, room = text.partition(":")
        if kind not in {"move", "cancel", "keep"} or (kind == "move") != bool(room):
            raise InvalidBooking(field="settlements")
        return cls(kind=kind, room=room)


def close_rooms(
    *,
    place: Site | Building | Room,
    starts_at: datetime,
    ends_at: datetime,
    reason: str,
    settlements: Mapping[int, str],
    by: AbstractBaseUser,
    now: datetime,
    source: str,
) -> Blackout:
    """Shut every room of the place, and settle each occurrence that is hit (by primary key).

    Raises NotAllowed (the permission to add blackouts), InvalidBooking (starts_at, ends_at, reason,
    settlements), BlackoutHits when something that is hit is not settled, RoomUnavailable and
    PolicyViolation when a room somebody is moved to cannot be had. Then nothing is changed.
    """
    if not is_permitted(by, "add_blackout"):
        raise NotAllowed(booking=None)
    check_instants(starts_at=starts_at, ends_at=ends_at)
    if ends_at <= starts_at or ends_at <= now:
        raise InvalidBooking(field="ends_at")
    if not clean_reason(reason):
        raise InvalidBooking(field="reason")
    settled = {pk: Settlement.read(text) for pk, text in settlements.items()}
    during = Interval(starts_at, ends_at)
    targets = {each.room for each in settled.values() if each.room}
    try:
        with transaction.atomic():
            bookings = _lock(place, during, settled, targets, now=now)
            hits = hits_of(place, during, now=now)
            unsettled = [each for each in hits if each.pk not in settled]
            if unsettled or any(each.booking_id not in bookings for each in hits):
                raise BlackoutHits(hits=len(unsettled))
            hold(hits)
            blackout = Blackout(
                **{_field(place): place},
                during=(starts_at, ends_at),
                reason=clean_reason(reason),
                created_by_id=by.pk,
            )
            blackout.save(force_insert=True)
            _settle(hits, settled, bookings, blackout, by=by, now=now, source=source)
            return blackout
    except IntegrityError as error:
        raise translated(error, room=", ".join(sorted(targets))) from error.__cause__


def lift_blackout(blackout_id: int, *, by: AbstractBaseUser, now: datetime) -> Blackout:
    """End a blackout: its rooms can be booked again. Again is the same answer.

    Raises NotAllowed (the permission to change blackouts).
    """
    if not is_permitted(by, "change_blackout"):
        raise NotAllowed(booking=None)
    Blackout.objects.filter(pk=blackout_id, lifted_at__isnull=True).update(lifted_at=now)
    return Blackout.objects.get(pk=blackout_id)


def _lock(
    place: Site | Building | Room,
    during: Interval,
    settled: Mapping[int, Settlement],
    targets: Iterable[str],
    *,
    now: datetime,
) -> dict[int, Booking]:
    """The bookings that may be hit, and every room concerned, all held."""
    bookings = lock_bookings({each.booking_id for each in hits_of(place, during, now=now)})
    lock_closing(rooms_of(place).values_list("code", flat=True), targets)
    for room in rooms_of(place):
        free_lapsed(room, during, now=now)
    return bookings


def _settle(
    hits: Iterable[Occurrence],
    settled: Mapping[int, Settlement],
    bookings: Mapping[int, Booking],
    blackout: Blackout,
    *,
    by: AbstractBaseUser,
    now: datetime,
    source: str,
) -> None:
    for each in hits:
        settlement = settled[each.pk]
        if settlement.kind == "keep":
            continue
        before = pictures([each])
        is_move = settlement.kind == "move"
        if is_move:
            _move(each, settlement.room, by=by, now=now)
        else:
            each.status, each.lapses_at = Status.CANCELLED, None
            each.save(update_fields=["status", "lapses_at"])
        record(
            bookings[each.booking_id],
            Action.MOVED if is_move else Action.CANCELLED,
            by=by,
            source=source,
            before=before,
            after=pictures([each]),
            reason=blackout.reason,
        )


def _move(occurrence: Occurrence, code: str, *, by: AbstractBaseUser, now: datetime) -> None:
    """To another room at the same time; a decision that was taken stands."""
    room = diary.rooms().get(code=code)
    terms = placing.terms_of(room, person=by, headcount=occurrence.booking.headcount, now=now)
    during = placing.span(occurrence)
    placing.check_open(terms, during, now=now)
    blocked = terms.rules.blocked(during)
    free_lapsed(room, blocked, now=now)
    occurrence.room, occurrence.blocked = room, (blocked.starts_at, blocked.ends_at)
    occurrence.save(update_fields=["room", "blocked"])


def _field(place: Site | Building | Room) -> str:
    return type(place).__name__.lower()


__all__ = ["Hit", "Settlement", "close_rooms", "lift_blackout"]
