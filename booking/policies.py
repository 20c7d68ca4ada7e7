"""What a room's rules say about a wanted time, and the nearest time they would allow.

Pure: rules, the wanted times and `now` come in, a Refusal or None goes out; ordinary refusals are
data, not exceptions. No Django, no clock, no database.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import IntEnum
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from booking.intervals import Interval, is_free, merge

SEARCH_DAYS = 21
"""How many days either way the nearest legal slot is looked for (longer than any holiday)."""


@dataclass(frozen=True)
class Refusal:
    """A rule that says no: its code, what it needs to be explained, the nearest legal slot.

    Params are plain JSON: ISO dates, "HH:MM" local times, numbers, {"en", "zh"} names.
    """

    rule: str
    params: Mapping[str, Any] = field(default_factory=dict)
    nearest: tuple[datetime, datetime] | None = None


class Access(IntEnum):
    """What a person may do in a room; each includes those before it."""

    NONE = 0
    SEE = 1
    REQUEST = 2
    BOOK = 3
    OVERRIDE = 4


def access(granted: Collection[str], mine: Collection[str]) -> Access:
    """What somebody may do: `granted` are the rights some group has, `mine` those of my groups.

    Seeing and booking are everybody's unless granted to some; requesting and overriding are
    nobody's unless granted. Whoever has any right in a room sees it.
    """
    if "override" in mine:
        return Access.OVERRIDE
    if "see" in granted and not mine:
        return Access.NONE
    if "book" not in granted or "book" in mine:
        return Access.BOOK
    return Access.REQUEST if "request" in mine else Access.SEE


class Opening(NamedTuple):
    """Open from `opens` to `closes` (00:00 is the coming midnight), from and until local dates."""

    opens: time
    closes: time
    valid_from: date | None = None
    valid_until: date | None = None

    def holds_on(self, day: date) -> bool:
        return (self.valid_from or day) <= day <= (self.valid_until or day)


@dataclass(frozen=True, eq=False)
class Rules:
    """The policy of a room at its site. Identity is equality: rooms that share one share answers.

    `hours`: by ISO weekday (1 Monday) the open times.
    `closed`: the local dates closed altogether, with {"en", "zh"} names.
    `working`: the local dates that open like another weekday, by its ISO number.
    """

    zone: ZoneInfo
    hours: Mapping[int, tuple[Opening, ...]]
    closed: Mapping[date, Mapping[str, str]] = field(default_factory=dict)
    working: Mapping[date, int] = field(default_factory=dict)
    min_minutes: int = 15
    max_minutes: int = 240
    grid_minutes: int = 15
    horizon_days: int = 90
    grace_minutes: int = 15
    notice_minutes: int = 0
    buffer_before: timedelta = timedelta(0)
    buffer_after: timedelta = timedelta(0)
    needs_approval: bool = False
    approval_over_minutes: int | None = None
    series_need_approval: bool = False

    def blocked(self, during: Interval) -> Interval:
        """What a booking keeps the room from: its time and the buffers around it."""
        return during.padded(self.buffer_before, self.buffer_after)

    def local(self, instant: datetime) -> datetime:
        return instant.astimezone(self.zone)

    def asks_approval(self, duration: timedelta | None, *, is_series: bool = False) -> bool:
        """Whether a booking of that length waits as a request; None is a length not known yet."""
        is_long = (
            self.approval_over_minutes is not None
            and duration is not None
            and duration > timedelta(minutes=self.approval_over_minutes)
        )
        return self.needs_approval or is_long or (is_series and self.series_need_approval)


ALWAYS = {weekday: (Opening(time(0), time(0)),) for weekday in range(1, 8)}
LONGEST_MINUTES = 24 * 60
FARTHEST_DAYS = 1100


def relaxed(rules: Rules) -> Rules:
    """The rules as they bind somebody who may override them: grid, buffers, and no past."""
    return replace(
        rules,
        hours=ALWAYS,
        closed={},
        working={},
        min_minutes=1,
        max_minutes=LONGEST_MINUTES,
        horizon_days=FARTHEST_DAYS,
        notice_minutes=0,
        needs_approval=False,
        approval_over_minutes=None,
        series_need_approval=False,
    )


def instant_of(zone: ZoneInfo, day: date, wall: time) -> datetime | None:
    """The first instant at which the zone's clocks show it; None for an hour that is skipped."""
    instant = datetime.combine(day, wall, tzinfo=zone).astimezone(UTC)
    shown = instant.astimezone(zone)
    return instant if (shown.date(), shown.time()) == (day, wall) else None


