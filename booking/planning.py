"""Whether each date of a series could be had, and which of one are still to come.

Reads only; the same for a preview and a booking or a change.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from booking import closures, policies, recurrence
from booking.exceptions import AlreadyOver, BookingNotFound, InvalidBooking, explain
from booking.intervals import Interval, is_free
from booking.models import Blackout, Booking, Occurrence, Room, Series
from booking.policies import Refusal, Rules
from booking.recurrence import MAX_DATES, BadRule, Slot

SKIPPABLE = frozenset({"holiday", "opening_hours", "blackout"})
"""The rules that are about one date, so that a series may do without it."""


@dataclass(frozen=True, kw_only=True)
class PlannedDate:
    """One date of a series to be: when it would be, and what stands against it."""

    date: date
    starts_at: datetime
    ends_at: datetime
    is_shifted: bool
    refusal: Refusal | None = None
    is_taken: bool = False

    @property
    def is_possible(self) -> bool:
        return self.refusal is None and not self.is_taken

    @property
    def is_skippable(self) -> bool:
        """Whether the series could be had without it."""
        return self.refusal is None or self.refusal.rule in SKIPPABLE

    @property
    def code(self) -> str:
        """`taken`, or the rule that refuses it."""
        return "taken" if self.refusal is None else self.refusal.rule

    def as_clash(self) -> dict[str, Any]:
        """{date, code, text}, the text in the active language; None for a mere clash."""
        text = None if self.refusal is None else explain(self.refusal)
        return {"date": self.date.isoformat(), "code": self.code, "text": text}


def plan(
    slots: Iterable[Slot],
    *,
    room: Room,
    rules: Rules,
    ignore: Collection[int] = (),
    now: datetime,
) -> tuple[PlannedDate, ...]:
    """The slots in a room, of which there are some, in order (two queries).

    `ignore`: the occurrences that are about to be moved, by primary key.
    """
    slots = sorted(slots, key=lambda each: each.during)
    around = rules.blocked(Interval(slots[0].during.starts_at, slots[-1].during.ends_at))
    busy = _busy(room, around, ignore=ignore, now=now)
    shut = closures.blackouts_of(room, around)
    planned = [_planned(each, rules, busy, shut, now=now) for each in slots]
    for place, each in enumerate(planned):
        if not each.is_skippable:  # the one that refuses the whole is told with the nearest slot
            times = {"starts_at": each.starts_at, "ends_at": each.ends_at}
            planned[place] = replace(each, refusal=policies.check(rules, **times, now=now))
            break
    return tuple(planned)


def _planned(
    slot: Slot,
    rules: Rules,
    busy: Collection[Interval],
    shut: Collection[Blackout],
    *,
    now: datetime,
) -> PlannedDate:
    during = slot.during
    refusal = policies.broken_rule(
        rules, starts_at=during.starts_at, ends_at=during.ends_at, now=now
    )
    for each in shut:
        if refusal is None and closures.interval_of(each).overlaps(rules.blocked(during)):
            refusal = closures.refusal_of(each, rules.zone)
    return PlannedDate(
        date=slot.date,
        starts_at=during.starts_at,
        ends_at=during.ends_at,
        is_shifted=slot.is_shifted,
        refusal=refusal,
        is_taken=not is_free(rules.blocked(during), busy),
    )


def _busy(
    room: Room, around: Interval, *, ignore: Collection[int], now: datetime
) -> list[Interval]:
    found = (
        Occurrence.objects.blocking(now)
        .filter(room=room, blocked__overlap=(around.starts_at, around.ends_at))
        .exclude(pk__in=ignore)
        .values_list("blocked", flat=True)
    )
    return [Interval(each.lower, each.upper) for each in found]


@dataclass(frozen=True, kw_only=True)
class Part:
    """The coming part of a series: its first date and its occurrences.

    `following`: those that stand where the rule puts them, and change with it; `settled`: those
    of coming dates that were moved or ended by themselves, and stay.
    """

    first: date
    following: list[Occurrence]
    settled: list[Occurrence]

    @property
    def closed_dates(self) -> set[date]:
        return {each.recurrence_date for each in self.settled if each.recurrence_date}


def coming_part(
    booking: Booking,
    series: Series,
    occurrences: Iterable[Occurrence],
    since: date | None,
    *,
    now: datetime,
) -> Part:
    """What of a series is still to come, from `since` on. Raises BookingNotFound, AlreadyOver."""
    everything = list(occurrences)
    if since is not None and all(each.recurrence_date != since for each in everything):
        raise BookingNotFound(booking=booking.pk)
    coming = [
        each
        for each in everything
        if each.starts_at > now
        and each.recurrence_date
        and each.recurrence_date >= (since or date.min)
    ]
    following = [each for each in coming if each.blocks(now) and _stands_by_rule(each, series)]
    if not following:
        raise AlreadyOver(booking=booking.pk)
    first = min(each.recurrence_date for each in coming if each.recurrence_date)
    settled = [
        each
        for each in everything
        if each not in following and each.recurrence_date and each.recurrence_date >= first
    ]
    return Part(first=first, following=following, settled=settled)


def _stands_by_rule(occurrence: Occurrence, series: Series) -> bool:
    day = occurrence.recurrence_date
    if day is None or occurrence.room_id != series.room_id:
        return False
    slot = recurrence.slot(ZoneInfo(series.zone), day, series.start, series.minutes)
    return slot.during == Interval(occurrence.starts_at, occurrence.ends_at)


def changed_days(
    booking: Booking, series: Series, part: Part, rule: str | None, *, zone: ZoneInfo
) -> tuple[str, list[date]]:
    """The rule of the coming part (None keeps it) as it is stored, and its dates without the skipped.

    Raises InvalidBooking (recurrence), also if each of them was ended or moved by itself.
    """
    if rule is None:
        kept = recurrence.going_on_from(booking.recurrence, series.first, part.first)
        given = recurrence.dates(kept, part.first)
    else:
        kept, given = read_rule(rule, part.first, zone=zone)
    skipped = set(booking.exceptions.values_list("date", flat=True))
    days = [day for day in given if day not in skipped]
    if part.closed_dates.issuperset(days):
        raise InvalidBooking(field="recurrence")
    return kept, days


def read_rule(rule: str, first: date, *, zone: ZoneInfo) -> tuple[str, tuple[date, ...]]:
    """The rule as it is kept, and its dates from `first` on. Raises InvalidBooking (recurrence)."""
    try:
        kept = recurrence.normalised(rule, zone=zone)
        days = recurrence.dates(kept, first)
    except (BadRule, OverflowError) as error:
        raise InvalidBooking(field="recurrence") from error
    if not 1 <= len(days) <= MAX_DATES:
        raise InvalidBooking(field="recurrence")
    return kept, days
