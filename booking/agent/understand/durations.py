"""How long: 一个半小时, 三刻钟, 90 minutes, an hour and a half; and how far from now.

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
_HOUR_EN = rf"(?:hours?|hrs?|h){_EDGE}"
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
    if groups.get("half"):
        return hours * 60 + 30
    if quarters := groups.get("q"):
        return hours * 60 + 15 * (numerals.read(quarters) or 0)
    minutes = numerals.read(groups["m"]) if groups.get("m") else 0
    return hours * 60 + (minutes or 0)


def _rule(name: str, pattern: str, reader: _Reader) -> tuple[str, re.Pattern[str], _Reader]:
    return name, re.compile(pattern), reader


_N = rf"{_SIGN}(?P<n>{_NUM})"
_AN = rf"{_SIGN}(?P<n>{_NUM}|(?<![a-z])an?(?![a-z]))"
_RULES = (
    _rule("hour_and_half_en", rf"{_AN} {_HOUR_EN} and a half", _times(60, 30)),
    _rule("and_half_hours_en", rf"{_N} (?:and an? half|1/2|and 1/2) {_HOUR_EN}", _times(60, 30)),
    _rule("and_quarter_en", rf"{_N} and (?:a )?quarter (?:of )?{_HOUR_EN}", _times(60, 15)),
    _rule("and_quarters_en", rf"{_N} and three quarters? (?:of )?{_HOUR_EN}", _times(60, 45)),
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
    _rule("half_hour_zh", rf"半\s?个?\s?多?(?:{_HOUR_ZH}|钟)", _fixed(30)),
    _rule(
        "hours_zh",
        rf"{_N}\s?(?:个\s?)?{_HOUR_ZH}(?:(?P<half>半)|\s?[零又]?(?P<q>[一二三123])刻钟?|"
        rf"\s?[零又]?(?P<m>\d{{1,2}}|{numerals.ZH})\s?分钟?)?",
        _hours_and,
    ),
    _rule("hours_short_zh", rf"{_N}\s?个\s?钟(?!头)", _times(60)),
    _rule(
        "hours_minutes_short", r"(?P<sign>-)?(?P<n>\d{1,2})h(?P<m>\d{2})m?(?![a-z\d])", _hours_and
    ),
    _rule(
        "hours_en",
        rf"{_AN}[ -]?{_HOUR_EN}(?:(?:,? and |,? )?(?P<m>\d{{1,2}}|{numerals.EN})[ -]?{_MIN_EN})?",
        _hours_and,
    ),
    _rule("quarters_zh", rf"{_N}\s?刻\s?钟", _times(15)),
    _rule("minutes_zh", rf"{_N}\s?分钟", _times(1)),
    _rule("minutes_en", rf"{_AN}[ -]?(?:minutes?|mins?|(?<=\d\d)m){_EDGE}", _times(1)),
    _rule("couple_hours_en", r"(?:a )?couple (?:of )?hours", _fixed(120)),
)
_ASSUMED_RULES = {"couple_hours_en"}

_RANGE = re.compile(
    rf"(?P<a>\d{{1,3}}(?:\.\d)?|{numerals.ZH}|{numerals.EN})\s?(?:-|~|到|至|or|to|或)\s?"
    rf"(?P<b>\d{{1,3}}(?:\.\d)?|{numerals.ZH}|{numerals.EN})\s?"
    rf"(?:(?P<h>(?:个\s?)?{_HOUR_ZH}|{_HOUR_EN})|(?P<min>分钟|(?:minutes?|mins?){_EDGE}))"
)
_NEIGHBOURS = re.compile(rf"(?P<n>[一二两三四五六七八九]{{2}})\s?个?\s?{_HOUR_ZH}")
_ALL_DAY = re.compile(r"全天|一整天|整天|(?<![a-z])(?:all|whole|full)[ -]day(?![a-z])")


def _length(name: str, match: re.Match[str], minutes: float, scan: Scan) -> Length:
    minutes = -minutes if match.groupdict().get("sign") else minutes
    near = f"{scan.before(match.start(), 16)}"
    loose = bool(_APPROXIMATE.search(near)) or scan.after(match.end(), 2) == "左右"
    return Length(minutes, match.span(), f"duration.{name}", name in _ASSUMED_RULES or loose)


def _two_lengths(scan: Scan) -> list[Length]:
    found = []
    for match in scan.matches(_RANGE):
        low, high = _amount(match["a"]), _amount(match["b"])
        if low is None or high is None or low >= high:
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
            minutes = reader(match)
            if minutes is not None:
                found.append(_length(name, match, minutes, scan))
                scan.take(match.span())
    return tuple(sorted(found, key=lambda length: length.span))


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


_LATER_ZH = r"\s?(?:之后|以后|后)(?![天年])"
_AFTER = re.compile(_LATER_ZH)
_EN_IN = re.compile(r"(?<![a-z])in (?:about |around )?$")
_EN_FROM_NOW = re.compile(r"\s(?:from now|later)(?![a-z])")
_SHIFT = re.compile(
    r"(?P<later>推迟|延后|往后推?|后移|后延|push(?:ed)? (?:it )?back|postpone|delay|晚(?=了?点?$))|"
    r"(?P<earlier>提前|提早|往前提?|前移|bring (?:it )?forward|早(?=了?点?$))|"
    r"(?P<longer>延长|加长|多开|多用|再开|续|extend|prolong|lengthen|多订|多加|加(?!到))|"
    r"(?P<shorter>缩短|减少|少开|少用|shorten|cut|reduce)"
)
_GAP = re.compile(r"[到点时:\ue000]|\d|(?<![a-z])(?:to|until|till)(?![a-z])")
_TAIL = re.compile(
    r"\s(?:(?P<later>later)|(?P<earlier>earlier)|(?P<longer>longer|more)|(?P<shorter>shorter|less))(?![a-z])"
)
_KINDS = {
    "later": ("start_change", 1),
    "earlier": ("start_change", -1),
    "longer": ("duration_change", 1),
    "shorter": ("duration_change", -1),
}


@dataclass(frozen=True, slots=True)
class Shift:
    """A change by an amount: kind is start_change or duration_change, minutes are signed."""

    kind: str
    minutes: int
    span: Span


@dataclass(frozen=True, slots=True)
class Offset:
    """A start counted from now."""

    minutes: int
    span: Span
    rule: str


def is_offset(length: Length, scan: Scan) -> Offset | None:
    """半小时后, in 1.5 hours, 40 minutes from now."""
    start, end = length.span
    ahead = round(length.minutes)
    if length.options or ahead <= 0:
        return None
    if match := _AFTER.match(scan.text, end):
        return Offset(ahead, (start, match.end()), "start.from_now")
    if match := _EN_IN.search(before := scan.before(start, 12)):
        return Offset(ahead, (start - len(before) + match.start(), end), "start.from_now")
    if match := _EN_FROM_NOW.match(scan.text, end):
        return Offset(ahead, (start, match.end()), "start.from_now")
    return None


def is_shift(length: Length, scan: Scan) -> Shift | None:
    """延长半小时, push it back 30 minutes, an hour earlier, 15 minutes longer."""
    start, end = length.span
    if tail := _TAIL.match(scan.text, end):
        return _shift(tail, length, (start, tail.end()))
    if scan.text[start - 1 : start] in {"到", "成", "为"}:
        return None
    before = scan.before(start, 40)
    heads = list(_SHIFT.finditer(before))
    if not heads:
        return None
    gap = before[heads[-1].end() :]
    if _GAP.search(gap):
        return None
    if re.search(r"(?<![a-z])(?:to|for)\s?$", gap):
        return None
    return _shift(heads[-1], length, length.span)


def _shift(match: re.Match[str], length: Length, span: Span) -> Shift:
    kind, sign = _KINDS[match.lastgroup or "later"]
    return Shift(kind, sign * round(length.minutes), span)


_NOW = re.compile(
    r"马上|立刻|立即|现在(?!是)|此刻|(?<![a-z])(?:right now|right away|immediately|asap|now)(?![a-z])"
)


def find_now(scan: Scan) -> Offset | None:
    match = _NOW.search(scan.text)
    if match is None:
        return None
    scan.take(match.span())
    return Offset(0, match.span(), "start.now")
