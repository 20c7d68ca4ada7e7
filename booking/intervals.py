"""Half-open spans of time `[starts_at, ends_at)`. Pure: no Django, no clock, no database."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, order=True)
class Interval:
    """`[starts_at, ends_at)` between two aware instants, kept in UTC; an empty one is refused.

    In UTC because Python compares and subtracts aware datetimes of one zone by the wall clock,
    which is wrong across a change of that zone's offset.
    """

    starts_at: datetime
    ends_at: datetime

    def __post_init__(self) -> None:
        if self.starts_at.tzinfo is None or self.ends_at.tzinfo is None:
            raise ValueError("an interval needs aware instants")
        object.__setattr__(self, "starts_at", self.starts_at.astimezone(UTC))
        object.__setattr__(self, "ends_at", self.ends_at.astimezone(UTC))
        if self.ends_at <= self.starts_at:
            raise ValueError("an interval ends after it starts")

    @property
    def duration(self) -> timedelta:
        return self.ends_at - self.starts_at

    def overlaps(self, other: "Interval") -> bool:
        """Whether they share an instant; back to back they do not."""
        return self.starts_at < other.ends_at and other.starts_at < self.ends_at

    def covers(self, other: "Interval") -> bool:
        return self.starts_at <= other.starts_at and other.ends_at <= self.ends_at

    def padded(self, before: timedelta, after: timedelta) -> "Interval":
        return Interval(self.starts_at - before, self.ends_at + after)

    def starting(self, starts_at: datetime) -> "Interval":
        """The same duration from another start."""
        return Interval(starts_at, starts_at + self.duration)


def merge(intervals: Iterable[Interval]) -> list[Interval]:
    """The same instants as disjoint, apart-lying intervals in order; neighbours become one."""
    merged: list[Interval] = []
    for interval in sorted(intervals):
        if merged and interval.starts_at <= merged[-1].ends_at:
            ends_at = max(merged[-1].ends_at, interval.ends_at)
            merged[-1] = Interval(merged[-1].starts_at, ends_at)
            continue
        merged.append(interval)
    return merged


def gaps(busy: Iterable[Interval], within: Interval) -> list[Interval]:
    """What of `within` no busy interval touches, in order."""
    free: list[Interval] = []
    cursor = within.starts_at
    for interval in merge(busy):
        if interval.starts_at >= within.ends_at:
            break
        if interval.starts_at > cursor:
            free.append(Interval(cursor, interval.starts_at))
        cursor = max(cursor, interval.ends_at)
    if cursor < within.ends_at:
        free.append(Interval(cursor, within.ends_at))
    return free


def is_free(interval: Interval, busy: Iterable[Interval]) -> bool:
    return not any(interval.overlaps(other) for other in busy)


def busy_until(instant: datetime, busy: Iterable[Interval]) -> datetime | None:
    """The end of the unbroken busy time that holds `instant`; None when it is free."""
    for interval in merge(busy):
        if interval.starts_at <= instant < interval.ends_at:
            return interval.ends_at
    return None
