"""How often: 每周一, 每天, every Wednesday, every other Tuesday; tried before single dates.

A rule is a plain dict {"freq", "byday", "interval"?, "until"?, "count"?} in the words of RFC 5545,
with "until" as a local date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from booking.agent.understand import numerals
from booking.agent.understand.months import WEEKDAY_EN, monday, weekday_en
from booking.agent.understand.normalise import Scan
from booking.agent.understand.types import Span

BYDAY = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
MOST_OCCURRENCES = 400

_ZH = dict(zip("一二三四五六日天", (*BYDAY, "SU"), strict=True))
_WEEK = r"(?:周|星期|礼拜)"
_DAYS_ZH = rf"(?P<days>[一二三四五六日天](?:\s?[和、及,与跟]?\s?(?:每?{_WEEK})?[一二三四五六日天](?!点|个|人|小时|位|楼|层)){{0,6}})"
_DAYS_EN = rf"(?P<days>{WEEKDAY_EN}s?(?![a-z])(?:(?:, | and |, and | & |/)(?:every |on )?{WEEKDAY_EN}s?(?![a-z])){{0,6}})"
_PLURAL = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days(?![a-z])"
_INTERVAL_ZH = re.compile(
    rf"(?:每(?:隔)?(?:两|2|二)(?:个)?{_WEEK}(?:一次)?的?|隔{_WEEK}的?|双周的?)(?:{_WEEK}?{_DAYS_ZH})?"
)
_WEEKLY_ZH = re.compile(rf"(?:每(?:个)?|(?<![a-z])every ){_WEEK}的?(?:{_WEEK})?{_DAYS_ZH}")
_WEEKLY_ONLY_ZH = re.compile(rf"每(?:个)?{_WEEK}(?:一次)?|{_WEEK}度")
_WORKDAYS = re.compile(
    r"每个?工作日|(?:每个?)?周一(?:到|至|-)周五每天|(?<![a-z])(?:every|each) (?:weekday|work ?day|working day|business day)(?![a-z])"
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
    rf"(?:连续|共|一共|总共|for(?: the)?(?: next)?|next)\s?(?P<n>{numerals.NUMBER})\s?(?:个)?\s?(?P<u>周|星期|礼拜|次|weeks?|times|occurrences|sessions)"
    rf"|(?P<n2>{numerals.NUMBER}) (?P<u2>times|occurrences|sessions)(?![a-z])"
)
_DAY_TOKEN = re.compile(WEEKDAY_EN)


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repetition without its end; `byday` is empty when only "weekly" was said."""

    freq: str
    byday: tuple[str, ...]
    interval: int
    span: Span
    count: int | None = None


def _zh_days(text: str | None) -> tuple[str, ...]:
    cleaned = re.sub(_WEEK, "", text or "")
    return tuple(dict.fromkeys(_ZH[c] for c in cleaned if c in _ZH))


def _en_days(text: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(BYDAY[weekday_en(m)] for m in _DAY_TOKEN.findall(text or "")))


def _first(scan: Scan) -> Repeat | None:
    text = scan.text
    if match := _INTERVAL_ZH.search(text):
        return Repeat("WEEKLY", _zh_days(match["days"]), 2, match.span())
    if match := _OTHER_EN.search(text):
        return Repeat("WEEKLY", _en_days(match["days"] or match["days2"]), 2, match.span())
    if match := _WORKDAYS.search(text):
        return Repeat("WEEKLY", BYDAY[:5], 1, match.span())
    if match := _DAILY.search(text):
        return Repeat("DAILY", (), 1, match.span())
    if match := _WEEKLY_ZH.search(text):
        return Repeat("WEEKLY", _zh_days(match["days"]), 1, match.span())
    if match := _WEEKLY_EN.search(text):
        return Repeat("WEEKLY", _en_days(match["days"] or match["plural"]), 1, match.span())
    if match := _WEEKLY_ONLY_ZH.search(text) or _WEEKLY_ONLY_EN.search(text):
        return Repeat("WEEKLY", (), 1, match.span())
    return None


def find(scan: Scan) -> Repeat | None:
    """The repetition of the text, and its count; takes both."""
    repeat = _first(scan)
    if repeat is None:
        return None
    scan.take(repeat.span)
    match = _COUNT.search(scan.text)
    count = numerals.read(match["n"] or match["n2"]) if match else None
    if match is None or not count:
        return repeat
    scan.take(match.span())
    weeks = (match["u"] or match["u2"])[0] in "周星礼w"
    times = count * max(1, len(repeat.byday)) // repeat.interval if weeks else count
    return Repeat(repeat.freq, repeat.byday, repeat.interval, repeat.span, max(times, 1))


def rule(repeat: Repeat, until: date | None, first: date | None) -> dict[str, Any]:
    """The rule as a slot value; without a weekday the first date's own is taken."""
    byday = repeat.byday
    if repeat.freq == "WEEKLY" and not byday and first is not None:
        byday = (BYDAY[first.weekday()],)
    value: dict[str, Any] = {"freq": repeat.freq, "byday": list(byday)}
    if repeat.interval > 1:
        value["interval"] = repeat.interval
    if until is not None:
        value["until"] = until.isoformat()
    if repeat.count is not None:
        value["count"] = repeat.count
    return value


def days_from(value: Mapping[str, Any], start: date) -> Iterator[date]:
    """The days of a rule from `start` on, at most MOST_OCCURRENCES of them."""
    wanted = {BYDAY.index(code) for code in value.get("byday", ())}
    interval = int(value.get("interval", 1))
    until = date.fromisoformat(value["until"]) if value.get("until") else None
    left = min(int(value.get("count") or MOST_OCCURRENCES), MOST_OCCURRENCES)
    origin, day = monday(start), start
    for _ in range(MOST_OCCURRENCES * 7 * interval):
        if left == 0 or (until is not None and day > until):
            return
        in_week = (monday(day) - origin).days // 7 % interval == 0
        if value["freq"] == "DAILY" or (in_week and day.weekday() in wanted):
            left -= 1
            yield day
        day += timedelta(days=1)
