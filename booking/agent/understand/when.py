"""When: puts dates, clock words, durations and the draft together (P1-P8).

Cross-checks come last: a contradiction takes both values out and asks, showing both readings.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta

from booking.agent.understand import durations, hours, overnight, zones
from booking.agent.understand.clock import Point, Range
from booking.agent.understand.facts import Facts
from booking.agent.understand.shifts import Offset
from booking.agent.understand.table import Table
from booking.agent.understand.types import DraftView, Found, OpeningHours, Problem, Span
from booking.agent.understand.whichday import assume_today, choose_day, settle_series

_SOME_TIME = re.compile(
    r"之间|期间|中间|(?<![a-z])(?:between|any ?time|some ?time|somewhere)(?![a-z])"
)


def decide(
    facts: Facts,
    said: str,
    *,
    now: datetime,
    opening: OpeningHours,
    draft: DraftView,
    may_assume_today: bool,
) -> tuple[dict[str, Found], list[Problem]]:
    """The time slots of one message. Without `may_assume_today` an open date stays open."""
    table = Table(facts, said, now, opening, draft, may_assume_today)
    stay = overnight.find(facts, said)
    if stay is not None:
        _stay(table, stay)
    else:
        choose_day(table)
    _lengths(table)
    _window(table)
    if stay is None:
        _clock(table)
    _all_day(table)
    _range_against_duration(table)
    settle_series(table)
    assume_today(table)
    return table.slots, table.problems


def _stay(table: Table, stay: overnight.Stay) -> None:
    """A time over midnight keeps its length; over a day it is no booking, and is asked about."""
    first = stay.first
    table.day = first
    if first.value is not None:
        table.slots["date"] = Found(first.value.isoformat(), first.span, first.rule, first.assumed)
    for slot, point in (("start_time", stay.start), ("duration_minutes", stay.end)):
        if not point.possible:
            table.ask("impossible_time", slot, point.span)
            return
    begin = hours.choose(stay.start, _frame(table))
    if begin.minutes is None:
        table.ask("ambiguous_time", "start_time", stay.start.span, _clocks(begin.options))
        table.ask("impossible_duration", "duration_minutes", stay.span)
        return
    _set_start(table, begin.minutes, stay.start.span, "start.range", assumed=begin.assumed)
    opens, closes = hours.minutes_of(table.hours)
    finish = hours.choose(stay.end, hours.Frame(opens, closes)).minutes
    length = None if finish is None else stay.minutes(begin.minutes, finish)
    if length is None or length > hours.DAY:
        table.ask("impossible_duration", "duration_minutes", stay.span)
    else:
        table.range = (length, stay.span)


def _lengths(table: Table) -> None:
    for shift in table.facts.moves:
        table.slots[shift.kind] = Found(shift.minutes, shift.span, f"{shift.kind}.said")
    read = [durations.value_of(_known(table, length), table.said) for length in table.facts.lengths]
    values = [item for item in read if isinstance(item, Found)]
    table.problems += [item for item in read if isinstance(item, Problem)]
    if not values:
        return
    last = values[-1]
    differ = len({value.value for value in values}) > 1
    if differ and not table.last_wins(values[0].span, last.span):
        span = (values[0].span[0], last.span[1])
        options = tuple(dict.fromkeys(value.value for value in values))
        table.ask("ambiguous_duration", "duration_minutes", span, options)
        return
    table.slots["duration_minutes"] = last


def _known(table: Table, length: durations.Length) -> durations.Length:
    """半天 is half of the opening hours."""
    if length.rule != "duration.half_day":
        return length
    opens, closes = hours.minutes_of(table.hours)
    return replace(length, minutes=(closes - opens) / 2)


def _window(table: Table) -> None:
    parts = table.facts.parts
    if not parts:
        return
    part = parts[-1]
    if part.days is not None and "date" not in table.slots and not table.facts.days:
        day = table.now.date() + timedelta(days=part.days)
        table.slots["date"] = Found(day.isoformat(), part.span, "date.relative")
    low, high = hours.window_of(part.name, table.hours)
    value = [zones.clock(low), zones.clock(high)]
    table.slots["window"] = Found(value, part.span, f"window.{part.name}")


def _frame(table: Table) -> hours.Frame:
    opens, closes = hours.minutes_of(table.hours)
    known = table.known_date()
    today = known is None or known == table.now.date()
    earliest = zones.minute_of(table.now) if today and table.facts.repeat is None else 0
    held = table.draft.get("start_time")
    window = table.slots["window"].value if "window" in table.slots else table.draft.get("window")
    limits = tuple(zones.minutes(t) for t in window) if window else None
    afternoon = None if held is None else zones.minutes(held) >= hours.NOON
    if zone := table.zone:
        return _zone_frame(table, zone, opens, closes)
    return hours.Frame(
        opens, closes, earliest, (limits[0], limits[1]) if limits else None, afternoon
    )


def _zone_frame(table: Table, zone: str, opens: int, closes: int) -> hours.Frame:
    """Opening hours as that other zone's clock shows them, where they do not wrap round midnight."""
    shift = zones.minute_of(
        zones.from_rooms(zones.midnight_plus(table.now, opens), zone, table.now)
    )
    return hours.Frame(shift, shift + closes - opens)


