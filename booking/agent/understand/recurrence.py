"""How often: 每周一, 每天, every Wednesday, every other Tuesday; tried before single dates.

A rule is a plain dict {"freq", "byday", "interval"?, "until"?, "count"?} in the words of RFC 5545,
with "until" as a local date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from booking.agent.understand import numerals
from booking.agent.understand.months import WEEKDAY_EN, monday, month_end, months_later, weekday_en
from booking.agent.understand.normalise import MASK, Scan
from booking.agent.understand.types import Span

BYDAY = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
MOST_OCCURRENCES = 400

_ZH = dict(zip("一二三四五六日天", (*BYDAY, "SU"), strict=True))
_WEEK = r"(?:周|星期|礼拜)"
_DAYS_ZH = rf"(?P<days>[一二三四五六日天](?:\s?[和、及,与跟]?\s?(?:每?{_WEEK})?[一二三四五六日天](?!点|个|人|小时|位|楼|层)){{0,6}})"
_DAYS_EN = rf"(?P<days>{WEEKDAY_EN}s?(?![a-z])(?:(?:, | and |, and | & |/)(?:every |on )?{WEEKDAY_EN}s?(?![a-z])){{0,6}})"
_PLURAL = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days(?![a-z])"
_INTERVAL_ZH = re.compile(
    rf"(?:每(?:隔)?(?:两|2|二)(?:个)?{_WEEK}(?:一次)?的?|每?隔[一1]?个?{_WEEK}的?|双周的?)(?:{_WEEK}?{_DAYS_ZH})?"
)
_WEEKLY_ZH = re.compile(rf"(?:每(?:个)?|(?<![a-z])every ){_WEEK}的?(?:{_WEEK})?{_DAYS_ZH}")
_WEEKLY_ONLY_ZH = re.compile(rf"每(?:个)?{_WEEK}(?:一次)?|{_WEEK}度")
_WORKDAYS = re.compile(
    r"每个?工作日|工作日(?:的?每天|都)|每天[^,。]{0,2}工作日|(?:每个?)?周一(?:到|至|-)周五每天|(?<![a-z])(?:every|each) (?:weekday|work ?day|working day|business day)(?![a-z])"
)
_DAILY = re.compile(
    r"每[天日](?!都?有人)|(?<![今明后当前昨])天天(?!气)|(?<![a-z])(?:every ?day|each day|daily)(?![a-z])"
)
_OTHER_EN = re.compile(
    rf"(?<![a-z])(?:every (?:other|second|2nd|two|2) (?:weeks?(?: on)? ?(?={WEEKDAY_EN}))?{_DAYS_EN}"
    rf"|(?:bi-?weekly|every (?:other|two|2|second) weeks?|fortnightly)(?: on)?(?: {_DAYS_EN.replace('<days>', '<days2>')})?)"
)
_WEEKLY_EN = re.compile(
    rf"(?:(?<![a-z])(?:every|each|weekly(?: on)?|every week(?: on)?) |每个?\s?){_DAYS_EN}"
    rf"|(?<![a-z])(?:on )?(?P<plural>{_PLURAL}(?:(?:, | and |, and | & |/){_PLURAL})*)"
)
_WEEKLY_ONLY_EN = re.compile(r"(?<![a-z])(?:every week|each week|weekly|once a week)(?![a-z])")
_COUNT = re.compile(
    rf"(?:连续|共|一共|总共|for(?: the)?(?: next)?|next)\s?(?P<n>{numerals.NUMBER})\s?(?:个)?\s?(?P<u>周|星期|礼拜|次|月|weeks?|months?|times|occurrences|sessions)"
    rf"|(?P<n2>{numerals.NUMBER}) (?P<u2>times|occurrences|sessions)(?![a-z])"
    # 开4次, but 每周两次 is how often; next 3 Mondays, whose name is masked already
    rf"|(?<![{MASK}上下这那第每前后])(?P<n3>{numerals.NUMBER})\s?(?P<u3>次)"
    rf"|next\s(?P<n4>{numerals.NUMBER})\s?(?P<u4>{MASK})"
)
_NTH_ZH = {"一": 1, "二": 2, "三": 3, "四": 4, "1": 1, "2": 2, "3": 3, "4": 4}
_MONTHLY_ZH = re.compile(
    rf"每(?:个)?月的?(?:第(?P<n>[一二三四1-4])个?{_WEEK}(?P<w>[一二三四五六日天])|最后一?个?{_WEEK}(?P<lw>[一二三四五六日天])"
    rf"|(?P<last>最后一[天日]|月底)|(?P<d>\d{{1,2}}|[一二三]?十?[一二三四五六七八九十])\s?[号日]|(?:一次)?)"
)
_MONTHLY_EN = re.compile(
    rf"(?<![a-z])(?:on )?(?:the )?(?:(?P<n>first|second|third|fourth|last|1st|2nd|3rd|4th) (?P<w>{WEEKDAY_EN})|(?P<d>\d{{1,2}}(?:st|nd|rd|th)|{numerals.ORDINAL})(?: day)?|(?P<last>last day)) (?:of|in) (?:every|each|the) month(?! (?:after|of))(?<!the month)"
    rf"|(?<![a-z])(?:every|each) month on the (?:(?P<n2>first|second|third|fourth|last) (?P<w2>{WEEKDAY_EN})|(?P<d2>\d{{1,2}}(?:st|nd|rd|th)|{numerals.ORDINAL}))"
    rf"|(?<![a-z])(?:every|each) month(?![a-z])|(?<![a-z])monthly(?! (?:meeting|report|review|sync))(?![a-z])"
)
_DAY_TOKEN = re.compile(WEEKDAY_EN)


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repetition without its end; `byday` is empty when only "weekly" was said.

    Of a monthly one `byday` is the nth weekday ("1MO", "-1FR"), or `monthday` the day, -1 the last.
    `months`: how long it goes on, where neither an end nor a count was said.
    """

    freq: str
    byday: tuple[str, ...]
    interval: int
    span: Span
    count: int | None = None
    monthday: int | None = None
    months: int | None = None