def open_intervals(rules: Rules, day: date) -> list[Interval]:
    """When rooms are open on a local day, in order; empty on a closed one."""
    if day in rules.closed:
        return []
    intervals = []
    for opening in rules.hours.get(rules.working.get(day, day.isoweekday()), ()):
        if not opening.holds_on(day):
            continue
        last_day = day + timedelta(days=1) if opening.closes == time(0) else day
        starts_at = datetime.combine(day, opening.opens, rules.zone).astimezone(UTC)
        ends_at = datetime.combine(last_day, opening.closes, rules.zone).astimezone(UTC)
        if starts_at < ends_at:  # not so where the clocks skip what was open
            intervals.append(Interval(starts_at, ends_at))
    return merge(intervals)


def grid_starts(rules: Rules, day: date) -> Iterator[datetime]:
    """The instants of a local day that lie on the grid of the wall clock, in order."""
    for minutes in range(0, 24 * 60, rules.grid_minutes):
        instant = instant_of(rules.zone, day, time(minutes // 60, minutes % 60))
        if instant is not None:
            yield instant


def legal_starts(
    rules: Rules, *, day: date, duration: timedelta, now: datetime
) -> Iterator[datetime]:
    """The coming starts of a local day at which a booking of that duration would be legal."""
    if not open_intervals(rules, day):
        return
    for starts_at in grid_starts(rules, day):
        if starts_at >= now and _refused(rules, starts_at, starts_at + duration, now) is None:
            yield starts_at


def check(rules: Rules, *, starts_at: datetime, ends_at: datetime, now: datetime) -> Refusal | None:
    """The first rule `[starts_at, ends_at)` breaks, with the nearest legal slot; None if legal.

    Rules in order: past, notice, horizon, min_duration, max_duration, grid, holiday, opening_hours.
    """
    broken = broken_rule(rules, starts_at=starts_at, ends_at=ends_at, now=now)
    if broken is None:
        return None
    nearest = nearest_slot(rules, starts_at=starts_at, ends_at=ends_at, now=now)
    return replace(broken, nearest=nearest)


def broken_rule(
    rules: Rules, *, starts_at: datetime, ends_at: datetime, now: datetime
) -> Refusal | None:
    """As `check`, without looking for the nearest slot, which takes most of its time."""
    broken = _refused(rules, starts_at, ends_at, now)
    return None if broken is None else Refusal(*broken)


def nearest_slot(
    rules: Rules,
    *,
    starts_at: datetime,
    ends_at: datetime,
    now: datetime,
    avoiding: Iterable[Interval] = (),
) -> tuple[datetime, datetime] | None:
    """The legal slot with the smallest shift (the earlier of two), the duration made legal first.

    `avoiding` are times the room is shut besides.

    None when there is none within SEARCH_DAYS of the wanted day (or of the nearest bookable one).
    """
    duration, shut = _legal_duration(rules, starts_at, ends_at), list(avoiding)

    def is_open(start: datetime) -> bool:
        return is_free(rules.blocked(Interval(start, start + duration)), shut)

    if _refused_by_reach(rules, starts_at, now) is None:
        kept = _utc(starts_at), _utc(starts_at) + duration
        if _refused(rules, *kept, now) is None and is_open(kept[0]):
            return kept
    last = _utc(now) + timedelta(days=rules.horizon_days)
    wanted = min(max(_utc(starts_at), _utc(now)), last)
    middle = rules.local(wanted).date()
    found: list[datetime] = []
    for distance in range(SEARCH_DAYS + 1):
        # Days at this distance start at least distance - 1 days away, less a change of the clocks.
        if found and abs(found[0] - wanted) <= timedelta(days=distance - 2):
            break
        for day in (middle - timedelta(days=distance), middle + timedelta(days=distance)):
            starts = legal_starts(rules, day=day, duration=duration, now=now)
            found += filter(is_open, starts)
        found.sort(key=lambda start: (abs(start - wanted), start))
    return (found[0], found[0] + duration) if found else None


def _refused(
    rules: Rules, starts_at: datetime, ends_at: datetime, now: datetime
) -> tuple[str, dict[str, Any]] | None:
    return (
        _refused_by_reach(rules, starts_at, now)
        or _refused_by_shape(rules, starts_at, ends_at)
        or _refused_by_hours(rules, Interval(starts_at, ends_at))
    )


def _refused_by_reach(
    rules: Rules, starts_at: datetime, now: datetime
) -> tuple[str, dict[str, Any]] | None:
    if _utc(starts_at) <= _utc(now) - timedelta(minutes=rules.grace_minutes):
        return "past", {}
    notice = timedelta(minutes=rules.notice_minutes)
    if notice and _utc(starts_at) < _utc(now) + notice:
        return "notice", {"minutes": rules.notice_minutes}
    last_day = rules.local(now).date() + timedelta(days=rules.horizon_days)
    # Compared in UTC first: the last instants of year 9999 have no local time east of Greenwich.
    far = _utc(starts_at) > _utc(now) + timedelta(days=rules.horizon_days + 2)
    if far or rules.local(starts_at).date() > last_day:
        return "horizon", {"days": rules.horizon_days, "last_date": last_day.isoformat()}
    return None


def _refused_by_shape(
    rules: Rules, starts_at: datetime, ends_at: datetime
) -> tuple[str, dict[str, Any]] | None:
    duration = _utc(ends_at) - _utc(starts_at)
    if duration < timedelta(minutes=rules.min_minutes):
        return "min_duration", {"minutes": rules.min_minutes}
    if duration > timedelta(minutes=rules.max_minutes):
        return "max_duration", {"minutes": rules.max_minutes}
    if not (_on_grid(rules, starts_at) and _on_grid(rules, ends_at)):
        return "grid", {"minutes": rules.grid_minutes}
    return None


def _refused_by_hours(rules: Rules, wanted: Interval) -> tuple[str, dict[str, Any]] | None:
    first = rules.local(wanted.starts_at).date()
    last = rules.local(wanted.ends_at - timedelta(microseconds=1)).date()
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    for day in days:
        if day in rules.closed:
            return "holiday", {"date": day.isoformat(), "name": dict(rules.closed[day])}
    opened = merge(interval for day in days for interval in open_intervals(rules, day))
    if any(interval.covers(wanted) for interval in opened):
        return None
    hours = [
        [f"{rules.local(each.starts_at):%H:%M}", f"{rules.local(each.ends_at):%H:%M}"]
        for each in open_intervals(rules, first)
    ]
    params = {"date": first.isoformat(), "weekday": first.isoweekday(), "hours": hours}
    return "opening_hours", params


def _on_grid(rules: Rules, instant: datetime) -> bool:
    wall = rules.local(instant)
    return wall.minute % rules.grid_minutes == 0 and wall.second == wall.microsecond == 0


def _legal_duration(rules: Rules, starts_at: datetime, ends_at: datetime) -> timedelta:
    wanted = (_utc(ends_at) - _utc(starts_at)) / timedelta(minutes=1)
    grid = rules.grid_minutes
    shortest = -(-rules.min_minutes // grid) * grid
    longest = max(rules.max_minutes // grid * grid, shortest)
    return timedelta(minutes=min(max(-(-wanted // grid) * grid, shortest), longest))


def _utc(instant: datetime) -> datetime:
    try:
        return instant.astimezone(UTC)
    except OverflowError:  # the first and last hours of the calendar have no UTC everywhere
        edge = datetime.max.replace(tzinfo=UTC)
        return edge if instant.year > 1 else datetime.min.replace(tzinfo=UTC)
