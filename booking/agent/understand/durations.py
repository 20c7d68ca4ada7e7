"""How long: 一个半小时, 三刻钟, 90 minutes, an hour and a half, two days.

Read before anything that looks like a time, since 半小时 would else be taken for half past.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from booking.agent.understand import numerals
from booking.agent.understand.normalise import Scan
from booking.agent.understand.types import Found, Problem, Span

DAY = 24 * 60

_NUM = rf"(?:\d{{1,4}}(?:\.\d{{1,2}})?|\.\d{{1,2}}|{numerals.ZH}|{numerals.EN})"
_SIGN = r"(?P<sign>(?<![\da-z])-\s?|负|minus )?"
_EDGE = r"(?![a-z])"
_HOUR_ZH = r"(?:小时|钟头)"
_HOUR_EN = r"(?:hours?|hrs?|h)(?![a-z\d])"
_MIN_EN = rf"(?:minutes?|mins?|m){_EDGE}"
_APPROXIMATE = re.compile(r"(?:大概|大约|差不多|约|about|around|roughly|approximately|左右)\s?$")


@dataclass(frozen=True, slots=True)
class Length:
    """A duration in minutes. `options` has both readings when two were said (1-2 hours)."""

    minutes: float
    span: Span
    rule: str
    assumed: bool = False
    options: tuple[int, ...] = ()


def _amount(text: str) -> float | None:
    text = text.strip()
    if text in {"a", "an"}:
        return 1
    if "." in text:
        return float(text)
    return numerals.read(text)


_Reader = Callable[[re.Match[str]], float | None]


def _fixed(minutes: float) -> _Reader:
    return lambda match: minutes


def _times(factor: float, plus: float = 0) -> _Reader:
    def read(match: re.Match[str]) -> float | None:
        amount = _amount(match["n"])
        return None if amount is None else amount * factor + plus

    return read


def _hours_and(match: re.Match[str]) -> float | None:
    hours = _amount(match["n"])
    if hours is None:
        return None
    groups = match.groupdict()
    if groups.get("d"):
        hours += 24 * (_amount(groups["d"]) or 0)
    if groups.get("half"):
        return hours * 60 + 30
    if quarters := groups.get("q"):
        return hours * 60 + 15 * (numerals.read(quarters) or 0)
    minutes = numerals.read(groups["m"]) if groups.get("m") else 0
    return hours * 60 + (minutes or 0)


def _rule(name: str, pattern: str, reader: _Reader) -> tuple[str, re.Pattern[str], _Reader]:
    return name, re.compile(pattern), reader


_JOINED_TO = r"(?:,? and |,? )?"
_N = rf"{_SIGN}(?P<n>{_NUM})"
_AN = rf"{_SIGN}(?P<n>{_NUM}|(?<![a-z])an?(?![a-z]))"
_RULES = (
    _rule("hour_and_half_en", rf"{_AN} {_HOUR_EN} and a half", _times(60, 30)),
    _rule(
        "days_hours_en",
        rf"(?P<d>\d{{1,2}}) ?d(?:ays?)?{_JOINED_TO}(?P<n>\d{{1,2}}) ?{_HOUR_EN}"
        rf"(?:{_JOINED_TO}(?P<m>\d{{1,2}}) ?{_MIN_EN})?",
        _hours_and,
    ),
    _rule("and_half_hours_en", rf"{_N} (?:and an? half|1/2|and 1/2) {_HOUR_EN}", _times(60, 30)),
    _rule("and_quarter_en", rf"{_N} and (?:a )?quarter (?:of )?(?:an )?{_HOUR_EN}", _times(60, 15)),
    _rule(
        "and_quarters_en",
        rf"{_N} and three quarters? (?:of )?(?:an )?{_HOUR_EN}",
        _times(60, 45),
    ),
    _rule("hour_and_quarter_en", rf"{_AN} {_HOUR_EN} and a quarter", _times(60, 15)),
    _rule(
        "quarters_en",
        r"(?P<n>three|3) quarters? of an hour",
        _fixed(45),
    ),
    _rule("three_quarters_en", rf"3/4 (?:of an )?{_HOUR_EN}", _fixed(45)),
    _rule(
        "quarter_en",
        rf"(?:(?:a )?quarter (?:of )?(?:an )?|1/4 (?:of an )?){_HOUR_EN}",
        _fixed(15),
    ),
    _rule(
        "half_hour_en", rf"(?<![a-z\d])(?:a )?(?:half|1/2)(?: an| of an)?[ -]{_HOUR_EN}", _fixed(30)
    ),
    _rule("half_hours_zh", rf"{_N}\s?个\s?半\s?(?:{_HOUR_ZH}|钟)", _times(60, 30)),
    _rule("half_hour_zh", rf"半\s?个?\s?多?(?:{_HOUR_ZH}|钟|hour(?![a-z]))", _fixed(30)),
    _rule(
        "hours_zh",
        rf"{_N}\s?(?:个\s?)?{_HOUR_ZH}(?:(?P<half>半)|\s?[零又]?(?P<q>[一二三123])刻钟?|"
        rf"\s?[零又]?(?P<m>\d{{1,2}}|{numerals.ZH})\s?分钟?)?",
        _hours_and,
    ),
    _rule("hour_and_half_en", r"(?<![a-z])hour and a half(?![a-z])", _fixed(90)),
    _rule("another_hour_en", rf"another {_HOUR_EN}", _fixed(60)),
    _rule("hours_short_zh", rf"{_N}\s?个\s?钟(?!头)", _times(60)),
    _rule(
        "hours_minutes_short", r"(?P<sign>-)?(?P<n>\d{1,2})h(?P<m>\d{2})m?(?![a-z\d])", _hours_and
    ),
    _rule(
        "hours_and_number_en",
        rf"{_AN} (?:hours?|hrs?)(?: and)? (?P<m>\d\d|{numerals.EN})(?=\s*(?:$|[,.;!?]))",
        _hours_and,
    ),
    _rule(
        "hours_en",
        rf"{_AN}[ -]?{_HOUR_EN}(?:{_JOINED_TO}(?P<m>\d{{1,2}}|{numerals.EN})[ -]?{_MIN_EN})?",
        _hours_and,
    ),
    _rule("quarters_zh", rf"{_N}\s?刻\s?钟", _times(15)),
    _rule("minutes_zh", rf"{_N}\s?分钟", _times(1)),
    _rule(
        "minutes_en",
        rf"{_AN}[ -]?(?:minutes?|mins?|(?<=\d\d)m){_EDGE}(?! (?:to|past) (?:\d|{numerals.EN}))",
        _times(1),
    ),
    _rule("minute_sign", r"(?<![\d.a-z])(?P<n>\d{1,3})'(?![a-z\d'])", _times(1)),
    _rule("minutes_ahead_en", r"(?<![a-z])(?<=in )(?P<n>[1-9]\d?)(?=\s*(?:$|[,.;!?]))", _times(1)),
    _rule("couple_hours_en", r"(?:a )?couple (?:of )?hours", _fixed(120)),
    _rule("couple_minutes_en", r"(?:a )?couple (?:of )?min(?:ute)?s", _fixed(2)),
    _rule(
        "half_day", r"半天|(?<![a-z])(?:a )?half(?: an?| of the)?[ -]day(?![a-z])", _fixed(DAY / 2)
    ),
)
_ASSUMED_RULES = {"couple_hours_en", "half_day"}

_RANGE = re.compile(
    rf"(?P<a>\d{{1,3}}(?:\.\d)?|{numerals.ZH}|{numerals.EN})\s?(?:-|~|到|至|or|to|或)\s?"
    rf"(?P<b>\d{{1,3}}(?:\.\d)?|{numerals.ZH}|{numerals.EN})\s?"
    rf"(?:(?P<h>(?:个\s?)?{_HOUR_ZH}|{_HOUR_EN})|(?P<min>分钟|(?:minutes?|mins?){_EDGE}))"
)
_NEIGHBOURS = re.compile(rf"(?P<n>[一二两三四五六七八九]{{2}})\s?个?\s?{_HOUR_ZH}")
_ALL_DAY = re.compile(
    r"全天|一整天|整天|(?<![a-z])(?:all|(?:the |a )?(?:whole|full|entire))[ -]day(?![a-z])"
)
_CLOCK_H = re.compile(r"(?:\d{1,2}\s?-\s?)?(?P<n>\d{1,2})h(?:[0-5]\d)?(?![a-z\d])")
_CLOCK_BEFORE = re.compile(
    r"(?:(?<![a-z])(?:at|from|between|until|till?|to|by|around)|@|\dh(?:\d\d)?\s?(?:-|and|到|至))\s?$"
)
_CLOCK_AFTER = re.compile(r"\s?(?:-|to|till?|until|and|到|至)\s?\d{1,2}h")
_DAYS = re.compile(
    r"(?<![第每隔哪那这某同有任改另当提前\d一二三四五六七八九十])"
    rf"(?P<n>{numerals.NUMBER}|两|几)\s?个?\s?(?P<u>天|周|星期|礼拜|(?<=[两 ])日)(?![前后内一二三四五六日天]|\s?(?:之|以|过)[前后])"
    rf"|(?<![a-z])(?P<n2>a|an|one|some|a few|a couple of|all|(?:the )?whole|{numerals.NUMBER})[ -](?P<u2>days?|weeks?)(?![a-z])(?! (?:ago|later|from now|from today|hence|in advance))"
)
_HALF_MORE = re.compile(r"\s?个?半(?!小时|天|个)| and a half(?![a-z])")
_FEW = {"几": 3, "some": 3, "a few": 3, "a couple of": 2, "a": 1, "an": 1, "all": 1}


def _length(name: str, match: re.Match[str], minutes: float, scan: Scan) -> Length:
    minutes = -minutes if match.groupdict().get("sign") else minutes
    near = f"{scan.before(match.start(), 16)}"
    loose = bool(_APPROXIMATE.search(near)) or scan.after(match.end(), 2) == "左右"
    return Length(minutes, match.span(), f"duration.{name}", name in _ASSUMED_RULES or loose)


def _two_lengths(scan: Scan) -> list[Length]:
    found = []
    for match in scan.matches(_RANGE):
        low, high = _amount(match["a"]), _amount(match["b"])
        if low is None or high is None or low >= high or _is_clock(match, scan):
            continue
        unit = 60 if match["h"] else 1
        both = (round(low * unit), round(high * unit))
        found.append(Length(both[1], match.span(), "duration.range", options=both))
        scan.take(match.span())
    for match in scan.matches(_NEIGHBOURS):
        if pair := numerals.neighbours(match["n"]):
            both = (pair[0] * 60, pair[1] * 60)
            found.append(Length(both[1], match.span(), "duration.range", options=both))
            scan.take(match.span())
    return found


def find(scan: Scan) -> tuple[Length, ...]:
    """Every duration in what is left of the text, in the order it was said; takes them."""
    found = _two_lengths(scan)
    for name, pattern, reader in _RULES:
        for match in scan.matches(pattern):
            minutes = None if _is_clock(match, scan) else reader(match)
            if minutes is not None:
                found.append(_length(name, match, minutes, scan))
                scan.take(match.span())
    return tuple(sorted(found, key=lambda length: length.span))


def _is_clock(match: re.Match[str], scan: Scan) -> bool:
    """15h15, at 9h, 9h30 - 11h: hours written with an h that are times of day."""
    said = _CLOCK_H.fullmatch(match.group())
    if said is None:
        return False
    start, end = match.span()
    beside = _CLOCK_BEFORE.search(scan.before(start, 12)) or _CLOCK_AFTER.match(scan.text, end)
    return int(said["n"]) > 12 or bool(beside)


def find_days(scan: Scan) -> tuple[Length, ...]:
    """Lengths of whole days and weeks, in what the dates have left; takes them."""
    found = []
    for match in scan.matches(_DAYS):
        said, unit = match["n"] or match["n2"], match["u"] or match["u2"]
        count = _FEW.get(said.removeprefix("the ").replace("whole", "all"), numerals.read(said))
        if count:
            more = _HALF_MORE.match(scan.text, match.end())
            days = (count + (0.5 if more else 0)) * (7 if unit[0] in "周星礼w" else 1)
            span = (match.start(), more.end() if more else match.end())
            found.append(Length(days * DAY, span, "duration.days", said in _FEW))
            scan.take(span)
    return tuple(found)


def find_all_day(scan: Scan) -> Span | None:
    match = _ALL_DAY.search(scan.text)
    if match is None:
        return None
    scan.take(match.span())
    return match.span()


def value_of(length: Length, text: str) -> Found | Problem:
    """A duration in whole minutes, or why it cannot be one."""
    said = text[slice(*length.span)]
    if length.options:
        return Problem("ambiguous_duration", "duration_minutes", length.span, said, length.options)
    minutes = round(length.minutes)
    if not 0 < minutes <= DAY:
        return Problem("impossible_duration", "duration_minutes", length.span, said)
    return Found(minutes, length.span, length.rule, length.assumed)
