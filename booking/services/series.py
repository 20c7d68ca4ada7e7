"""Booking a series: every date of a rule in one room, all in one transaction or none."""

from collections.abc import Iterable
from datetime import date, datetime, time
from enum import StrEnum

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction

from agentruntime.models import Effect
from booking import recurrence as rules_of_series
from booking.exceptions import InvalidBooking, PolicyViolation, SeriesClash
from booking.intervals import Interval
from booking.locks import lock_room
from booking.models import Booking, Occurrence, Room, Series, SeriesException, Visibility
from booking.planning import PlannedDate, plan, read_rule
from booking.policies import LONGEST_MINUTES
from booking.recurrence import Slot
from booking.services import placing
from booking.services.lapses import free_lapsed
from booking.services.placing import Terms
from booking.services.quotas import Use, check_one_room, check_quotas
from booking.services.records import (
    as_person,
    constraint,
    digest,
    loaded,
    made_before,
    record_first,
    translated,
)
from booking.services.values import check_values, clean_title


class OnClash(StrEnum):
    """What to do about dates on which the room cannot be had."""

    REFUSE = "refuse"
    SKIP = "skip"


def book_series(
    *,
    organizer: AbstractBaseUser,
    room: str,
    first: date,
    start: time,
    minutes: int,
    recurrence: str,
    on_clash: str = OnClash.REFUSE,
    headcount: int,
    title: str = "",
    visibility: str = Visibility.PUBLIC,
    source: str,
    idempotency_key: str,
    effect: Effect | None = None,
    by: AbstractBaseUser | None = None,
    now: datetime,
) -> Booking:
    """Book a room on every date a rule gives from `first` on, at one wall time of its zone.

    A date on which the room is taken, closed or shut makes the whole a SeriesClash, or is skipped
    for good. Any other rule that a date breaks refuses the whole. Otherwise as book_room.
    """
    title = clean_title(title)
    check_values(headcount=headcount, visibility=visibility, source=source, key=idempotency_key)
    check_shape(start=start, minutes=minutes, on_clash=on_clash)
    request = {
        "room": room,
        "first": first.isoformat(),
        "start": start.isoformat(),
        "minutes": minutes,
        "recurrence": recurrence,
        "on_clash": str(on_clash),
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
    series = Series(first=first, start=start, minutes=minutes)
    try:
        with transaction.atomic():
            place = lock_room(room)
            return made_before(booking) or _book(
                booking, series, place, recurrence, on_clash, by=by or organizer, now=now
            )
    except IntegrityError as error:
        if constraint(error) == "booking_once_per_key":
            made_before(booking)
        raise translated(error, room=room) from error.__cause__


def _book(
    booking: Booking,
    series: Series,
    place: Room,
    recurrence: str,
    on_clash: str,
    *,
    by: AbstractBaseUser,
    now: datetime,
) -> Booking:
    terms = placing.terms_of(place, person=by, headcount=booking.headcount, now=now)
    booking.recurrence, days = read_rule(recurrence, series.first, zone=terms.rules.zone)
    series.first, series.room, series.zone = days[0], place, terms.rules.zone.key
    planned = plan(slots_of(series, days, terms), room=place, rules=terms.rules, now=now)
    kept = without_clashes(planned, on_clash)
    booking.save(force_insert=True)
    series.booking = booking
    series.save(force_insert=True)
    keep_skipped(booking, planned)
    written = write_new(booking, kept, terms, now=now)
    check_limits(booking, terms, written, now=now)
    record_first(booking, written, by=by, source=booking.source)
    return loaded(booking)


def check_shape(*, start: time | None, minutes: int | None, on_clash: str) -> None:
    """Raises InvalidBooking naming the first value no series can have."""
    valid = {
        "start": start is None or (start.tzinfo is None and start.second == start.microsecond == 0),
        "minutes": minutes is None or 1 <= minutes <= LONGEST_MINUTES,
        "on_clash": on_clash in set(OnClash),
    }
    for field, is_valid in valid.items():
        if not is_valid:
            raise InvalidBooking(field=field)


def slots_of(series: Series, days: Iterable[date], terms: Terms) -> list[Slot]:
    return [
        rules_of_series.slot(terms.rules.zone, day, series.start, series.minutes) for day in days
    ]


def without_clashes(planned: Iterable[PlannedDate], on_clash: str) -> list[PlannedDate]:
    """The dates to write. Raises PolicyViolation and SeriesClash."""
    planned = list(planned)
    for each in planned:
        if each.refusal is not None and not each.is_skippable:
            raise PolicyViolation(each.refusal)
    kept = [each for each in planned if each.is_possible]
    clashes = [each for each in planned if not each.is_possible]
    if clashes and (on_clash == OnClash.REFUSE or not kept):
        raise SeriesClash(dates=[each.as_clash() for each in clashes])
    return kept


def keep_skipped(booking: Booking, planned: Iterable[PlannedDate]) -> None:
    SeriesException.objects.bulk_create(
        SeriesException(booking=booking, date=each.date, rule=each.code)
        for each in planned
        if not each.is_possible
    )


def write_new(
    booking: Booking, kept: Iterable[PlannedDate], terms: Terms, *, now: datetime
) -> list[Occurrence]:
    """Insert the dates in the order of their starts: the room is held, and nobody waits crosswise."""
    kept = sorted(kept, key=lambda each: each.starts_at)
    if not kept:
        return []
    whole = Interval(kept[0].starts_at, kept[-1].ends_at)
    free_lapsed(terms.place, terms.rules.blocked(whole), now=now)
    occurrences = [
        placing.place(
            Occurrence(booking=booking, recurrence_date=each.date, is_shifted=each.is_shifted),
            terms,
            Interval(each.starts_at, each.ends_at),
            now=now,
            is_series=True,
        )
        for each in kept
    ]
    return Occurrence.objects.bulk_create(occurrences)


def check_limits(
    booking: Booking,
    terms: Terms,
    written: list[Occurrence],
    *,
    before: Iterable[Use] = (),
    now: datetime,
) -> None:
    """Raises PolicyViolation if the organizer's quotas, or one room at a time, do not allow it."""
    check_quotas(booking, terms, before=before, after=[Use.of(each) for each in written], now=now)
    check_one_room(booking, terms, written, now=now)