def _zh_days(text: str | None) -> tuple[str, ...]:
    cleaned = re.sub(_WEEK, "", text or "")
    return tuple(dict.fromkeys(_ZH[c] for c in cleaned if c in _ZH))


def _en_days(text: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(BYDAY[weekday_en(m)] for m in _DAY_TOKEN.findall(text or "")))


def _monthly_zh(match: re.Match[str]) -> Repeat | None:
    if match["w"] or match["lw"]:
        nth = _NTH_ZH[match["n"]] if match["n"] else -1
        return Repeat("MONTHLY", (f"{nth}{_ZH[match['w'] or match['lw']]}",), 1, match.span())
    day = -1 if match["last"] else numerals.read(match["d"]) if match["d"] else None
    return _on_day(day, match)


def _monthly_en(match: re.Match[str]) -> Repeat | None:
    word, nth = match["w"] or match["w2"], match["n"] or match["n2"]
    if word:
        place = -1 if nth == "last" else numerals.read_ordinal(nth) or 1
        return Repeat("MONTHLY", (f"{place}{BYDAY[weekday_en(word)]}",), 1, match.span())
    said = match["d"] or match["d2"]
    day = -1 if match["last"] else numerals.read_ordinal(said) if said else None
    return _on_day(day, match)


def _on_day(day: int | None, match: re.Match[str]) -> Repeat | None:
    """Monthly on a day; whether any month has it is seen when its first date is looked for."""
    return None if day == 0 else Repeat("MONTHLY", (), 1, match.span(), monthday=day)


_Reader = Callable[[re.Match[str]], Repeat | None]


def _weekly(days: Callable[[str | None], tuple[str, ...]], *, every: int = 1) -> _Reader:
    def read(match: re.Match[str]) -> Repeat:
        groups = match.groupdict()
        said = next((groups[key] for key in ("days", "days2", "plural") if groups.get(key)), None)
        return Repeat("WEEKLY", days(said), every, match.span())

    return read


def _plain(freq: str, byday: tuple[str, ...] = ()) -> _Reader:
    return lambda match: Repeat(freq, byday, 1, match.span())


