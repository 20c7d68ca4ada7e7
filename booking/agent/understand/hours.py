"""Which half of the day: the rules that turn clock words into minutes of a day.

早上/上午 before noon; 中午 11-13; 下午 12-18; 晚上 6-11 is PM, 12 is midnight, 1-5 is refused as
ambiguous. A bare hour takes the reading inside opening hours (P3); if both fit, ask.
"""

from __future__ import annotations

from dataclasses import dataclass

from booking.agent.understand.clock import Point, Range
from booking.agent.understand.types import OpeningHours

NOON, DAY = 12 * 60, 24 * 60


@dataclass(frozen=True, slots=True)
class Frame:
    """What decides between readings: opening hours, a window that was said, and now if it is today."""

    opens: int
    closes: int
    earliest: int = 0
    window: tuple[int, int] | None = None
    afternoon: bool | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """The chosen minutes, or with `options` the ones to ask about."""

    minutes: int | None
    assumed: bool = False
    options: tuple[int, ...] = ()


def minutes_of(hours: OpeningHours) -> tuple[int, int]:
    closes = hours.closes.hour * 60 + hours.closes.minute
    return hours.opens.hour * 60 + hours.opens.minute, closes or DAY


def window_of(part: str, hours: OpeningHours) -> tuple[int, int]:
    opens, _ = minutes_of(hours)
    morning = (min(opens, 11 * 60), NOON)
    return {
        "dawn": (0, 6 * 60),
        "morning": morning,
        "noon": (11 * 60, 13 * 60),
        "afternoon": (NOON, 18 * 60),
        "close": (15 * 60, 18 * 60),
    }.get(part, (18 * 60, 23 * 60))


def readings(point: Point) -> tuple[int, ...]:
    """Every time the words allow, in minutes; none when they were called night but mean neither."""
    hour, minute = point.hour, point.minute
    if point.exact or hour > 12:
        return (hour * 60 + minute,)
    if point.part in {"evening", "night"}:
        return _evening(point)
    if point.part in {"dawn", "morning", "am"}:
        early = hour % 12 if point.part != "morning" else hour
        return (early * 60 + minute,)
    if point.part == "noon":
        return ((hour + 12 if hour < 10 else hour) * 60 + minute,)
    if point.part in {"afternoon", "pm"}:
        return ((hour % 12 + 12) * 60 + minute,)
    return (hour % 12 * 60 + minute, (hour % 12 + 12) * 60 + minute)


def _evening(point: Point) -> tuple[int, ...]:
    if point.hour == 12:
        return (DAY + point.minute,)
    if 6 <= point.hour <= 11 or (point.part == "evening" and point.hour == 5 and point.minute):
        return ((point.hour + 12) * 60 + point.minute,)
    return ()


def night_options(point: Point) -> tuple[int, ...]:
    """What 晚上3点 may mean: in the night, or in the afternoon."""
    return (point.hour * 60 + point.minute, (point.hour + 12) * 60 + point.minute)


def choose(point: Point, frame: Frame, *, after: int | None = None) -> Reading:
    """One reading of a point. `after` is the start, for an end."""
    fits = readings(point)
    if not fits:
        return Reading(None, options=night_options(point))
    if after is not None:
        later = [t for t in (*fits, *(t + DAY for t in fits)) if t > after]
        return Reading(later[0]) if later else Reading(None)
    if len(fits) == 1:
        return Reading(fits[0])
    return _among(fits, frame)


def _among(fits: tuple[int, ...], frame: Frame) -> Reading:
    if frame.window is not None:
        inside = [t for t in fits if frame.window[0] <= t <= frame.window[1]]
        if len(inside) == 1:
            return Reading(inside[0])
    opened = [t for t in fits if frame.opens <= t < frame.closes]
    ahead = [t for t in opened if t >= frame.earliest]
    best = ahead or opened
    if len(best) == 1:
        shifted = best[0] >= NOON + 60 and frame.afternoon is not True
        return Reading(best[0], assumed=shifted or len(opened) > 1)
    if best:
        return Reading(None, options=tuple(best))
    return Reading(fits[-1], assumed=True)


@dataclass(frozen=True, slots=True)
class Pair:
    """Both ends, or the starts to ask about; `length` is known when it is the same for each."""

    start: int | None
    end: int | None
    assumed: bool = False
    options: tuple[int, ...] = ()
    length: int | None = None


def choose_range(span: Range, frame: Frame) -> Pair:
    """Both ends of a range: a marker on either side covers the other (2 to 3:30 in the afternoon)."""
    starts, ends = readings(span.start), readings(span.end)
    if not starts or not ends:
        return Pair(None, None, options=night_options(span.end if starts else span.start))
    if len(starts) == 1:
        return Pair(starts[0], _next_after(starts[0], ends))
    if len(ends) == 1:
        before = [t for t in starts if t < ends[0]]
        start = before[-1] if before else starts[0]
        return Pair(start, _next_after(start, ends))
    reading = _among(tuple(sorted(starts)), frame)
    if reading.minutes is None:
        inside = [t for t in reading.options if _next_after(t, ends) <= frame.closes]
        if len(inside) != 1:
            lengths = {_next_after(t, ends) - t for t in reading.options}
            length = lengths.pop() if len(lengths) == 1 else None
            return Pair(None, None, options=reading.options, length=length)
        reading = Reading(inside[0], assumed=True)
    start = reading.minutes or 0
    return Pair(start, _next_after(start, ends), reading.assumed)


def _next_after(start: int, ends: tuple[int, ...]) -> int:
    return min(t for t in (*ends, *(t + DAY for t in ends)) if t > start)
