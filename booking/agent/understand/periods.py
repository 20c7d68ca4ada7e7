"""Spans of days: 下周, this weekend, 三月, July 13 to 15, 从周一到周三, the next three days.

A period answers a question ("what do I have this week?") and ends a series; for a booking it is
too wide and is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

from booking.agent.understand import numerals
from booking.agent.understand.days import Day, day_number, next_monthday
from booking.agent.understand.durations import DAY, Length
from booking.agent.understand.months import (
    MONTH_EN,
    NUM_ZH,
    TO,
    WEEK_ZH,
    YEAR,
    YEAR_ZH,
    make,
    monday,
    month_en,
    month_end,
    month_shift,
    months_later,
    week_shift,
    year_zh,
)
from booking.agent.understand.normalise import Scan
from booking.agent.understand.types import Span

_WORKDAYS = 5


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `first` to `last`, both included. `since`: only its beginning was meant."""

    first: date
    last: date
    span: Span
    rule: str
    since: bool = False

    def offered(self, today: date) -> tuple[date, date]:
        """The days to name when one of them is asked for: of a week, the working days."""
        last = self.last
        if self.rule == "period.week" and (self.last - self.first).days >= _WORKDAYS:
            last = monday(self.first) + timedelta(days=_WORKDAYS - 1)
        return max(self.first, today), max(last, today)


_Reader = Callable[[re.Match[str], date], Period | None]


def _month_of(match: re.Match[str], today: date) -> date | None:
    """The first day of the month that was named: 三月, 下个月, 明年3月, Dec 2018, next month."""
    groups = match.groupdict()
    month = None
    if groups.get("zm"):
        month = numerals.read(match["zm"])
    elif groups.get("mon"):
        month = month_en(match["mon"])
    else:
        return month_end(today, months=month_shift(groups.get("rel") or "")).replace(day=1)
    if month is None or not 1 <= month <= 12:
        return None
    if said := groups.get("y"):
        return date(year_zh(said, today), month, 1)
    if said := groups.get("y2"):
        return date(int(said), month, 1)
    return date(today.year + (month < today.month), month, 1)


def _whole_month(match: re.Match[str], today: date) -> Period | None:
    first = _month_of(match, today)
    return Period(first, month_end(first), match.span(), "period.month") if first else None


_PARTS = {"early": (1, 10), "middle": (11, 20), "late": (21, 31), "start": (1, 7), "mid": (10, 20)}
_PART_WORDS = {"上旬": "early", "中旬": "middle", "下旬": "late", "初": "start"}
_PART_WORDS |= {"beginning": "start", "start": "start", "early": "early", "late": "late"}


def _month_part(match: re.Match[str], today: date) -> Period | None:
    first = _month_of(match, today)
    if first is None:
        return None
    low, high = _PARTS[_PART_WORDS.get(match["part"], "mid")]
    end = month_end(first)
    last = end.replace(day=min(high, end.day))
    if last < today and not match.groupdict().get("rel"):
        return None
    return Period(first.replace(day=low), last, match.span(), "period.month_part")


def _nth_week(match: re.Match[str], today: date) -> Period | None:
    """第三周: the weeks of a month begin on its first Monday."""
    first = _month_of(match, today)
    said = match["n"]
    nth = (numerals.read(said) or numerals.read_ordinal(said) or 0) if said != "last" else 0
    if first is None or nth > 5:
        return None
    start = first + timedelta(days=-first.weekday() % 7, weeks=(nth or 4) - 1)
    if nth == 0 and (start + timedelta(weeks=1)).month == first.month:
        start += timedelta(weeks=1)
    return Period(start, start + timedelta(days=6), match.span(), "period.nth_week")


def _week(match: re.Match[str], today: date) -> Period | None:
    first = monday(today) + timedelta(weeks=week_shift(match.group()))
    last = first + timedelta(days=6)
    if match["rest"] or match["rest2"]:
        first = today
    return Period(first, last, match.span(), "period.week")


def _weekend(match: re.Match[str], today: date) -> Period | None:
    weeks = week_shift((match["pre"] or match["pre2"] or "").replace("coming", ""))
    saturday = monday(today) + timedelta(weeks=weeks, days=5)
    return Period(saturday, saturday + timedelta(days=1), match.span(), "period.weekend")


def _ahead(match: re.Match[str], today: date) -> Period | None:
    """未来三天, the next two weeks: from tomorrow on."""
    count = {"few": 3, "couple": 2}.get(match["n"].strip(), numerals.read(match["n"]))
    if not count or count > 400:
        return None
    unit = match["u"]
    if unit[0] in "m月个":
        last = months_later(today, count)
    else:
        last = today + timedelta(days=count * (7 if unit[0] in "周星礼w" else 1))
    return Period(today + timedelta(days=1), last, match.span(), "period.ahead")