_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (_MONTHLY_ZH, _monthly_zh),
    (_MONTHLY_EN, _monthly_en),
    (_INTERVAL_ZH, _weekly(_zh_days, every=2)),
    (_OTHER_EN, _weekly(_en_days, every=2)),
    (_WORKDAYS, _plain("WEEKLY", BYDAY[:5])),
    (_DAILY, _plain("DAILY")),
    (_WEEKLY_ZH, _weekly(_zh_days)),
    (_WEEKLY_EN, _weekly(_en_days)),
    (_WEEKLY_ONLY_ZH, _plain("WEEKLY")),
    (_WEEKLY_ONLY_EN, _plain("WEEKLY")),
)


def _first(scan: Scan) -> Repeat | None:
    for pattern, reader in _READERS:
        if match := pattern.search(scan.text):
            return reader(match)
    return None


def find(scan: Scan) -> Repeat | None:
    """The repetition of the text, and its count; takes both."""
    repeat = _first(scan)
    if repeat is None:
        return None
    scan.take(repeat.span)
    match = _COUNT.search(scan.text)
    number, unit = _said(match) if match else ("", "")
    count = numerals.read(number) if number else None
    if match is None or not count:
        return repeat
    scan.take(match.span())
    if unit[0] in "月m" and repeat.freq != "MONTHLY":
        return replace(repeat, months=count)
    weeks = unit[0] in "周星礼w"
    times = count * max(1, len(repeat.byday)) // repeat.interval if weeks else count
    return replace(repeat, count=max(times, 1))


def _said(match: re.Match[str]) -> tuple[str, str]:
    """The number and the unit of a count, whichever way it was said."""
    found = ((match[f"n{way}"], match[f"u{way}"]) for way in ("", "2", "3", "4"))
    return next(pair for pair in found if pair[0])


def rule(repeat: Repeat, until: date | None, first: date | None) -> dict[str, Any]:
    """The rule as a slot value; without a weekday the first date's own is taken."""
    byday = repeat.byday
    if repeat.freq == "WEEKLY" and not byday and first is not None:
        byday = (BYDAY[first.weekday()],)
    value: dict[str, Any] = {"freq": repeat.freq, "byday": list(byday)}
    monthday = repeat.monthday
    if repeat.freq == "MONTHLY" and not byday and monthday is None and first is not None:
        monthday = first.day
    if monthday is not None:
        value["bymonthday"] = [monthday]
    if repeat.interval > 1:
        value["interval"] = repeat.interval
    if until is None and repeat.months is not None and first is not None:
        until = months_later(first, repeat.months) - timedelta(days=1)
    if until is not None:
        value["until"] = until.isoformat()
    if repeat.count is not None:
        value["count"] = repeat.count
    return value


def days_from(value: Mapping[str, Any], start: date) -> Iterator[date]:
    """The days of a rule from `start` on, at most MOST_OCCURRENCES of them."""
    interval = int(value.get("interval", 1))
    until = date.fromisoformat(value["until"]) if value.get("until") else None
    left = min(int(value.get("count") or MOST_OCCURRENCES), MOST_OCCURRENCES)
    origin, day = monday(start), start
    for _ in range(MOST_OCCURRENCES * 7 * interval):
        if left == 0 or (until is not None and day > until):
            return
        if _has(value, day, origin, interval):
            left -= 1
            yield day
        day += timedelta(days=1)


def _has(value: Mapping[str, Any], day: date, origin: date, interval: int) -> bool:
    """Whether the rule has this day."""
    codes = value.get("byday", ())
    if value["freq"] == "DAILY":
        return True
    if value["freq"] == "MONTHLY":
        last = month_end(day).day
        nth = {f"{(day.day - 1) // 7 + 1}", *(["-1"] if day.day > last - 7 else [])}
        on_weekday = any(code[-2:] == BYDAY[day.weekday()] and code[:-2] in nth for code in codes)
        return on_weekday or bool({day.day, day.day - last - 1} & set(value.get("bymonthday", ())))
    in_week = (monday(day) - origin).days // 7 % interval == 0
    return in_week and BYDAY[day.weekday()] in codes
