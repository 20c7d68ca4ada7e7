"""A local day of a room as slots side by side: free, taken, or off (closed, gone, kept as buffer).

Pure: rules, uses and `now` come in; no Django, no clock, no database. What may be booked is asked
of `policies`, never decided here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from booking import policies
from booking.intervals import Interval, gaps, merge
from booking.policies import Rules

UNIT = timedelta(minutes=15)
"""What a strip is drawn in; the times of a slot stay exact."""
OFFICE = time(8), time(20)
"""What is shown of a day on which nothing opens."""


@dataclass(frozen=True, kw_only=True)
class Use:
    """What is in a room, as a viewer may see it: booking, title and organizer None where private.

    A blackout has the status `blackout`, and its reason for a title.
    """

    booking: int | None
    during: Interval
    blocked: Interval
    status: str
    is_mine: bool
    title: str | None
    organizer: str | None

    @property
    def is_blackout(self) -> bool:
        return self.status == "blackout"


@dataclass(frozen=True, kw_only=True)
class Slot:
    """`kind`: free, taken or off; `units` is its width, `use` what takes it."""

    kind: str
    during: Interval
    units: int
    use: Use | None = None


def bookable(rules: Rules, day: date, *, now: datetime) -> list[Interval]:
    """The times of a local day that bookings may touch: of what is open, what can still be had.

    From the first legal start to the end of the last one, so that an hour which the clocks show
    twice, and in which nothing can begin the second time, stays part of it.
    """
    shortest = timedelta(minutes=rules.min_minutes)
    starts = list(policies.legal_starts(rules, day=day, duration=shortest, now=now))
    found = []
    for opened in policies.open_intervals(rules, day):
        within = [start for start in starts if opened.starts_at <= start < opened.ends_at]
        if within:
            found.append(Interval(within[0], within[-1] + shortest))
    return merge(found)


def free_times(rules: Rules, allowed: Iterable[Interval], uses: Iterable[Use]) -> list[Interval]:
    """What of the allowed times is free for long enough, buffers on both sides counted."""
    kept = [each.blocked.padded(rules.buffer_after, rules.buffer_before) for each in uses]
    shortest = timedelta(minutes=rules.min_minutes)
    free = [gap for within in allowed for gap in gaps(kept, within)]
    return [each for each in free if each.duration >= shortest]


def window(
    zone: ZoneInfo, day: date, opened: Iterable[Interval], uses: Iterable[Use] = ()
) -> Interval:
    """The whole hours of the local day that hold everything open and every use."""
    midnight = datetime.combine(day, time(0), zone).astimezone(UTC)
    end = datetime.combine(day + timedelta(days=1), time(0), zone).astimezone(UTC)
    shown = [*opened, *(each.during for each in uses)]
    if not shown:
        first, last = (datetime.combine(day, wall, zone).astimezone(UTC) for wall in OFFICE)
        return Interval(first, last)
    first = max(midnight, min(each.starts_at for each in shown))
    last = min(end, max(each.ends_at for each in shown))
    hour = timedelta(hours=1)
    return Interval(
        midnight + (first - midnight) // hour * hour, midnight + -((midnight - last) // hour) * hour
    )


def hours(within: Interval) -> list[datetime]:
    """The instants a strip's head is marked with, an hour apart."""
    count = -(-within.duration // timedelta(hours=1))
    return [within.starts_at + timedelta(hours=n) for n in range(count)]


def strip(within: Interval, *, free: Sequence[Interval], uses: Iterable[Use]) -> list[Slot]:
    """The slots of a room, end to end over `within`: what is taken is drawn no smaller than it is."""
    parts: list[tuple[Interval, Use | None]] = [(each.during, each) for each in uses]
    parts += [(each, None) for each in free]
    slots: list[Slot] = []
    cursor = 0
    for during, use in sorted(parts, key=lambda part: part[0]):
        first, last = _units(within, during, widen=use is not None)
        first = max(first, cursor)
        if last <= first:
            continue
        slots += _off(within, cursor, first)
        kind = "free" if use is None else "taken"
        slots.append(Slot(kind=kind, during=during, units=last - first, use=use))
        cursor = last
    return [*slots, *_off(within, cursor, -(-within.duration // UNIT))]


def _units(within: Interval, during: Interval, *, widen: bool) -> tuple[int, int]:
    first, last = during.starts_at - within.starts_at, during.ends_at - within.starts_at
    edges = (first // UNIT, -(-last // UNIT)) if widen else (-(-first // UNIT), last // UNIT)
    return max(edges[0], 0), min(edges[1], -(-within.duration // UNIT))


def _off(within: Interval, first: int, last: int) -> Iterator[Slot]:
    if first < last:
        during = Interval(within.starts_at + first * UNIT, within.starts_at + last * UNIT)
        yield Slot(kind="off", during=during, units=last - first)