def _same_month(match: re.Match[str], today: date) -> Period | None:
    """July 13 to 15, 12 to 16 September, 4月12-19日: one month, two days."""
    groups = match.groupdict()
    low, high = day_number(match["a"]), day_number(match["b"])
    low = low or numerals.read(match["a"])
    high = high or numerals.read(match["b"])
    month = numerals.read(match["zm"]) if groups.get("zm") else month_en(match["mon"])
    if not low or not high or not month or low >= high:
        return None
    year = year_zh(match["y"], today) if groups.get("y") else int(groups.get("y2") or 0)
    for each in (year,) if year else (today.year, today.year + 1):
        first, last = make(each, month, low), make(each, month, high)
        if first and last and (year or last >= today):
            return Period(first, last, match.span(), "period.days")
    return None


def _quarter(match: re.Match[str], today: date) -> Period | None:
    """下个季度, next quarter, 第二季度, in Q2: that quarter, or next year's once it is over."""
    this = (today.month - 1) // 3
    said = match["n"] or match["n2"]
    if said:
        wanted = (numerals.read(said) or 0) - 1
        ahead = wanted - this + 4 * (wanted < this)
    else:
        ahead = month_shift(match["rel"] or match["rel2"] or "")
    first = month_end(today.replace(day=1), months=3 * ahead - (today.month - 1) % 3).replace(day=1)
    return Period(first, month_end(first, months=2), match.span(), "period.quarter")


def _within(match: re.Match[str], today: date) -> Period | None:
    """三天内, within two weeks: from today on."""
    count = numerals.read(match["n"] or match["n2"] or "一")
    if not count or count > 400:
        return None
    unit = match["u"] or match["u2"]
    if unit[0] in "m月":
        last = months_later(today, count)
    else:
        last = today + timedelta(days=count * (7 if unit[0] in "周星礼w" else 1))
    return Period(today, last, match.span(), "period.within")


