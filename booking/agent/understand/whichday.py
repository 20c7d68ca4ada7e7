"""Which of the days that were said is meant, and how a series and a passed hour move it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from booking.agent.understand import recurrence, zones
from booking.agent.understand.days import Day
from booking.agent.understand.months import make
from booking.agent.understand.periods import Period
from booking.agent.understand.table import Table
from booking.agent.understand.types import Found, Span


def choose_day(table: Table) -> None:
    days = list(table.facts.days)
    period = table.facts.periods[-1] if table.facts.periods else None
    if table.facts.repeat is not None:
        ends = [day for day in days if day.until]
        table.until = ends[-1].value if ends else None
        days = [day for day in days if not day.until]
        if period is not None:
            _bounds(table, period)
            period = None
    table.day = _one_day(table, days)
    if period is not None:
        _period(table, period)
    day = table.day
    if day is None:
        return
    if day.whole is not None:
        table.slots["period"] = _span_of_days(day.whole, day.span, day.rule)
    if day.value is None:
        table.ask(day.problem, "date", day.span, tuple(o.isoformat() for o in day.options))
        return
    table.slots["date"] = Found(day.value.isoformat(), day.span, day.rule, day.assumed)


def _bounds(table: Table, period: Period) -> None:
    """A series within a month, or from a week on."""
    if not period.since:
        table.until = table.until or period.last
    if period.first > table.now.date():
        first = period.first.isoformat()
        table.slots["date"] = Found(first, period.span, period.rule)


def _span_of_days(days: tuple[date, date], span: Span, rule: str) -> Found:
    return Found([days[0].isoformat(), days[1].isoformat()], span, rule)


def _period(table: Table, period: Period) -> None:
    """A week or a month: with a weekday said beside it that day of it, else too wide to book."""
    day = table.day
    if day is not None and period.rule == "period.week" and day.weekday is not None:
        value = period.first - timedelta(days=period.first.weekday()) + timedelta(days=day.weekday)
        table.day = Day("weekday", value, day.span, "date.week", weekday=day.weekday)
        return
    if day is not None and period.rule == "period.month" and day.kind == "monthday" and day.value:
        named = make(period.first.year, period.first.month, day.value.day)
        table.day = replace(day, value=named, problem="" if named else "impossible_date")
        return
    table.slots["period"] = _span_of_days((period.first, period.last), period.span, period.rule)
    if day is not None and period.rule != "period.lasting":
        return
    table.day = None
    today = table.now.date()
    if period.last < today:
        table.ask("past_date", "date", period.span, (period.last.isoformat(),))
        return
    options = tuple(option.isoformat() for option in period.offered(today))
    table.ask("vague_date", "date", period.span, options)


def _one_day(table: Table, days: list[Day]) -> Day | None:
    """The day that was meant when several expressions were used."""
    for index in range(len(days) - 1, 0, -1):
        if table.last_wins(days[index - 1].span, days[index].span):
            days = days[index:]
            break
    if len(days) < 2:
        return days[0] if days else None
    if any(day.value is None for day in days):
        return next(day for day in days if day.value is None)
    if len({day.value for day in days}) == 1:
        return min(days, key=lambda day: day.assumed)
    return _conflict(table, days)


def _conflict(table: Table, days: list[Day]) -> Day | None:
    weekdays = [day for day in days if day.weekday is not None]
    others = [day for day in days if day.weekday is None]
    span = (days[0].span[0], days[-1].span[1])
    if len(weekdays) == 1 and others and others[-1].value is not None:
        value = others[-1].value
        if value.weekday() == weekdays[0].weekday:
            return others[-1]
        readings = (value.isoformat(), weekdays[0].value.isoformat() if weekdays[0].value else "")
        table.ask("weekday_against_date", "date", span, readings)
        return None
    options = tuple(dict.fromkeys(day.value.isoformat() for day in days if day.value))
    table.ask("ambiguous_date", "date", span, options)
    return None


def settle_series(table: Table) -> None:
    """The rule, and its first day: the first that fits and whose hour is still ahead."""
    repeat = table.facts.repeat
    if repeat is None:
        return
    said = table.known_date()
    rule = recurrence.rule(repeat, table.until, said or table.now.date())
    start = table.known_start()
    first = first_day(rule, said, start, table.now)
    if first is None:
        table.slots.pop("date", None)
        table.ask("impossible_date", "date", repeat.span)
        return
    table.slots["recurrence"] = Found(rule, repeat.span, "recurrence.rule")
    named = "date" in table.slots and first == said
    span = table.slots["date"].span if "date" in table.slots else repeat.span
    table.slots["date"] = Found(first.isoformat(), span, "date.first_of_series", assumed=not named)


def first_day(
    rule: dict[str, Any], said: date | None, start: str | None, now: datetime
) -> date | None:
    """The first day of a series that is not over yet."""
    begin = max(said or now.date(), now.date())
    for day in recurrence.days_from({**rule, "count": None}, begin):
        if day > now.date() or start is None or zones.minutes(start) > zones.minute_of(now):
            return day
    return None


def assume_today(table: Table) -> None:
    """P2, and a bare weekday or day of the month whose hour has passed moves on."""
    start = table.slots.get("start_time")
    held = table.draft.get("start_time")
    clock = start.value if start else held
    passed = clock is not None and zones.minutes(clock) < zones.minute_of(table.now)
    today = table.now.date()
    found = table.slots.get("date")
    if found is not None:
        later = table.day.later if table.day else None
        if (
            later
            and passed
            and found.value == today.isoformat()
            and found.rule != "date.first_of_series"
        ):
            table.slots["date"] = Found(later.isoformat(), found.span, found.rule, assumed=True)
        return
    if not table.may_assume_today or table.known_date() is not None or table.facts.days:
        return
    if table.facts.repeat is not None:
        return
    if start is not None:
        _today_for(table, start.span, passed=zones.minutes(start.value) < _on_grid(table))
        return
    window = table.slots.get("window")
    if window is not None and zones.minutes(window.value[1]) > zones.minute_of(table.now):
        table.slots["date"] = Found(today.isoformat(), window.span, "date.today", assumed=True)


def _on_grid(table: Table) -> int:
    now = zones.minute_of(table.now)
    return now - now % table.hours.grid_minutes if table.facts.offset else now


def _today_for(table: Table, span: Span, *, passed: bool) -> None:
    today = table.now.date()
    if passed:
        table.ask("past_time", "date", span, ((today + timedelta(days=1)).isoformat(),))
    else:
        table.slots["date"] = Found(today.isoformat(), span, "date.today", assumed=True)
