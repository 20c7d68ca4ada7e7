"""Days with a name of their own: holidays, the first Friday of July, the end of the month."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta

from booking.agent.understand import numerals
from booking.agent.understand.days import Day, exact, impossible, next_month_day
from booking.agent.understand.months import (
    WEEKDAY_ZH,
    YEAR,
    YEAR_ZH,
    make,
    monday,
    month_en,
    month_end,
    month_shift,
    nth_weekday,
    week_shift,
    weekday_en,
    year_zh,
)

NEAR_MONTH_END = 3  # "the end of the month" said on the last three days may mean either month
_MONTH_END_DAYS = 7

_DAYS = {
    (1, 1): r"元旦节?|(?<![a-z])new year'?s? day(?![a-z])",
    (2, 14): r"情人节|(?<![a-z])valentine'?s(?: day)?(?![a-z])",
    (3, 8): r"妇女节",
    (5, 1): r"(?<![周期拜])五一(?!点|个|起)|劳动节|(?<![a-z])(?:may|labou?r) day(?![a-z])",
    (6, 1): r"儿童节|(?<![周期拜])六一(?!点|个|起)",
    (10, 1): r"十一(?!点|月|个|人|号|日|层|楼|时|分)(?=假期|长假|当天|那天)|国庆节?|(?<![a-z])national day(?![a-z])",
    (10, 31): r"(?<![a-z])hallowe'?en(?![a-z])|万圣节",
    (12, 24): r"平安夜|(?<![a-z])(?:christmas|xmas) eve(?![a-z])",
    (12, 25): r"圣诞节?|(?<![a-z])(?:christmas|xmas)(?: day)?(?![a-z])",
    (12, 31): r"除夕夜?(?=跨年)|跨年夜?|(?<![a-z])new year'?s eve(?![a-z])",
}  # fmt: skip
_NAMES = "|".join(f"(?P<on{month}_{day}>{words})" for (month, day), words in _DAYS.items())
HOLIDAY = re.compile(rf"{YEAR_ZH}?(?:{_NAMES})(?:,? ?(?:in |of )?(?P<y2>{YEAR}))?(?!\d)")


def holiday(match: re.Match[str], today: date) -> Day:
    month, day = next(at for at in _DAYS if match[f"on{at[0]}_{at[1]}"])
    year = year_zh(match["y"], today) if match["y"] else int(match["y2"] or 0)
    if year:
        found = exact(match, make(year, month, day), today, "date.named")
    else:
        found = next_month_day(match, month, day, today)
    return replace(found, kind="named", rule="date.named")


def nth_weekday_of(match: re.Match[str], today: date) -> Day | None:
    """八月的第一个周二, the last Friday of July."""
    groups = match.groupdict()
    word, english = match["w"], groups.get("mon")
    month = month_en(english) if english else numerals.read(match["m"])
    weekday = weekday_en(word) if english else WEEKDAY_ZH[word]
    if month is None or not 1 <= month <= 12:
        return impossible(match)
    nth = (numerals.read_ordinal(match["n"]) if english else numerals.read(match["n"])) or 0
    for year in (today.year, today.year + 1):
        if (value := nth_weekday(year, month, weekday, nth)) >= today:
            return Day("date", value, match.span(), "date.nth_weekday")
    return None


def end_of_month(match: re.Match[str], today: date) -> Day | None:
    end = month_end(today, months=month_shift(match.group()))
    if end.month == today.month and (end - today).days < NEAR_MONTH_END:
        both = (end, month_end(today, months=1))
        return Day("named", None, match.span(), "date.month_end", problem="ambiguous_date",
                   options=both)  # fmt: skip
    return _last_of(match, end)


def day_of_month(match: re.Match[str], today: date) -> Day | None:
    """The first or the last day of a month that is named."""
    said = match["rel"] or match["rel2"] or ""
    month = numerals.read(match["zm"]) if match["zm"] else 0
    if match["mon"]:
        month = month_en(match["mon"])
    if month is None or month > 12:
        return impossible(match)
    end = month_end(today, months=month_shift(said))
    if month:
        year = year_zh(match["y"], today) if match["y"] else today.year + (month < today.month)
        end = month_end(date(year, month, 1))
    is_last = match["last"] or match["last2"]
    return exact(match, end if is_last else end.replace(day=1), today, "date.day_of_month")


def _last_of(match: re.Match[str], end: date) -> Day:
    whole = (end - timedelta(days=_MONTH_END_DAYS - 1), end)
    return Day("named", end, match.span(), "date.month_end", assumed=True, whole=whole)


def end_of_named_month(match: re.Match[str], today: date) -> Day | None:
    month = numerals.read(match["zm"]) if match["zm"] else month_en(match["mon"])
    if month is None or not 1 <= month <= 12:
        return impossible(match)
    year = today.year + (month < today.month)
    if match["y"]:
        year = year_zh(match["y"], today)
    return _last_of(match, month_end(date(year, month, 1)))


def end_of_year(match: re.Match[str], today: date) -> Day | None:
    return Day("named", date(today.year, 12, 31), match.span(), "date.year_end", assumed=True)


def end_of_week(match: re.Match[str], today: date) -> Day | None:
    friday = monday(today) + timedelta(weeks=week_shift(match.group()), days=4)
    return Day("named", max(friday, today), match.span(), "date.week_end", assumed=True)