_D = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{numerals.ORDINAL})"
_YEAR_EN = rf"(?:,? ?(?:in |of )?(?P<y2>{YEAR})(?![\d:]))?"
_NO_CLOCK = r"(?![a-z\d:]|\.\d| ?(?:[ap]m|[ap]|o'?clock)(?![a-z]))"
_REL_ZH = r"(?P<rel>下下个?月|下个?月|这个?月|本月|当月|上个?月)"
_REL_EN = r"(?P<rel>(?:next|this|last|the following|the coming|the) month)"
_FIRST_RULES: tuple[tuple[re.Pattern[str], _Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (rf"{YEAR_ZH}?(?<!\d)(?P<zm>{NUM_ZH})\s?月\s?(?P<a>{NUM_ZH})\s?[日号]?\s?(?:到|至|-|~)\s?(?P<b>{NUM_ZH})\s?[日号]", _same_month),
        (rf"{YEAR_ZH}?(?<!\d)(?P<zm>{NUM_ZH})\s?月\s?(?P<a>\d{{1,2}})\s?(?:到|至|-|~)\s?(?P<b>\d{{1,2}})(?![\d点时个位人:天月])", _same_month),
        (rf"(?<![a-z]){MONTH_EN}[ .]?(?:the )?(?P<a>{_D})(?:{TO}|(?<=\d)/(?=\d)| ?and ?)(?P<b>{_D}){_NO_CLOCK}{_YEAR_EN}", _same_month),
        (rf"(?<![a-z\d:.])(?:the )?(?P<a>{_D})(?: of)?(?:{TO}| and (?:the )?)(?P<b>{_D})(?: of)? ?{MONTH_EN}{_YEAR_EN}", _same_month),
        (rf"(?:{YEAR_ZH}?(?<!\d)(?P<zm>{NUM_ZH})月份?|{_REL_ZH})的?第(?P<n>[一二三四五1-5])个?{WEEK_ZH}(?![一二三四五六日天])", _nth_week),
        (rf"(?<![a-z])(?:the )?(?P<n>first|second|third|fourth|last|1st|2nd|3rd|4th) week (?:of|in) (?:{MONTH_EN}{_YEAR_EN}|{_REL_EN})(?![a-z])", _nth_week),
        (rf"(?:{YEAR_ZH}?(?<!\d)(?P<zm>{NUM_ZH})月份?|{_REL_ZH}|(?<![\d一二三四五六七八九十])月)(?P<part>初|中旬|上旬|下旬|中(?!国|午|间|心|的))", _month_part),
        (rf"(?<![a-z])(?:the )?(?P<part>beginning|start|middle) of (?:{MONTH_EN}{_YEAR_EN}|{_REL_EN})(?![a-z])", _month_part),
        (rf"(?<![a-z])(?P<part>early|mid|late)[ -](?:{MONTH_EN}{_YEAR_EN}|{_REL_EN})(?! ?\d)", _month_part),
        (rf"(?:未来|接下来|今后|往后|将来)的?\s?(?P<n>{numerals.NUMBER}|几)\s?(?P<u>天|日|周|个?星期|个?礼拜|个月)", _ahead),
        (rf"(?<![a-z])(?:(?:in|over|for|within|during) )?(?:the )?(?:next|coming|following) (?P<n>{numerals.NUMBER}|few|couple(?= of))(?: of)? (?P<u>days?|weeks?|months?)(?![a-z])", _ahead),
        (r"(?P<rel>下个?|这个?|本|上个?)季度(?!会|评|预|总|报|复|业|计|规)|第?(?P<n>[一二三四1-4])季度(?!会|评|预|总|报|复|业|计|规)|(?<![a-z])(?P<rel2>next|this|the coming) quarter(?! (?:of|past|to|hour)|[a-z])|(?<![a-z])(?:in|during|for) q(?P<n2>[1-4])(?![a-z\d])", _quarter),
        (rf"(?P<n>{numerals.NUMBER})\s?个?\s?(?P<u>天|日|周|星期|礼拜|月)(?:之内|以内|内)|(?<![a-z])within (?:the next )?(?P<n2>{numerals.NUMBER}|(?=an? ))(?:an? )?\s?(?P<u2>days?|weeks?|months?)(?![a-z])", _within),
    )
)  # fmt: skip
_SHIFTED = r"(?:下{1,4}个?|这个?|本|上个?|当)"
_LAST_RULES: tuple[tuple[re.Pattern[str], _Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (rf"(?P<pre>{_SHIFTED})?个?周末|(?<![a-z])(?:on |at |over )?(?:the |(?P<pre2>this (?:coming )?|next |coming |following ))?weekend(?![a-z])", _weekend),
        (rf"{_SHIFTED}{WEEK_ZH}(?P<rest>剩下的?(?:时间|几天)?)?(?![一二三四五六日天]|[1-7](?![\d点:]))|(?<![a-z])(?P<rest2>rest of )?(?:the )?(?:(?:next|this|following|coming|last) week|week after next)(?![a-z])", _week),
        (rf"{YEAR_ZH}?(?<![\d个第每])(?P<zm>{NUM_ZH})月份?(?![\d一二三四五六七八九十会])|{_REL_ZH}份?", _whole_month),
        (rf"(?<![a-z]){MONTH_EN},? ?(?:in |of )?(?P<y2>{YEAR})(?![\d:])", _whole_month),
        (rf"(?<![a-z])(?:in|for|during|of|from|since|until|till|by|throughout|this|next) {MONTH_EN}(?! ?\d)", _whole_month),
        (r"(?<![a-z])(?P<mon>january|february|april|june|july|august|september|october|november|december)(?![a-z])(?! ?\d)", _whole_month),
        (r"(?<![a-z])(?P<rel>(?:next|this|last|the following|the coming) month)(?![a-z])", _whole_month),
    )
)  # fmt: skip
_FROM = re.compile(r"(?:从|自|(?<![a-z])(?:from|starting|beginning|since|as of)(?: in)?)\s?$")
_BETWEEN = re.compile(r"(?<![a-z])between (?:the )?$")
_AND = re.compile(r" ?(?:and|&) (?:the )?|和|与")
_JOINED = re.compile(TO)
_CHANGED = re.compile(
    r"改|挪|移|调|换|(?<![a-z])(?:move|change|shift|reschedule|postpone|push|bring)[a-z]*(?![a-z])"
)
_WEEK_OF = re.compile(r"(?<![a-z])(?:the )?week of (?:the )?$")


def find_explicit(scan: Scan, today: date) -> list[Period]:
    """Spans whose parts would else be read as days: before `dates.find`. Takes them."""
    return _matches(scan, today, _FIRST_RULES)


def _matches(
    scan: Scan, today: date, rules: tuple[tuple[re.Pattern[str], _Reader], ...]
) -> list[Period]:
    found = []
    for pattern, reader in rules:
        for match in scan.matches(pattern):
            if (period := reader(match, today)) is not None:
                found.append(_marked(period, scan))
                scan.take(match.span())
    return found


def _marked(period: Period, scan: Scan) -> Period:
    start, end = period.span
    said = scan.text[start:end]
    since = bool(
        _FROM.search(scan.before(start, 20))
        or re.match(r"(?:from|since) ", said)
        or scan.after(end, 3)[:1] in {"起", "始"}
        or scan.after(end, 3).startswith("开始")
    )
    return replace(period, since=True) if since and period.rule != "period.days" else period