def _clock(table: Table) -> None:
    facts = table.facts
    if facts.offset is not None:
        _offset(table, facts.offset)
        return
    points = [_coloured(p, facts) for p in facts.points if _usable(table, p)]
    ranges = [
        replace(r, start=_coloured(r.start, facts))
        for r in facts.ranges
        if _usable(table, r.start) and _usable(table, r.end)
    ]
    for role, rule in (("after", 0), ("before", 1)):
        for point in [p for p in points if p.role == role]:
            _bound(table, point, rule)
    starts = [p for p in points if p.role == "start"]
    ends = [p for p in points if p.role == "end"]
    if ranges:
        _take_range(table, ranges)
    elif starts:
        _take_start(table, starts)
    if ends and not ranges:
        _take_end(table, ends[-1])


def _offset(table: Table, offset: Offset) -> None:
    """A start counted from now, or from the one that is known: an hour later."""
    if _is_a_filler(table):
        return
    if offset.rule == "start.later" and table.known_start():
        table.slots["start_change"] = Found(offset.minutes, offset.span, "start_change.said")
    elif offset.rule == "window.ahead":
        _ahead(table, offset)
    else:
        _from_now(table, offset)


def _is_a_filler(table: Table) -> bool:
    """We are 8 now, 现在改成10个人: where a start is known and something else is said."""
    facts = table.facts
    if facts.offset is None or facts.offset.rule != "start.now":
        return False
    beside = facts.heads or facts.lengths or facts.places
    return bool(beside and table.draft.get("start_time") is not None)


def _coloured(point: Point, facts: Facts) -> Point:
    """Tonight at 7, 10 tomorrow evening: a part of the day said apart holds for the hour."""
    names = {part.name for part in facts.parts}
    if point.part or point.exact or point.hour > 12 or len(names) != 1:
        return point
    return replace(point, part=names.pop())


def _usable(table: Table, point: Point) -> bool:
    if point.possible:
        return True
    slot = "duration_minutes" if point.role == "end" else "start_time"
    table.ask("impossible_time", slot, point.span)
    return False


def _ahead(table: Table, offset: Offset) -> None:
    """The next three hours: a window that begins now."""
    now = zones.minute_of(table.now)
    window = [zones.clock(now), zones.clock(min(now + offset.minutes, hours.DAY - 1))]
    table.slots["window"] = Found(window, offset.span, offset.rule)
    table.slots["date"] = Found(table.now.date().isoformat(), offset.span, "date.from_now")


def _from_now(table: Table, offset: Offset) -> None:
    grid = table.hours.grid_minutes
    moment = table.now.replace(tzinfo=None, second=0, microsecond=0) + timedelta(
        minutes=offset.minutes
    )
    minutes = zones.minute_of(moment)
    rounding = 0 if offset.rule == "start.now" else grid // 2
    snapped = (minutes + rounding) // grid * grid
    start = zones.midnight_plus(moment, snapped)
    table.slots["start_time"] = Found(
        zones.clock(zones.minute_of(start)), offset.span, offset.rule, assumed=snapped != minutes
    )
    if "date" not in table.slots:
        table.slots["date"] = Found(start.date().isoformat(), offset.span, "date.from_now")
    table.slots.pop("window", None)


def _bound(table: Table, point: Point, side: int) -> None:
    """After 3 pm / before 5 pm: a window, not a start."""
    reading = hours.choose(point, _frame(table))
    if reading.minutes is None:
        return
    opens, closes = hours.minutes_of(table.hours)
    low, high = (reading.minutes, closes) if side == 0 else (opens, reading.minutes)
    if held := table.slots.get("window"):
        low, high = max(low, zones.minutes(held.value[0])), min(high, zones.minutes(held.value[1]))
    if low < high:
        table.slots["window"] = Found(
            [zones.clock(low), zones.clock(high)], point.span, "window.bound"
        )


