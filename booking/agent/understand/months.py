"""The words of the calendar: month and weekday names, and the arithmetic of months and weeks.

Weeks start on Monday. Nothing is clamped: a day that does not exist is None.
"""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta

from booking.agent.understand import numerals

WEEKDAY_EN = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:s|nesday|nsday|nesdy)?|thu(?:r(?:s(?:day)?)?)?|thrusday"
    r"|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
WEEKDAY_ZH = {c: n for n, c in enumerate("一二三四五六日")} | {"天": 6}
WEEKDAY_ZH |= {str(n): n - 1 for n in range(1, 8)}
WEEK_ZH = r"(?:周|星期|礼拜)"
MONTH_EN = (
    r"(?P<mon>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
NUM_ZH = r"(?:\d{1,2}|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
YEAR_ZH = r"(?:(?P<y>今年|明年|后年|去年|(?:(?:19|20)\d\d|(?<!\d)\d\d|(?:一九|二[零〇])[零〇一二三四五六七八九]{2})年)的?\s?)"
YEAR = r"(?:19|20)\d\d"
_WEEKDAYS = ("mo", "tu", "we", "th", "fr", "sa", "su")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEARS = {"去年": -1, "今年": 0, "明年": 1, "后年": 2}
_JOIN_EN = r"(?:to|through|thru|until|till?|up to)(?: and including)?"
TO = rf"\s?(?:到|至|-|~|(?<![a-z]){_JOIN_EN}(?![a-z]))\s?(?:the )?"


def weekday_en(word: str) -> int:
    return _WEEKDAYS.index(word[:2])


def month_en(word: str) -> int:
    return _MONTHS.index(word[:3]) + 1


def year_zh(said: str, today: date) -> int:
    """今年, 2027年, 二零二七年, 98年: two digits mean the year nearest to today."""
    if said in _YEARS:
        return today.year + _YEARS[said]
    digits = "".join(str(numerals.ZH_DIGITS.get(c, c)) for c in said.removesuffix("年"))
    if len(digits) == 4:
        return int(digits)
    century = today.year // 100 * 100
    return min(
        (century + int(digits) + n * 100 for n in (-1, 0, 1)), key=lambda y: abs(y - today.year)
    )


def make(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def month_end(day: date, *, months: int = 0) -> date:
    """The last day of the month, `months` on from the one of `day`."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, calendar.monthrange(year, month + 1)[1])


def months_later(day: date, months: int) -> date:
    """The same day of a later month, or that month's last."""
    end = month_end(day, months=months)
    return end.replace(day=min(day.day, end.day))


def month_shift(said: str) -> int:
    """How many months on 下个月, next month, 上个月 are; 0 for this one."""
    text = said.lower()
    if "上" in text or "last" in text:
        return -1
    return text.count("下") or int(bool(re.search("next|following", text)))


def week_shift(said: str) -> int:
    text = said.lower()
    if "上" in text or "last" in text:
        return -1
    if "after next" in text:
        return 2
    return text.count("下") or int(bool(re.search("next|following|coming", text)))


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """The nth such weekday of a month; 0 the last."""
    first = date(year, month, 1)
    value = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * ((nth or 4) - 1))
    if nth == 0 and (value + timedelta(weeks=1)).month == month:
        value += timedelta(weeks=1)
    return value