def find(scan: Scan, days: tuple[Day, ...], today: date) -> tuple[list[Period], tuple[Day, ...]]:
    """Weeks and months, and days that belong together; gives the days that stand alone."""
    alone: list[Day] = []
    found: list[Period] = []
    for day in days:
        last = alone[-1] if alone else None
        if last is not None and _are_joined(last, day, scan):
            alone.pop()
            if _CHANGED.search(scan.before(last.span[0], 40)):
                alone.append(day)
            else:
                found.append(_joined(last, day))
        elif day.value and (match := _WEEK_OF.search(scan.before(day.span[0], 16))):
            span = (day.span[0] - len(match.group()), day.span[1])
            scan.take(span)
            first = monday(day.value)
            found.append(Period(first, first + timedelta(days=6), span, "period.week"))
        elif (beside := _beside(day, scan, today)) is not None:
            found.append(beside)
        else:
            alone.append(day)
    for period in _matches(scan, today, _LAST_RULES):
        found = [_in_week(each, period) for each in found]
        found.append(period)
    return found, tuple(alone)


_BEFORE_ZH = re.compile(r"\s?(?:之前|以前|前(?![天面后半]))")
_AFTER_ZH = re.compile(r"\s?(?:之后|以后)")
_BEFORE_EN = re.compile(r"(?<![a-z])(?P<by>by|before|no later than) (?:the )?$")
_AFTER_EN = re.compile(r"(?<![a-z])after (?:the )?$")
_SOON = timedelta(days=7)


def _beside(day: Day, scan: Scan, today: date) -> Period | None:
    """The days before or after one: 下周三之前, by Friday, after the 15th. The week after it at most."""
    if day.value is None or day.until or day.since or day.kind not in _DAYS_WITH_SIDES:
        return None
    start, end = day.span
    before, after = scan.before(start, 20), scan.after(end, 4)
    if (match := _BEFORE_ZH.match(after)) or (led := _BEFORE_EN.search(before)):
        said = match.group() if match else ""
        inclusive = not match and led is not None and led["by"] != "before"
        last = day.value if inclusive else day.value - timedelta(days=1)
        scan.take((start, end + len(said)))
        if last < today:
            return None
        return Period(today, last, (start, end + len(said)), "period.before")
    if (match := _AFTER_ZH.match(after)) or _AFTER_EN.search(before):
        span = (start, end + len(match.group()) if match else end)
        scan.take(span)
        return Period(day.value + timedelta(days=1), day.value + _SOON, span, "period.after")
    return None


_DAYS_WITH_SIDES = {"weekday", "monthday", "date", "named"}


def _are_joined(first: Day, second: Day, scan: Scan) -> bool:
    if first.value is None or second.value is None:
        return False
    gap = scan.text[first.span[1] : second.span[0]]
    if _JOINED.fullmatch(gap):
        return True
    between = _BETWEEN.search(scan.before(first.span[0], 14)) or "之间" in scan.after(
        second.span[1], 4
    )
    return bool(between and _AND.fullmatch(gap))


def _joined(first: Day, second: Day) -> Period:
    """The second day is the next such day from the first on."""
    begin, end = first.value, second.value
    if begin is None or end is None:  # for the type checker: _are_joined has looked
        raise ValueError((first, second))
    if second.kind == "monthday":
        end, _ = next_monthday(end.day, begin)
    elif second.kind == "weekday":
        end = begin + timedelta(days=(end.weekday() - begin.weekday()) % 7)
    while end < begin:
        end = months_later(end, 12) if second.kind != "relative" else begin
    return Period(begin, end, (first.span[0], second.span[1]), "period.days")


def _in_week(joined: Period, week: Period) -> Period:
    """Tue to Thu, said of next week."""
    if (
        week.rule != "period.week"
        or joined.rule != "period.days"
        or (joined.last - joined.first).days > 6
    ):
        return joined
    first = (
        week.first - timedelta(days=week.first.weekday()) + timedelta(days=joined.first.weekday())
    )
    return replace(joined, first=first, last=first + (joined.last - joined.first))


def lasting(days: tuple[Day, ...], length: Length) -> Period | None:
    """So many days from the one day that was said: for 3 days from tomorrow."""
    if len(days) != 1 or days[0].value is None:
        return None
    day, count = days[0], -(-round(length.minutes) // DAY)
    span = (min(length.span[0], day.span[0]), max(length.span[1], day.span[1]))
    last = days[0].value + timedelta(days=count - 1)
    return Period(days[0].value, last, span, "period.lasting")
