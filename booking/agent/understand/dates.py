"""Which day: 明天, 下下周三, 30号, next Tuesday, 3 Dec, 2026-12-03, 元旦. Weeks start on Monday.

A day is read towards the future and never clamped. This module reads single expressions; which of
several was meant, and whether an hour has passed, is `when`'s business.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

from booking.agent.understand import numerals
from booking.agent.understand.normalise import Scan
from booking.agent.understand.types import Span

NEAR_MONTH_END = 3  # "the end of the month" said on the last three days may mean either month


@dataclass(frozen=True, slots=True)
class Day:
    """One expression for a day. Exactly one of `value` and `problem` is set.

    `kind`: weekday, monthday, date, relative, named or vague. `bare` weekdays and month days move on
    to `later` when today's hour has passed. `until` days end a series.
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


_Reader = Callable[[re.Match[str], date], Day | None]

_WEEKDAY_ZH = {c: n for n, c in enumerate("一二三四五六日")} | {"天": 6, "末": 5}
_WEEKDAY_ZH |= {str(n): n - 1 for n in range(1, 8)}
WEEKDAY_EN = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:s|nesday|nsday|nesdy)?|thu(?:r(?:s(?:day)?)?)?|thrusday"
    r"|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
_WEEKDAYS = ("mo", "tu", "we", "th", "fr", "sa", "su")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_EN = (
    r"(?P<mon>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_NUM_ZH = r"(?:\d{1,2}|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_NAMED = (
    (re.compile(r"元旦节?|(?<![a-z])new year'?s? day(?![a-z])"), (1, 1)),
    (re.compile(r"情人节|(?<![a-z])valentine'?s(?: day)?(?![a-z])"), (2, 14)),
    (re.compile(r"妇女节"), (3, 8)),
    (re.compile(r"五一|劳动节|(?<![a-z])(?:may|labou?r) day(?![a-z])"), (5, 1)),
    (re.compile(r"儿童节|六一"), (6, 1)),
    (re.compile(r"十一(?!点|月|个|人|号|日|层|楼|时|分)(?=假期|长假|当天|那天)|国庆节?|(?<![a-z])national day(?![a-z])"), (10, 1)),
    (re.compile(r"平安夜|(?<![a-z])(?:christmas|xmas) eve(?![a-z])"), (12, 24)),
    (re.compile(r"圣诞节?|(?<![a-z])(?:christmas|xmas)(?: day)?(?![a-z])"), (12, 25)),
    (re.compile(r"除夕夜?(?=跨年)|跨年夜?|(?<![a-z])new year'?s eve(?![a-z])"), (12, 31)),
)  # fmt: skip


def weekday_en(word: str) -> int:
    return _WEEKDAYS.index(word[:2])


def make(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def month_end(day: date, *, months: int = 0) -> date:
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, calendar.monthrange(year, month + 1)[1])


def _impossible(match: re.Match[str]) -> Day:
    return Day("date", None, match.span(), "date.none", problem="impossible_date")


def _exact(match: re.Match[str], value: date | None, today: date, rule: str) -> Day:
    if value is None:
        return _impossible(match)
    if value < today:
        return Day("date", None, match.span(), rule, problem="past_date", options=(value,))
    return Day("date", value, match.span(), rule)


def _year_month_day(match: re.Match[str], today: date) -> Day | None:
    value = make(int(match["y"]), int(match["m"]), int(match["d"]))
    return _exact(match, value, today, "date.full")


def _next_month_day(match: re.Match[str], month: int, day: int, today: date) -> Day:
    """The next such day from today; refused when the month can never have it this time round."""
    this = make(today.year, month, day)
    if this is not None and this >= today:
        return Day("date", this, match.span(), "date.month_day")
    value = make(today.year + 1, month, day)
    return Day("date", value, match.span(), "date.month_day") if value else _impossible(match)


def _month_day_zh(match: re.Match[str], today: date) -> Day | None:
    month, day = numerals.read(match["m"]), numerals.read(match["d"])
    if month is None or day is None or not 1 <= month <= 12:
        return _impossible(match)
    if year := {"今年": today.year, "明年": today.year + 1}.get(match["y"] or ""):
        return _exact(match, make(year, month, day), today, "date.month_day")
    return _next_month_day(match, month, day, today)


def _month_day_en(match: re.Match[str], today: date) -> Day | None:
    month = _MONTHS.index(match["mon"][:3]) + 1
    said = match["d"]
    day = numerals.read_ordinal(said) if not said.isdigit() else int(said)
    if day is None:
        return None
    if match["y"]:
        return _exact(match, make(int(match["y"]), month, day), today, "date.month_day")
    return _next_month_day(match, month, day, today)


def _day_in_month_zh(match: re.Match[str], today: date) -> Day | None:
    months = {"下": 1, "下下": 2}.get(match["rel"].replace("个", "").replace("月", ""), 0)
    end = month_end(today, months=months)
    return _exact(
        match, make(end.year, end.month, numerals.read(match["d"]) or 0), today, "date.month_day"
    )


def _day_only(match: re.Match[str], today: date) -> Day | None:
    said = match["d"]
    day = numerals.read_ordinal(said) if said[-1] in "tdh" else numerals.read(said)
    if day is None or not 1 <= day <= 31:
        return _impossible(match)
    coming = []
    for months in range(4):
        end = month_end(today, months=months)
        value = make(end.year, end.month, day)
        if value is not None and value >= today:
            coming.append((value, months))
    (value, months), (later, _) = coming[0], coming[1]
    skipped = months > (0 if day >= today.day else 1)
    return Day("monthday", value, match.span(), "date.day", assumed=skipped, later=later)


def _slash(match: re.Match[str], today: date) -> Day | None:
    first, second = int(match["a"]), int(match["b"])
    chinese = bool(re.search(r"[\u4e00-\u9fff]", match.string))
    readings = [(first, second)] if chinese else [(first, second), (second, first)]
    days = [
        _next_month_day(match, m, d, today) for m, d in readings if 1 <= m <= 12 and 1 <= d <= 31
    ]
    values = list(dict.fromkeys(day.value for day in days if day.value))
    if len(values) == 2:
        return Day(
            "date",
            None,
            match.span(),
            "date.slash",
            problem="ambiguous_date",
            options=tuple(values),
        )
    return Day("date", values[0], match.span(), "date.slash") if values else _impossible(match)


def _nth_weekday(match: re.Match[str], today: date) -> Day | None:
    """八月的第一个周二, the last Friday of July."""
    groups = match.groupdict()
    word, english = match["w"], groups.get("mon")
    month = _MONTHS.index(english[:3]) + 1 if english else numerals.read(match["m"])
    weekday = weekday_en(word) if english else _WEEKDAY_ZH[word]
    if month is None or not 1 <= month <= 12:
        return _impossible(match)
    nth = numerals.read_ordinal(match["n"]) if english else numerals.read(match["n"])
    for year in (today.year, today.year + 1):
        first = date(year, month, 1)
        value = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * ((nth or 4) - 1))
        if nth is None and (value + timedelta(weeks=1)).month == month:
            value += timedelta(weeks=1)
        if value >= today:
            return Day("date", value, match.span(), "date.nth_weekday")
    return None


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
        return Day(
            "weekday", None, match.span(), "date.weekday", problem="past_date", options=(value,)
        )
    assumed = unsure and weeks == 1 and this > today
    return Day("weekday", value, match.span(), "date.week", assumed=assumed, weekday=weekday)


def _weekday_zh(match: re.Match[str], today: date) -> Day | None:
    pre = match["pre"].replace("个", "").replace("的", "")
    if match["d"] == "末":
        weeks = pre.count("下")
        saturday = monday(today) + timedelta(weeks=weeks, days=5)
        both = (saturday, saturday + timedelta(days=1))
        return Day("vague", None, match.span(), "date.weekend", problem="vague_date", options=both)
    weeks = None if not pre else -1 if "上" in pre else pre.count("下")
    return _weekday(match, today, _WEEKDAY_ZH[match["d"]], weeks, unsure=False)


def _weekday_english(match: re.Match[str], today: date) -> Day | None:
    pre, post = match["pre"] or "", match["post"] or ""
    weeks = {"next": 1, "this": 0, "last": -1}.get(pre.strip())
    if post:
        weeks = 1 if "next" in post else 0
    return _weekday(
        match, today, weekday_en(match["d"]), weeks, unsure=not post and pre.strip() == "next"
    )


def _relative(days: int) -> _Reader:
    def read(match: re.Match[str], today: date) -> Day | None:
        if days < 0:
            return Day("relative", None, match.span(), "date.relative", problem="past_date",
                       options=(today + timedelta(days=days),))  # fmt: skip
        return Day("relative", today + timedelta(days=days), match.span(), "date.relative")

    return read


def _great_after(match: re.Match[str], today: date) -> Day | None:
    days = 2 + match.group().count("大")
    return Day("relative", today + timedelta(days=days), match.span(), "date.relative")


def _in_units(match: re.Match[str], today: date) -> Day | None:
    said = match["n"].strip()
    count = 1 if said in {"a", "one"} else numerals.read(said)
    if count is None or count > 400:
        return None
    weeks = match["u"][0] in "周星礼w"
    return Day(
        "relative", today + timedelta(days=count * (7 if weeks else 1)), match.span(), "date.offset"
    )


def _vague_week(match: re.Match[str], today: date) -> Day | None:
    said = match.group()
    start = monday(today) + timedelta(weeks=said.count("下") or int("next" in said))
    days = (max(start, today), start + timedelta(days=4))
    return Day("vague", None, match.span(), "date.week_only", problem="vague_date", options=days)


def _weekend_en(match: re.Match[str], today: date) -> Day | None:
    saturday = monday(today) + timedelta(weeks=int("next" in match.group()), days=5)
    days = (saturday, saturday + timedelta(days=1))
    return Day("vague", None, match.span(), "date.weekend", problem="vague_date", options=days)


def _vague_month(match: re.Match[str], today: date) -> Day | None:
    first = month_end(today) + timedelta(days=1)
    return Day("vague", None, match.span(), "date.month_only", problem="vague_date",
               options=(first, month_end(first)))  # fmt: skip


def _month_part(match: re.Match[str], today: date) -> Day | None:
    following = match["next"] or "next" in match.group()
    first = month_end(today) + timedelta(days=1) if following else today.replace(day=1)
    early = re.search("初|beginning|start", match.group())
    low, high = (0, 6) if early else (9, 19)
    days = (max(today, first + timedelta(days=low)), first + timedelta(days=high))
    return Day("vague", None, match.span(), "date.month_part", problem="vague_date", options=days)


def _end_of_month(match: re.Match[str], today: date) -> Day | None:
    rule = "date.month_end"
    if match.group().startswith("下") or "next" in match.group():
        return Day("named", month_end(today, months=1), match.span(), rule, assumed=True)
    end = month_end(today)
    if (end - today).days < NEAR_MONTH_END:
        both = (end, month_end(today, months=1))
        return Day("named", None, match.span(), rule, problem="ambiguous_date", options=both)
    return Day("named", end, match.span(), rule, assumed=True)


def _end_of_named_month(match: re.Match[str], today: date) -> Day | None:
    month = numerals.read(match["zm"]) if match["zm"] else _MONTHS.index(match["mon"][:3]) + 1
    if month is None or not 1 <= month <= 12:
        return _impossible(match)
    year = today.year + (month < today.month)
    end = month_end(date(year, month, 1))
    return Day("named", end, match.span(), "date.month_end", assumed=True)


def _end_of_year(match: re.Match[str], today: date) -> Day | None:
    return Day("named", date(today.year, 12, 31), match.span(), "date.year_end", assumed=True)


def _end_of_week(match: re.Match[str], today: date) -> Day | None:
    weeks = int("下" in match.group() or "next" in match.group())
    friday = monday(today) + timedelta(weeks=weeks, days=4)
    return Day("named", max(friday, today), match.span(), "date.week_end", assumed=True)


_Y = r"(?:,? ?(?P<y>20\d\d))?"
_D_EN = rf"(?P<d>\d{{1,2}}(?:st|nd|rd|th)?|{numerals.ORDINAL})(?![a-z\d:])"
_NOT_CLOCK = r"(?! ?(?:am|pm)(?![a-z]))"
_RULES: tuple[tuple[re.Pattern[str], _Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (r"(?<!\d)(?P<y>20\d\d)\s?[-/.年]\s?(?P<m>\d{1,2})\s?[-/.月]\s?(?P<d>\d{1,2})(?!\d)[日号]?", _year_month_day),
        (rf"(?:(?P<y>今年|明年)的?)?(?<!\d)(?P<m>{_NUM_ZH})\s?月\s?(?P<d>{_NUM_ZH})(?:\s?[日号]|(?![\d点时个位人:天月]))", _month_day_zh),
        (rf"(?P<rel>下下个?月|下个?月|这个?月|本月)的?\s?(?P<d>{_NUM_ZH})\s?[日号]", _day_in_month_zh),
        (r"(?:下个?)?月[底末]|(?:the )?end of (?:next |the |this )?month", _end_of_month),
        (rf"(?P<m>{_NUM_ZH})月份?的?第(?P<n>[一二三四1-4])个(?:周|星期|礼拜)(?P<w>[一二三四五六日天])", _nth_weekday),
        (rf"(?<![a-z])(?:the )?(?P<n>first|second|third|fourth|last) (?P<w>{WEEKDAY_EN}) (?:of|in) {_MONTH_EN}", _nth_weekday),
        (rf"(?P<zm>{_NUM_ZH})月[底末]|(?:the )?end of {_MONTH_EN}", _end_of_named_month),
        (r"年底|年末|(?:the )?end of (?:the|this) year|year[ -]end|(?:the )?year's end", _end_of_year),
        (r"(?:下|这|本)周(?:末尾|底)|(?:the )?end of (?:the |this |next )?week(?!end)", _end_of_week),
        (r"(?P<next>下个?)?月(?:初|中旬?)(?!国)|(?:the )?(?:beginning|start|middle) of (?:next |the |this )?month", _month_part),
        (rf"(?<![a-z]){_MONTH_EN} (?:the )?{_D_EN}{_NOT_CLOCK}{_Y}", _month_day_en),
        (rf"(?<![a-z\d])(?:the )?{_D_EN}(?: day)?(?: of)? ?{_MONTH_EN}{_Y}", _month_day_en),
        (rf"(?<![\d月一二三四五六七八九十第/-])(?P<d>{_NUM_ZH}|\d{{3}})\s?(?:号|日(?![后内前本语程]))(?!楼|线|会议室|厅|门|房|馆|桌|院|座)", _day_only),
        (r"(?<![a-z\d])(?:on )?(?:the )?(?P<d>\d{1,2}(?:st|nd|rd|th))(?![a-z])(?! (?:floor|level|one|option|room|card|choice|time|half|quarter))", _day_only),
        (r"(?<![a-z])on (?:the )?(?P<d>\d{1,2})(?=$|,? (?:at|from|between|for)(?![a-z])|, ?\d)", _day_only),
        (r"(?<![\d/.])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?:号|日|(?![\d/]))", _slash),
        (r"(?<![两每一二三四五六七八九十\d])(?P<pre>(?:下{1,4}个?|这个?|本|上个?)?)(?:周|星期|礼拜)的?(?P<d>[一二三四五六日天末])(?!次)", _weekday_zh),
        (r"(?<![两每\d])(?P<pre>(?:下{1,4}个?|这个?|本|上个?)?)(?:周|星期|礼拜)(?P<d>[1-7])(?![\d点:])", _weekday_zh),
        (rf"(?<![a-z])(?P<pre>(?:next|this|last|coming) )?(?P<d>{WEEKDAY_EN})(?![a-z])(?: ?(?P<post>(?:of )?(?:next|this) week))?", _weekday_english),
        (rf"(?<![a-z])(?P<n>a|{numerals.NUMBER}) (?P<u>days?|weeks?) (?:from (?:now|today)|later)(?![a-z])", _in_units),
        (r"大+后天", _great_after),
        (r"后[天日]|(?:the )?day after (?:tom+or+ow|tmrw|tmr)(?![a-z])", _relative(2)),
        (r"明[天日儿]?(?=上午|下午|早|晚|中午|傍晚)|明[天日儿]|(?<![a-z])(?:tom+or+ow|tom+or+w|tmrw|tmr|tmw|2moro)(?:'s)?(?![a-z])", _relative(1)),
        (r"今[天日儿]?(?=上午|下午|早|晚|中午|傍晚)|今[天日儿]|(?<![a-z])today(?:'s)?(?![a-z])|当天(?!气)", _relative(0)),
        (r"前天|(?:the )?day before yesterday", _relative(-2)),
        (r"昨[天日]|(?<![a-z])yesterday(?![a-z])", _relative(-1)),
        (rf"(?P<n>{numerals.NUMBER})\s?个?\s?(?P<u>天|周|星期|礼拜)(?:之后|以后|后)", _in_units),
        (rf"(?<![a-z])in (?P<n>a|{numerals.NUMBER}) (?P<u>days?|weeks?)(?:'? time)?(?![a-z])", _in_units),
        (r"(?:下{1,3}个?|这个?|本)(?:周|星期|礼拜)(?![一二三四五六日天末\d])|(?<![a-z])(?:next|this) week(?![a-z])", _vague_week),
        (r"(?<![a-z])(?:(?:next|this|the|on the) )?weekend(?![a-z])", _weekend_en),
        (r"下个月|下月|(?<![a-z])next month(?![a-z])", _vague_month),
    )
)  # fmt: skip


_UNTIL = re.compile(
    r"(?:订到|直到|持续到|截止到?|到|至|(?<![a-z])(?:until|till|til|through|thru|up to|to|ending|ends))\s?(?:the )?$"
)
_SINCE = re.compile(r"(?:从|自|(?<![a-z])(?:from|starting|beginning|start|as of)(?: on)?)\s?$")
_MOVED = re.compile(
    r"(?:改|挪|移|调|换|推迟|延|提前)到?\s?$|(?:moved?|change|push|postpone)[^,]{0,20} to\s?$"
)


def find(scan: Scan, today: date) -> tuple[Day, ...]:
    """Every day expression in what is left of the text, in order; takes them."""
    found = []
    for pattern, (month, day) in _NAMED:
        for match in scan.matches(pattern):
            found.append(
                replace(_next_month_day(match, month, day, today), kind="named", rule="date.named")
            )
            scan.take(match.span())
    for pattern, reader in _RULES:
        for match in scan.matches(pattern):
            if (read := reader(match, today)) is not None:
                found.append(read)
                scan.take(match.span())
    return tuple(_marked(day, scan) for day in sorted(found, key=lambda day: day.span))


def _marked(day: Day, scan: Scan) -> Day:
    before = scan.before(day.span[0], 28)
    until = bool(_UNTIL.search(before)) and not _MOVED.search(before)
    since = bool(_SINCE.search(before)) or scan.after(day.span[1], 2)[:1] in {"起", "始"}
    return replace(day, until=until, since=since) if until or since else day
