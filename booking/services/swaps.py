"""Exchanging the slots of two bookings, so that neither is without one in between."""

from datetime import date, datetime

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, connection, transaction

from booking.exceptions import InvalidBooking
from booking.intervals import Interval
from booking.locks import hold, lock_booking, lock_rooms, movable_occurrence
from booking.models import Booking, Occurrence, Room
from booking.services import placing
from booking.services.lapses import free_lapsed
from booking.services.placing import PLACED, span
from booking.services.quotas import Use, check_one_room, check_quotas
from booking.services.records import Action, loaded, pictures, record, translated


def swap_bookings(
    first_id: int,
    second_id: int,
    *,
    by: AbstractBaseUser,
    first_version: int | None = None,
    second_version: int | None = None,
    first_date: date | None = None,
    second_date: date | None = None,
    now: datetime,
    source: str,
) -> tuple[Booking, Booking]:
    """Give each of two bookings (or dates of series) the room and time of the other.

    Both are `by`'s to change. Raises as reschedule_booking does; InvalidBooking (second) for one
    booking with itself.
    """
    if first_id == second_id:
        raise InvalidBooking(field="second")
    wanted = {
        first_id: (first_version, first_date),
        second_id: (second_version, second_date),
    }
    try:
        with transaction.atomic():
            bookings, uses = {}, {}
            for pk in sorted(wanted):  # in one order for everybody
                version, day = wanted[pk]
                bookings[pk] = lock_booking(pk, by=by, source=source, version=version)
                uses[pk] = movable_occurrence(bookings[pk], day, now=now)
            first, second = uses[first_id], uses[second_id]
            places = _places(first.room, second.room)
            hold([first, second])
            _exchange(first, second, places, by=by, now=now, source=source)
            return loaded(bookings[first_id]), loaded(bookings[second_id])
    except IntegrityError as error:
        raise translated(error, room="") from error.__cause__


def _places(*rooms: Room) -> dict[int, Room]:
    codes = sorted({room.code for room in rooms})
    return {room.pk: room for room in (lock_rooms(code) for code in codes)}


def _exchange(
    first: Occurrence,
    second: Occurrence,
    places: dict[int, Room],
    *,
    by: AbstractBaseUser,
    now: datetime,
    source: str,
) -> None:
    pairs = [
        (first, places[second.room_id], span(second), pictures([first])),
        (second, places[first.room_id], span(first), pictures([second])),
    ]
    used = {each.pk: (each.room.policy_id, Use.of(each)) for each in (first, second)}
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS occurrence_room_free DEFERRED")
    moves = [(each, _move(each, place, during, by=by, now=now)) for each, place, during, _ in pairs]
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS occurrence_room_free IMMEDIATE")
    for (each, terms), (_each, _place, _during, before) in zip(moves, pairs, strict=True):
        booking = each.booking
        was = [use for policy, use in (used[each.pk],) if policy == terms.place.policy_id]
        check_quotas(booking, terms, before=was, after=[Use.of(each)], now=now)
        check_one_room(booking, terms, [each], now=now)
        record(booking, Action.SWAPPED, by=by, source=source, before=before, after=pictures([each]))


def _move(
    occurrence: Occurrence,
    place: Room,
    during: Interval,
    *,
    by: AbstractBaseUser,
    now: datetime,
) -> placing.Terms:
    terms = placing.terms_of(place, person=by, headcount=occurrence.booking.headcount, now=now)
    placing.check_rules(terms, during.starts_at, during.ends_at, now=now)
    placing.check_open(terms, during, now=now)
    free_lapsed(place, terms.rules.blocked(during), now=now)
    placing.place(occurrence, terms, during, now=now).save(update_fields=PLACED)
    occurrence.refresh_from_db(fields=["starts_at", "ends_at"])
    return terms