def _take_start(table: Table, starts: list[Point]) -> None:
    starts = _carried(starts)
    point = starts[-1]
    readings = [hours.choose(p, _frame(table)) for p in starts]
    values = {reading.minutes for reading in readings}
    if len(values) > 1 and not table.last_wins(starts[0].span, point.span):
        options = tuple(
            zones.clock(m % hours.DAY) for m in sorted(v for v in values if v is not None)
        )
        table.ask("ambiguous_time", "start_time", (starts[0].span[0], point.span[1]), options)
        return
    reading = readings[-1]
    if reading.minutes is None:
        table.ask("ambiguous_time", "start_time", point.span, _clocks(reading.options))
        return
    _set_start(table, reading.minutes, point.span, "start.clock", assumed=reading.assumed)


def _carried(starts: list[Point]) -> list[Point]:
    """下午3点，不对，4点: the half of the day holds for the hour that replaces it."""
    first, last = starts[0], starts[-1]
    if first.part and not last.part and not last.exact:
        return [*starts[:-1], replace(last, part=first.part)]
    return starts


def _clocks(options: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(zones.clock(option % hours.DAY) for option in options)


def _set_start(table: Table, minutes: int, span: Span, rule: str, *, assumed: bool) -> None:
    """Store a start; a time in another zone, or midnight, may move the date."""
    zone = table.zone
    known = table.known_date()
    base = known or table.now.date()
    moment = zones.midnight_plus(datetime(base.year, base.month, base.day), minutes)  # noqa: DTZ001
    if zone is not None:
        moment = zones.to_rooms(moment, zone, table.now)
        table.slots["input_timezone"] = table.facts.zone or Found(zone, span, "input_timezone.name")
    table.slots["start_time"] = Found(zones.clock(zones.minute_of(moment)), span, rule, assumed)
    if moment.date() != base and known is not None:
        held = table.slots.get("date") or Found(None, span, "date.draft")
        table.slots["date"] = Found(
            moment.date().isoformat(), held.span, "date.next_day", assumed=True
        )
    table.slots.pop("window", None)


def _take_range(table: Table, ranges: list[Range]) -> None:
    span = ranges[-1]
    if len(ranges) > 1 and not table.last_wins(ranges[0].span, span.span):
        options = tuple(
            zones.clock(pair.start % hours.DAY)
            for r in ranges
            if (pair := hours.choose_range(r, _frame(table))).start is not None
        )
        table.ask("ambiguous_time", "start_time", (ranges[0].span[0], span.span[1]), options)
        return
    pair = hours.choose_range(span, _frame(table))
    if pair.start is None or pair.end is None:
        table.ask("ambiguous_time", "start_time", span.span, _clocks(pair.options))
        if pair.length is not None:
            table.range = (pair.length, span.span)
        return
    length = pair.end - pair.start
    said = table.slots.get("duration_minutes")
    if said and said.value < length and _SOME_TIME.search(table.said.lower()):
        window = [zones.clock(pair.start), zones.clock(min(pair.end, hours.DAY - 1))]
        table.slots["window"] = Found(window, span.span, "window.range")
        return
    _set_start(table, pair.start, span.start.span, "start.range", assumed=pair.assumed)
    table.range = (length, span.span)


def _take_end(table: Table, point: Point) -> None:
    """An end on its own: it gives the duration when the start is known, else it waits (P7)."""
    start = (
        table.slots["start_time"].value
        if "start_time" in table.slots
        else table.draft.get("start_time")
    )
    after = zones.minutes(start) if start else None
    reading = hours.choose(point, _frame(table), after=after)
    if reading.minutes is None:
        table.ask("ambiguous_time", "duration_minutes", point.span, _clocks(reading.options))
    elif after is not None and "start_time" in table.slots:
        table.range = (reading.minutes - after, point.span)
    else:
        table.slots["end_time"] = Found(
            zones.clock(reading.minutes % hours.DAY), point.span, "end.clock", reading.assumed
        )


def _all_day(table: Table) -> None:
    span = table.facts.all_day
    if span is None or (table.facts.has_time and "start_time" in table.slots):
        return
    opens, closes = hours.minutes_of(table.hours)
    table.slots["start_time"] = Found(zones.clock(opens), span, "start.all_day", assumed=True)
    table.slots["duration_minutes"] = Found(closes - opens, span, "duration.all_day", assumed=True)


def _range_against_duration(table: Table) -> None:
    if table.range is None:
        return
    length, span = table.range
    said = table.slots.get("duration_minutes")
    if any(problem.slot == "duration_minutes" for problem in table.problems):
        return
    if said is None or said.value == length:
        table.slots["duration_minutes"] = Found(length, span, "duration.range")
        return
    whole = (min(span[0], said.span[0]), max(span[1], said.span[1]))
    del table.slots["duration_minutes"]
    table.ask("range_against_duration", "duration_minutes", whole, (length, said.value))
