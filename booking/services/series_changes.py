"""Changing the coming dates of a series: this and following, or all of them.

What is over, what runs, what was cancelled and what was moved by itself stays as it is. Where
earlier dates stay behind, the coming ones become a booking of their own that continues the first:
one rule then says what one booking is.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, time

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, connection, transaction

from booking import recurrence as rules_of_series
from booking.exceptions import InvalidBooking
from booking.intervals import Interval
from booking.locks import hold, lock_booking, lock_rooms, occurrences_of
from booking.models import Booking, Occurrence, Series, SeriesException
from booking.planning import Part, PlannedDate, changed_days, coming_part, plan
from booking.services import placing
from booking.services.bookings import Scope
from booking.services.lapses import free_lapsed
from booking.services.placing import PLACED, Terms
from booking.services.quotas import Use
from booking.services.records import Action, loaded, pictures, record, record_first, translated
from booking.services.series import (
    OnClash,
    check_limits,
    check_shape,
    keep_skipped,
    slots_of,
    without_clashes,
    write_new,
)


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What of a series changes; None leaves it as it is."""

    start: time | None
    minutes: int | None
    room: str | None
    recurrence: str | None
    on_clash: str


def change_series(
    booking_id: int,
    *,
    by: AbstractBaseUser,
    scope: str,
    recurrence_date: date | None = None,
    start: time | None = None,
    minutes: int | None = None,
    room: str | None = None,
    recurrence: str | None = None,
    on_clash: str = OnClash.REFUSE,
    now: datetime,
    version: int | None = None,
    source: str,
) -> Booking:
    """Change the coming dates, or those from `recurrence_date` on; the booking they belong to then.

    Raises BookingNotFound, NotAllowed, VersionConflict, AlreadyOver (nothing to come follows the
    rule), InvalidBooking (scope, recurrence without a date that may be, ...), and what book_series raises.
    """
    check_shape(start=start, minutes=minutes, on_clash=on_clash)
    if scope not in {Scope.FOLLOWING, Scope.ALL} or (scope == Scope.ALL) != (
        recurrence_date is None
    ):
        raise InvalidBooking(field="scope")
    wish = Wish(start=start, minutes=minutes, room=room, recurrence=recurrence, on_clash=on_clash)
    try:
        with transaction.atomic():
            booking = lock_booking(booking_id, by=by, source=source, version=version)
            series = Series.objects.select_related("room").filter(booking=booking).first()
            if series is None:
                raise InvalidBooking(field="scope")
            part = coming_part(
                booking, series, occurrences_of(booking, None), recurrence_date, now=now
            )
            return _change(booking, series, part, wish, by=by, now=now, source=source)
    except IntegrityError as error:
        raise translated(error, room=room or "") from error.__cause__


def _change(
    booking: Booking,
    series: Series,
    part: Part,
    wish: Wish,
    *,
    by: AbstractBaseUser,
    now: datetime,
    source: str,
) -> Booking:
    place = lock_rooms(series.room.code, wish.room or series.room.code)
    hold(part.following)
    terms = placing.terms_of(place, person=by, headcount=booking.headcount, now=now)
    changed, rule, days = _changed(booking, series, part, wish, terms)
    before = pictures(part.following)
    used = [Use.of(each) for each in part.following]
    slots = slots_of(changed, [day for day in days if day not in part.closed_dates], terms)
    moving = [each.pk for each in part.following]
    planned = plan(slots, room=place, rules=terms.rules, ignore=moving, now=now)
    kept = without_clashes(planned, wish.on_clash)
    target = _split(booking, series, part, source=source, by=by)
    _keep_rule(target, changed, rule)
    keep_skipped(target, planned)
    written = _write(target, part.following, kept, terms, now=now)
    was = used if series.room.policy_id == place.policy_id else []
    check_limits(target, terms, written, before=was, now=now)
    if target.pk == booking.pk:
        record(target, Action.MOVED, by=by, source=source, before=before, after=pictures(written))
    else:
        record(booking, Action.SPLIT, by=by, source=source, before=before, after=[])
        record_first(target, written, by=by, source=source)
    return loaded(target)


def _changed(
    booking: Booking, series: Series, part: Part, wish: Wish, terms: Terms
) -> tuple[Series, str, list[date]]:
    """The series of the coming part as wished, its rule, and the dates it may have."""
    rule, days = changed_days(booking, series, part, wish.recurrence, zone=terms.rules.zone)
    changed = Series(
        room=terms.place,
        zone=terms.rules.zone.key,
        first=days[0],
        start=wish.start or series.start,
        minutes=wish.minutes or series.minutes,
    )
    return changed, rule, days


def _split(
    booking: Booking, series: Series, part: Part, *, source: str, by: AbstractBaseUser
) -> Booking:
    """The booking that has the coming part: this one, or a new one where earlier dates stay."""
    if not booking.occurrences.filter(recurrence_date__lt=part.first).exists():
        booking.exceptions.filter(date__lt=part.first).delete()
        return booking
    following = Booking.objects.create(
        organizer_id=booking.organizer_id,
        title=booking.title,
        visibility=booking.visibility,
        headcount=booking.headcount,
        source=booking.source,
        effect=booking.effect,
        continues=booking,
        idempotency_key=f"continues-{booking.pk}-{booking.version}",
        request_digest="-",
    )
    moved = [each.pk for each in (*part.following, *part.settled)]
    Occurrence.objects.filter(pk__in=moved).update(booking=following)
    SeriesException.objects.filter(booking=booking, date__gte=part.first).update(booking=following)
    ended = rules_of_series.ended_before(booking.recurrence, series.first, part.first)
    Booking.objects.filter(pk=booking.pk).update(recurrence=ended)
    return following


def _keep_rule(target: Booking, changed: Series, rule: str) -> None:
    target.recurrence = rule
    target.save(update_fields=["recurrence"])
    changed.booking = target
    Series.objects.filter(booking=target).delete()
    changed.save(force_insert=True)


def _write(
    target: Booking,
    following: Collection[Occurrence],
    kept: Collection[PlannedDate],
    terms: Terms,
    *,
    now: datetime,
) -> list[Occurrence]:
    """Move what there is, insert what is new, drop what the rule no longer gives."""
    new = {each.date: each for each in kept}
    stays = [
        (each, new.pop(each.recurrence_date))
        for each in following
        if each.recurrence_date is not None and each.recurrence_date in new
    ]
    moved = [each for each, _planned in stays]
    dropped = [each.pk for each in following if each not in moved]
    Occurrence.objects.filter(pk__in=dropped).delete()
    _free_lapsed(kept, terms, now=now)
    with connection.cursor() as cursor:  # they may pass through each other's old slots
        cursor.execute("SET CONSTRAINTS occurrence_room_free DEFERRED")
    for each, planned in stays:
        each.booking, each.is_shifted = target, planned.is_shifted
        during = Interval(planned.starts_at, planned.ends_at)
        placing.place(each, terms, during, now=now, is_series=True)
    Occurrence.objects.bulk_update(moved, [*PLACED, "is_shifted", "booking"])
    inserted = write_new(target, new.values(), terms, now=now)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS occurrence_room_free IMMEDIATE")
    written = Occurrence.objects.filter(pk__in=[each.pk for each in (*moved, *inserted)])
    return list(written.select_related("room").order_by("during"))


def _free_lapsed(kept: Collection[PlannedDate], terms: Terms, *, now: datetime) -> None:
    spans = sorted((each.starts_at, each.ends_at) for each in kept)
    whole = Interval(spans[0][0], spans[-1][1])
    free_lapsed(terms.place, terms.rules.blocked(whole), now=now)
