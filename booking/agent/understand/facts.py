"""Everything the grammars find in one text, before any rule decides what was meant.

The order is the point: a title is data; a repetition would be lost as a date; 半小时 would become
half past; 下午2点8人 would become 14:08.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime

from booking.agent.understand import (
    clock,
    dates,
    durations,
    names,
    people,
    periods,
    places,
    recurrence,
    shifts,
    titles,
    zones,
)
from booking.agent.understand.days import Day
from booking.agent.understand.normalise import Scan, clauses, mask
from booking.agent.understand.types import Found, Lexicon, Problem, Span

MOST_TIMES = 6


@dataclass(frozen=True, slots=True)
class Facts:
    rest: str
    title: Found | None
    kind: Found | None
    repeat: recurrence.Repeat | None
    offset: shifts.Offset | None
    moves: tuple[shifts.Shift, ...]
    lengths: tuple[durations.Length, ...]
    all_day: Span | None
    heads: tuple[people.Heads, ...]
    places: tuple[places.Place, ...]
    zone: Found | None
    days: tuple[Day, ...]
    periods: tuple[periods.Period, ...]
    points: tuple[clock.Point, ...]
    ranges: tuple[clock.Range, ...]
    parts: tuple[clock.Part, ...]
    on_behalf: names.Named | None
    same_room: Found | None
    problems: tuple[Problem, ...]

    @property
    def has_time(self) -> bool:
        return bool(self.points or self.ranges or self.offset or self.all_day)


def gather(folded: str, said: str, *, lexicon: Lexicon, now: datetime) -> Facts:
    """Run every grammar once over a folded text; `said` is the same text as typed."""
    scan = Scan(folded)
    title = titles.find_explicit(scan, said)
    on_behalf = names.find_on_behalf(scan.text, lexicon)
    same_room = titles.find_same_room(scan, lexicon.own)
    repeat = recurrence.find(scan)
    rooms, problems = places.find_codes(scan, lexicon, said)
    offset, moves, lengths, unclear = _lengths(scan)
    all_day = durations.find_all_day(scan)
    heads = people.find(scan)
    areas, unknown = places.find_areas(scan, lexicon, said)
    features = places.find_features(scan, lexicon)
    rooms += places.find_numbers(scan, lexicon)
    zone = zones.find(scan)
    days, spans, whole_days = _days(scan, now.date())
    day_moves = [move for length in whole_days if (move := shifts.is_shift(length, scan))]
    moves += tuple(day_moves)
    lengths += whole_days if not day_moves else ()
    points, ranges = clock.find(scan)
    parts = clock.find_parts(scan)
    offset = offset or shifts.find_now(scan)
    if not rooms:
        rooms = names.find_rooms(scan, lexicon)
    facts = Facts(
        rest=scan.text,
        title=title,
        kind=titles.find_kind(scan, said),
        repeat=repeat,
        offset=offset,
        moves=moves,
        lengths=lengths,
        all_day=all_day,
        heads=heads,
        places=(*rooms, *areas, *features),
        zone=zone,
        days=days,
        periods=spans,
        points=points,
        ranges=ranges,
        parts=parts,
        on_behalf=on_behalf,
        same_room=same_room,
        problems=(*problems, *unknown, *unclear),
    )
    return _capped(facts, folded)


def _lengths(
    scan: Scan,
) -> tuple[
    shifts.Offset | None,
    tuple[shifts.Shift, ...],
    tuple[durations.Length, ...],
    tuple[Problem, ...],
]:
    offset: shifts.Offset | None = None
    moves, lengths, unclear = [], [], []
    for length in durations.find(scan):
        if offset is None and (ahead := shifts.is_offset(length, scan)):
            offset = ahead
            scan.take(ahead.span)
        elif shifts.is_either_way(length, scan):
            unclear.append(Problem("ambiguous_time", "start_time", length.span))
        elif shift := shifts.is_shift(length, scan):
            moves.append(shift)
            scan.take(shift.span)
        else:
            lengths.append(length)
    return offset, tuple(moves), tuple(lengths), tuple(unclear)


def _days(
    scan: Scan, today: date
) -> tuple[tuple[Day, ...], tuple[periods.Period, ...], tuple[durations.Length, ...]]:
    """Single days, spans of days, and lengths in days; days that belong to a span are not single."""
    explicit = periods.find_explicit(scan, today)
    days, lengths = dates.find(scan, today), durations.find_days(scan)
    found, days = periods.find(scan, days, today)
    if lengths and (lasting := periods.lasting(days, lengths[0])):
        found.append(lasting)
    return days, tuple(sorted(explicit + found, key=lambda span: span.span)), lengths


def _capped(facts: Facts, folded: str) -> Facts:
    """A clause with more than MOST_TIMES times is asked about, not read."""
    spans: list[Span] = [day.span for day in facts.days]
    spans += [period.span for period in facts.periods]
    spans += [point.span for point in facts.points] + [both.span for both in facts.ranges]
    spans += [length.span for length in facts.lengths]
    if len(spans) <= MOST_TIMES:
        return facts
    over = [c for c in clauses(folded) if sum(c[0] <= s[0] < c[1] for s in spans) > MOST_TIMES]
    if not over:
        return facts

    def keep(span: Span) -> bool:
        return not any(start <= span[0] < end for start, end in over)

    rest = facts.rest
    for start, end in over:
        rest = mask(rest, start, end)
    return replace(
        facts,
        rest=rest,
        days=tuple(x for x in facts.days if keep(x.span)),
        periods=tuple(x for x in facts.periods if keep(x.span)),
        points=tuple(x for x in facts.points if keep(x.span)),
        ranges=tuple(x for x in facts.ranges if keep(x.span)),
        lengths=tuple(x for x in facts.lengths if keep(x.span)),
        problems=(*facts.problems, *(Problem("too_many_times", "start_time", c) for c in over)),
    )
