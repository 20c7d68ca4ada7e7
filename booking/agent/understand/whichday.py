"""Which of the days that were said is meant, and how a series and a passed hour move it."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from booking.agent.understand import recurrence, zones
from booking.agent.understand.dates import Day
from booking.agent.understand.table import Table
from booking.agent.understand.types import Found, Span


def choose_day(table: Table) -> None:
    days = list(table.facts.days)
    if table.facts.repeat is not None:
        ends = [day for day in days if day.until]
        table.until = ends[-1] if ends else None
        days = [day for day in days if not day.until]
    table.day = _one_day(table, days)
    day = table.day
    if day is None:
        return
    if day.value is None:
        table.ask(day.problem, "date", day.span, tuple(o.isoformat() for o in day.options))
        return
    table.slots["date"] = Found(day.value.isoformat(), day.span, day.rule, day.assumed)


def _one_day(table: Table, days: list[Day]) -> Day | None:
    """The day that was meant when several expressions were used."""
    clear = [day for day in days if day.kind != "vague"]
    if len(clear) < len(days) and len(clear) == 1:
        clear = [_in_week(clear[0], next(d for d in days if d.kind == "vague"))]
    days = clear or days[:1]
    if len(days) < 2:
        return days[0] if days else None
    if any(day.value is None for day in days):
        return next(day for day in days if day.value is None)
    if len({day.value for day in days}) == 1:
        return min(days, key=lambda day: day.assumed)
    if table.last_wins(days[-2].span, days[-1].span):
        return days[-1]
    return _conflict(table, days)


def _in_week(day: Day, vague: Day) -> Day:
    """下周的…周三: a weekday within the week that was named apart from it."""
    if day.weekday is None or len(vague.options) < 2 or vague.rule != "date.week_only":
        return day
    start = vague.options[1] - timedelta(days=vague.options[1].weekday())
    return Day(
        "weekday", start + timedelta(days=day.weekday), day.span, "date.week", weekday=day.weekday
    )


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
    until = table.until.value if table.until else None
    rule = recurrence.rule(repeat, until, said or table.now.date())
    table.slots["recurrence"] = Found(rule, repeat.span, "recurrence.rule")
    start = table.known_start()
    first = first_day(rule, said, start, table.now)
    if first is not None:
        named = "date" in table.slots and first == said
        span = table.slots["date"].span if "date" in table.slots else repeat.span
        table.slots["date"] = Found(
            first.isoformat(), span, "date.first_of_series", assumed=not named
        )


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
