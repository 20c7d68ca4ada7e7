"""What a duration does when it is no length: a start counted from now, or a change by an amount."""

from __future__ import annotations

import re
from dataclasses import dataclass

from booking.agent.understand.durations import Length
from booking.agent.understand.normalise import Scan
from booking.agent.understand.types import Span

_LATER_ZH = r"\s?(?:之后|以后|过后|后)(?![天年])"
_AFTER = re.compile(_LATER_ZH)
_EN_IN = re.compile(r"(?<![a-z])in (?:about |around )?$")
_EN_FROM_NOW = re.compile(r"\s(?:from now|(?P<later>later))(?![a-z])")
_MOVED = re.compile(
    r"(?<![a-z])(?:mov(?:e|ing)|push|shift|reschedul(?:e|ing)|postpon(?:e|ing)|start|delay|change|put)(?![a-z])"
)
_WITHIN = re.compile(r"(?:未来|接下来|今后)的?\s?$|(?<![a-z])(?:the )?(?:next|coming|following) $")
_SHIFT = re.compile(
    r"(?P<later>推迟|延后|往后推?|后移|后延|push(?:ed)? (?:[^,]{0,30} )?back|push(?=[^,]{1,40} by )|postpone|delay|晚(?=了?点?$))|"
    r"(?P<earlier>提前|提早|往前提?|前移|bring (?:[^,]{0,30} )?forward|move (?:[^,]{0,30} )?up(?: by)?(?= )|早(?=了?点?$))|"
    r"(?P<longer>延长|加长|多开|多用|再开|续|extend|prolong|lengthen|多订|多加|加(?!到))|"
    r"(?P<shorter>缩短|减少|少开|少用|shorten|cut|reduce)"
)
_GAP = re.compile(r"[到点时:\ue000]|(?<!booking )(?<![\d#])\d|(?<![a-z])(?:to|until|till)(?![a-z])")
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
    """A start counted from now; with the rule "window.ahead" the time until then."""

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
    if match := _EN_IN.search(before := scan.before(start, 16)):
        return Offset(ahead, (start - len(before) + match.start(), end), "start.from_now")
    match = _EN_FROM_NOW.match(scan.text, end)
    if match and not (match["later"] and _MOVED.search(scan.before(start, 60))):
        rule = "start.later" if match["later"] else "start.from_now"
        return Offset(ahead, (start, match.end()), rule)
    if match := _WITHIN.search(before):
        return Offset(ahead, (start - len(before) + match.start(), end), "window.ahead")
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


_EITHER_WAY = re.compile(
    r"(?<![a-z])mov(?:e|ing) (?:[^,]{0,30} )?(?:back|forwards?|by)(?: by)?\s?$"
)


def is_either_way(length: Length, scan: Scan) -> bool:
    """Move it back an hour: some mean earlier, some later."""
    return bool(_EITHER_WAY.search(scan.before(length.span[0], 50)))


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
