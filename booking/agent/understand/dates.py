"""Which day: 明天, 下下周三, 30号, next Tuesday, 3 Dec, 2026-12-03, 元旦. Weeks start on Monday.

A day is read towards the future and never clamped. This module reads single expressions; which of
several was meant, and whether an hour has passed, is `whichday`'s business; weeks, months and
other spans of days are `periods`'.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta

from booking.agent.understand import festivals, numerals
from booking.agent.understand.days import (
    Day,
    Reader,
    day_number,
    exact,
    impossible,
    later_by,
    next_month_day,
    next_monthday,
)
from booking.agent.understand.holidays import (
    HOLIDAY,
    day_of_month,
    end_of_month,
    end_of_named_month,
    end_of_week,
    end_of_year,
    holiday,
    nth_weekday_of,
)
from booking.agent.understand.months import (
    MONTH_EN,
    NUM_ZH,
    WEEK_ZH,
    WEEKDAY_EN,
    WEEKDAY_ZH,
    YEAR,
    YEAR_ZH,
    make,
    monday,
    month_en,
    month_end,
    month_shift,
    week_shift,
    weekday_en,
    year_zh,
)
from booking.agent.understand.normalise import Scan


def _year_month_day(match: re.Match[str], today: date) -> Day | None:
    value = make(int(match["y"]), int(match["m"]), int(match["d"]))
    return exact(match, value, today, "date.full")


def _compact(match: re.Match[str], today: date) -> Day | None:
    value = make(int(match["y"]), int(match["m"]), int(match["d"]))
    return exact(match, value, today, "date.full") if value else None


def _month_day_zh(match: re.Match[str], today: date) -> Day | None:
    month, day = numerals.read(match["m"]), numerals.read(match["d"])
    if month is None or day is None or not 1 <= month <= 12:
        return impossible(match)
    if match["y"]:
        value = make(year_zh(match["y"], today), month, day)
        return exact(match, value, today, "date.month_day")
    return next_month_day(match, month, day, today)


def _month_day_en(match: re.Match[str], today: date) -> Day | None:
    month, day = month_en(match["mon"]), day_number(match["d"])
    if day is None:
        return None
    if match["y"]:
        return exact(match, make(int(match["y"]), month, day), today, "date.month_day")
    return next_month_day(match, month, day, today)


def _day_in_month_zh(match: re.Match[str], today: date) -> Day | None:
    end = month_end(today, months=month_shift(match["rel"]))
    return exact(
        match, make(end.year, end.month, numerals.read(match["d"]) or 0), today, "date.month_day"
    )


def _day_in_month_en(match: re.Match[str], today: date) -> Day | None:
    end = month_end(today, months=month_shift(match["rel"]))
    return exact(
        match, make(end.year, end.month, day_number(match["d"]) or 0), today, "date.month_day"
    )


def _day_only(match: re.Match[str], today: date) -> Day | None:
    said = match["d"]
    day = numerals.read(said) if said[-1] not in "tdh" else numerals.read_ordinal(said)
    if day is None or not 1 <= day <= 31:
        return impossible(match)
    value, months = next_monthday(day, today)
    later, _ = next_monthday(day, value + timedelta(days=1))
    skipped = months > (0 if day >= today.day else 1)
    return Day("monthday", value, match.span(), "date.day", assumed=skipped, later=later)


def _numbers(match: re.Match[str], today: date) -> Day | None:
    """3/4: month and day, in English text in either order; with a year in front or behind."""
    first, second = int(match["a"]), int(match["b"])
    year = int(match["y"]) if match.groupdict().get("y") else None
    readings = [(first, second), (second, first)]
    if "." in match.group():
        readings = readings[1:]
    elif re.search(r"[\u4e00-\u9fff]", match.string) or match["a"][0] == "0":
        readings = readings[:1]
    days = [
        exact(match, make(year, m, d), today, "date.slash")
        if year
        else next_month_day(match, m, d, today)
        for m, d in readings
        if 1 <= m <= 12 and 1 <= d <= 31
    ]
    values = list(dict.fromkeys(day.value for day in days if day.value))
    if len(values) == 2:
        return Day("date", None, match.span(), "date.slash", problem="ambiguous_date",
                   options=tuple(values))  # fmt: skip
    if values:
        return Day("date", values[0], match.span(), "date.slash")
    return days[0] if days else impossible(match)


def _weekday(
    match: re.Match[str], today: date, weekday: int, weeks: int | None, *, unsure: bool
) -> Day:
    """`weeks` from this one; None for a bare weekday, which is this week's or, once past, next's."""
    this = monday(today) + timedelta(days=weekday)
    if weeks is None:
        late = this < today
        value = this + timedelta(weeks=1) if late else this
        return Day("weekday", value, match.span(), "date.weekday", assumed=late,
                   later=value + timedelta(weeks=1), weekday=weekday)  # fmt: skip
    value = this + timedelta(weeks=weeks)
    if value < today:
        return Day("weekday", None, match.span(), "date.weekday", problem="past_date",
                   options=(value,))  # fmt: skip
    assumed = unsure and weeks == 1 and this > today
    return Day("weekday", value, match.span(), "date.week", assumed=assumed, weekday=weekday)


def _weekday_zh(match: re.Match[str], today: date) -> Day | None:
    weeks = week_shift(match["pre"]) if match["pre"] else None
    return _weekday(match, today, WEEKDAY_ZH[match["d"]], weeks, unsure=False)


def _weekdays_zh(match: re.Match[str], today: date) -> Day | None:
    """周三四, 周六日: any of them; 周五一早 is one day."""
    order = [WEEKDAY_ZH[d] for d in match["d"]]
    if order != sorted(set(order)):
        return None
    weeks = week_shift(match["pre"]) if match["pre"] else None
    days = [_weekday(match, today, WEEKDAY_ZH[d], weeks, unsure=False) for d in match["d"]]
    options = tuple(day.value for day in days if day.value)
    return Day("weekday", None, match.span(), "date.weekday", problem="ambiguous_date",
               options=options)  # fmt: skip


def _weekday_english(match: re.Match[str], today: date) -> Day | None:
    pre, post = (match["pre"] or "").strip(), match["post"] or ""
    if match["nth"]:
        return _weekday_the_nth(match, today)
    weeks = {"next": 1, "this": 0, "last": -1}.get(pre)
    if post == "week":
        day = _weekday(match, today, weekday_en(match["d"]), None, unsure=False)
        value = (day.value or today) + timedelta(weeks=1)
        return Day("weekday", value, match.span(), "date.week", weekday=day.weekday)
    if post:
        weeks = week_shift(post)
    return _weekday(match, today, weekday_en(match["d"]), weeks, unsure=not post and pre == "next")


def _weekday_the_nth(match: re.Match[str], today: date) -> Day | None:
    """Wednesday the thirty first: both said in one breath."""
    weekday, nth = weekday_en(match["d"]), day_number(match["nth"])
    if nth is None or not 1 <= nth <= 31:
        return impossible(match)
    value, _ = next_monthday(nth, today)
    if value.weekday() == weekday:
        return Day("date", value, match.span(), "date.day")
    named = monday(today) + timedelta(days=weekday + 7 * (weekday < today.weekday()))
    return Day("date", None, match.span(), "date.day", problem="weekday_against_date",
               options=(value, named))  # fmt: skip


def _relative(days: int) -> Reader:
    def read(match: re.Match[str], today: date) -> Day | None:
        if days < 0:
            return Day("relative", None, match.span(), "date.relative", problem="past_date",
                       options=(today + timedelta(days=days),))  # fmt: skip
        return Day("relative", today + timedelta(days=days), match.span(), "date.relative")

    return read


def _great_after(match: re.Match[str], today: date) -> Day | None:
    days = 2 + match.group().count("大")
    return Day("relative", today + timedelta(days=days), match.span(), "date.relative")


def _today_in_weeks(match: re.Match[str], today: date) -> Day | None:
    """The day like today, some weeks on: 下下周的今天, this day next week."""
    weeks = 2 if match["two"] else len(match["shift"] or "x")
    return Day("relative", today + timedelta(weeks=weeks), match.span(), "date.offset")


def _in_units(match: re.Match[str], today: date) -> Day | None:
    groups = match.groupdict()
    value = later_by(groups["n"] or groups["n2"], match["u"], today)
    return Day("relative", value, match.span(), "date.offset") if value else None


_Y = rf"(?:[,./-]{{0,2}} ?(?:in |of )?(?P<y>{YEAR})(?![\d:]))?"
_TEENS = rf"(?<![a-z])(?:(?:twenty|thirty)(?:[ -](?:{'|'.join(list(numerals.EN_WORDS)[:9])}))?|{'|'.join(list(numerals.EN_WORDS)[9:19])})"
_D_EN = rf"(?P<d>\d{{1,2}}(?:st|nd|rd|th)?|{numerals.ORDINAL}|{_TEENS})(?![a-z\d:])"
_NOT_CLOCK = r"(?! ?(?:[ap]m|a|p)(?![a-z]))(?!\.\d)"
_UNIT_EN = r"(?P<u>days?|weeks?|fortnights?|months?)"
_COUNT_EN = rf"(?:(?P<n>a(?! couple)|{numerals.NUMBER})|(?:a )?(?P<n2>couple)(?: of)?)"
_SHIFTED = r"(?:下{1,4}个?|这个?|本|上个?)"
_RULES: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (rf"(?<!\d)(?P<y>{YEAR})\s?[-/.年]\s?(?P<m>\d{{1,2}})\s?[-/.月]\s?(?P<d>\d{{1,2}})(?!\d)[日号]?t?", _year_month_day),
        (rf"(?<!\d)(?P<y>{YEAR}) (?P<m>\d\d) (?P<d>\d\d)(?!\s?[\d:人个])", _year_month_day),
        (rf"(?<!\d)(?P<y>{YEAR})(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?!\d)", _compact),
        (rf"(?<![\d./])(?P<a>\d{{1,2}})(?P<s>[./-])(?P<b>\d{{1,2}})(?P=s)(?P<y>{YEAR})(?!\d)", _numbers),
        (rf"(?<![\d/])(?P<y>{YEAR})[-/. ]{MONTH_EN}[-/. ](?P<d>\d{{1,2}})(?![a-z\d:])", _month_day_en),
        (rf"{YEAR_ZH}?(?<!\d)(?P<m>{NUM_ZH})\s?月份?的?\s?(?P<d>{NUM_ZH})(?:\s?[日号]|(?![\d点时个位人:天月周]))", _month_day_zh),
        (rf"(?P<rel>下下个?月|下个?月|这个?月|本月|当月)份?的?\s?(?P<d>{NUM_ZH})\s?[日号]", _day_in_month_zh),
        (rf"(?<![a-z])(?:the )?(?P<d>\d{{1,2}}(?:st|nd|rd|th)|{numerals.ORDINAL})(?: day)? of (?P<rel>(?:next|this|the following|the) month)(?![a-z])", _day_in_month_en),
        (rf"{YEAR_ZH}?(?P<zm>{NUM_ZH})月份?的?月?[底末]|(?<![a-z])(?:the )?end of {MONTH_EN}", end_of_named_month),
        (rf"(?:{YEAR_ZH}?(?<!\d)(?P<zm>{NUM_ZH})月份?|(?P<rel>下下个?月|下个?月|这个?月|本月|当月)份?)的?(?:(?P<last>最后一天)|(?:第|头|首)(?P<nth>[一1])?[天日])|(?<![a-z])(?:the )?(?:(?P<last2>last)|first|1st) day (?:of|in) (?:(?P<rel2>(?:next|this|the following|the) month)|{MONTH_EN})(?![a-z])", day_of_month),
        (r"(?:下个?|这个?|本|当)?月[底末]|(?<![a-z])(?:the )?end of (?:next |the |this )?month", end_of_month),
        (rf"(?P<m>{NUM_ZH})月份?的?第(?P<n>[一二三四1-4])个{WEEK_ZH}(?P<w>[一二三四五六日天])", nth_weekday_of),
        (rf"(?<![a-z])(?:the )?(?P<n>first|second|third|fourth|last|1st|2nd|3rd|4th) (?P<w>{WEEKDAY_EN}) (?:of|in) {MONTH_EN}", nth_weekday_of),
        (r"年底|年末|(?:the )?end of (?:the|this) year|year[ -]end|(?:the )?year's end", end_of_year),
        (r"(?:下|这|本)周(?:末尾|底)|(?:the )?end of (?:the |this |next )?week(?!end)", end_of_week),
        (rf"(?<![a-z]){MONTH_EN}[ ./-]{{0,2}}(?:the )?{_D_EN}{_NOT_CLOCK}{_Y}", _month_day_en),
        (rf"(?<![a-z\d])(?:the )?{_D_EN}\.?(?: day)?(?: of)?[ /-]?{MONTH_EN}{_Y}", _month_day_en),
        (rf"(?<![a-z]){MONTH_EN} (?P<d>\d{{1,2}})(?= ?[ap]m(?![a-z]))(?P<y>)", _month_day_en),
        (rf"(?<![\d月一二三四五六七八九十第/周期拜])(?<!\d-)(?P<d>{NUM_ZH}|\d{{3}})(?:\s?号|日(?![后内前本语程]))(?!楼|线|会议室|厅|门|房|馆|桌|院|座)", _day_only),
        (r"(?<![a-z\d])(?:on )?(?:the )?(?P<d>\d{1,2}(?:st|nd|rd|th))(?![a-z])(?! (?:floor|level|one|option|room|card|choice|time|half|quarter|week|person|attendee))", _day_only),
        (r"(?<![a-z])on (?:the )?(?P<d>\d{1,2})(?=$|,? (?:at|from|between|for)(?![a-z])|, ?\d)", _day_only),
        (r"(?<![a-z])(?:on|for|by|till|until|from|before|after|of) the (?P<d>\d{1,2})\.?(?=\s*(?:$|[,;!?]))", _day_only),
        (r"(?<![\d/.])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?:号|日|(?![\d/]))", _numbers),
        (rf"(?<![两每一二三四五六七八九十\d])(?P<pre>{_SHIFTED}?){WEEK_ZH}(?P<d>[一二三四五六日天]{{2,5}})(?!\s?[一二三四五六七八九十天点时个分刻人位名楼层到至]|起)", _weekdays_zh),
        (rf"(?<![两每一二三四五六七八九十\d])(?P<pre>{_SHIFTED}?){WEEK_ZH}的?{WEEK_ZH}?(?P<d>[一二三四五六日天])(?!次)", _weekday_zh),
        (rf"(?<![两每\d])(?P<pre>{_SHIFTED}?){WEEK_ZH}(?P<d>[1-7])(?![\d点:])", _weekday_zh),
        (rf"(?<![a-z])(?:(?:this )?(?:coming|upcoming) |(?P<pre>(?:next|this|last) ))?(?P<d>{WEEKDAY_EN})(?![a-z])\.?(?:,? (?P<post>(?:of )?(?:the )?(?:next|this|following|coming) week|after next|(?:of )?the week after next|week(?![a-z])))?(?: the (?P<nth>{numerals.ORDINAL}))?", _weekday_english),
        (rf"(?<![a-z]){_COUNT_EN} {_UNIT_EN} (?:from (?:now|today)|later|hence|today)(?![a-z])", _in_units),
        (rf"(?P<shift>下{{1,3}})个?{WEEK_ZH}的?(?:今天|这一?天|同一天|此时|这个时候)|(?<![a-z])(?:(?:today|this (?:same )?(?:day|time)|(?:the )?same day)(?: of)?,? next week|today week|(?P<two>(?:a )?fortnight (?:from )?today))(?![a-z])", _today_in_weeks),
        (r"大+后[天日]", _great_after),
        (r"后[天日]|(?:the )?day after (?:tom+or+ow|tmrw|tmr)(?![a-z])", _relative(2)),
        (r"明[天日儿]?(?=上午|下午|早|晚|中午|傍晚)|明[天日儿]|(?<![a-z])(?:tom+or+ow|tom+or+w|tmrw|tmr|tmw|2moro|tomo)(?:'s)?(?![a-z])", _relative(1)),
        (r"今[天日儿]?(?=上午|下午|早|晚|中午|傍晚)|今[天日儿]|本日|(?<![a-z])today(?:'s)?(?![a-z])|当[天日](?!气)", _relative(0)),
        (r"前天|(?:the )?day before yesterday", _relative(-2)),
        (r"昨[天日]|(?<![a-z])yesterday(?![a-z])", _relative(-1)),
        (rf"(?P<n>{numerals.NUMBER}|半(?=个?月))\s?个?\s?(?P<u>天|日|周|星期|礼拜|月)(?:过后|之后|以后|后)(?P<n2>)", _in_units),
        (rf"(?<![a-z])in {_COUNT_EN} {_UNIT_EN}(?:'? time)?(?![a-z])", _in_units),
    )
)  # fmt: skip


_UNTIL = re.compile(
    r"(?:订到|直到|持续到|截止到?|到|至|(?<![a-z])(?:until|till|til|through|thru|up to|to|ending|ends))\s?(?:the )?$"
)
_SINCE = re.compile(r"(?:从|自|(?<![a-z])(?:from|starting|beginning|start|as of)(?: on)?)\s?$")
_MOVED = re.compile(
    r"(?:改|挪|移|调|换|推迟|延|提前)到?\s?$|(?:moved?|change|push|postpone)[^,]{0,20} to\s?$"
)
_FROM_BASE = re.compile(rf"(?<!for )(?<![a-z]){_COUNT_EN} {_UNIT_EN} (?:from|after|on) (?:the )?$")
_DASHED = re.compile(
    r"(?<![\d:.-])(?P<a>0?[1-9]|[12]\d|3[01])-(?P<b>0?[1-9]|[12]\d|3[01])(?:[日号]|(?![\d点时-]|[:.]\d|\s?[ap]m|\s?[个位名人]|\s?(?:hours?|h|days?|people|min)))"
)
_CLOCK = re.compile(r"\d\s?(?:点|时|[ap]m(?![a-z])|o'?clock)|\d:\d\d|[一二两三四五六七八九十]点")
_EARLY, _LATE = 7, 12


def _dashed(scan: Scan, today: date) -> Day | None:
    """03-15, or 3-15 where that cannot be from 3 to 15 hours or another time is said beside it."""
    match = _DASHED.search(scan.text)
    if match is None:
        return None
    first, second = match["a"], match["b"]
    written = "0" in {first[0], second[0]}
    apart = int(first) < _EARLY and int(second) > _LATE
    rest = scan.text[: match.start()] + " " + scan.text[match.end() :]
    if written or apart or match.group()[-1] in "日号" or _CLOCK.search(rest):
        return _numbers(match, today)
    return None


def find(scan: Scan, today: date) -> tuple[Day, ...]:
    """Every day expression in what is left of the text, in order; takes them."""
    found = []
    for match in scan.matches(festivals.FESTIVAL):
        if (read := festivals.festival(match, today)) is not None:
            found.append(read)
            scan.take(match.span())
    for match in scan.matches(HOLIDAY):
        found.append(holiday(match, today))
        scan.take(match.span())
    for pattern, reader in _RULES:
        for match in scan.matches(pattern):
            if (read := reader(match, today)) is not None:
                found.append(read)
                scan.take(match.span())
    if not found and (day := _dashed(scan, today)) is not None:
        found.append(day)
        scan.take(day.span)
    return tuple(_marked(day, scan) for day in sorted(found, key=lambda day: day.span))


def _marked(day: Day, scan: Scan) -> Day:
    before = scan.before(day.span[0], 28)
    if day.value and (match := _FROM_BASE.search(before)):
        start = day.span[0] - len(before) + match.start()
        value = later_by(match["n"] or match["n2"], match["u"], day.value)
        scan.take((start, day.span[0]))
        return Day("relative", value or day.value, (start, day.span[1]), "date.offset")
    until = bool(_UNTIL.search(before)) and not _MOVED.search(before)
    since = bool(_SINCE.search(before)) or scan.after(day.span[1], 2)[:1] in {"起", "始"}
    return replace(day, until=until, since=since) if until or since else day
