"""A day that words name, and how its parts are read: numbers, months, so many weeks on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from booking.agent.understand import numerals
from booking.agent.understand.months import make, month_end, months_later
from booking.agent.understand.types import Span


@dataclass(frozen=True, slots=True)
class Day:
    """One expression for a day. Exactly one of `value` and `problem` is set.

    `kind`: weekday, monthday, date, relative or named. Weekdays and month days without a week or
    a month move on to `later` when today's hour has passed. `until` days end a series, `since`
    days begin one. `whole` is the span of days the words name when the day is only their last.
    """

    kind: str
    value: date | None
    span: Span
    rule: str
    assumed: bool = False
    problem: str = ""
    options: tuple[date, ...] = ()
    later: date | None = None
    weekday: int | None = None
    until: bool = False
    since: bool = False
    whole: tuple[date, date] | None = None


Reader = Callable[[re.Match[str], date], Day | None]


def impossible(match: re.Match[str]) -> Day:
    return Day("date", None, match.span(), "date.none", problem="impossible_date")


def exact(match: re.Match[str], value: date | None, today: date, rule: str) -> Day:
    if value is None:
        return impossible(match)
    if value < today:
        return Day("date", None, match.span(), rule, problem="past_date", options=(value,))
    return Day("date", value, match.span(), rule)


def next_month_day(match: re.Match[str], month: int, day: int, today: date) -> Day:
    """The next such day from today; refused when the month can never have it this time round."""
    this = make(today.year, month, day)
    if this is not None and this >= today:
        return Day("date", this, match.span(), "date.month_day")
    value = make(today.year + 1, month, day)
    return Day("date", value, match.span(), "date.month_day") if value else impossible(match)


def day_number(said: str) -> int | None:
    """3, 3rd, third, twenty one, twenty-first."""
    if said.isdigit():
        return int(said)
    return numerals.read_ordinal(said) or numerals.read_en(said)


def next_monthday(day: int, begin: date) -> tuple[date, int]:
    """The first such day of a month from `begin` on, and how many months later that is."""
    for months in range(4):
        end = month_end(begin, months=months)
        value = make(end.year, end.month, day)
        if value is not None and value >= begin:
            return value, months
    raise ValueError(day)


def later_by(said: str, unit: str, base: date) -> date | None:
    """`base` and so many days, weeks, fortnights or months; None beyond 400 of them."""
    if said == "半" and unit[0] == "月":
        return base + timedelta(days=15)
    count = {"a": 1, "one": 1, "couple": 2}.get(
        said.strip(), None if said == "半" else numerals.read(said)
    )
    if count is None or count > 400:
        return None
    if unit[0] in "m月":
        return months_later(base, count)
    days = 14 if unit[0] == "f" else 7 if unit[0] in "周星礼w" else 1
    return base + timedelta(days=count * days)
