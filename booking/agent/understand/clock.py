"""Times of day as words: points, ranges and parts of the day, before anybody decides on am or pm.

A point keeps every reading its own words allow; `hours` chooses among them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from booking.agent.understand import numerals
from booking.agent.understand.normalise import Scan
from booking.agent.understand.types import Span

PARTS = {
    "dawn": "凌晨|半夜|午夜(?!12|十二)",
    "morning": "大清早|清早|清晨|早晨|早上|上午|早",
    "noon": "中午|正午(?=[12十一]+点)|晌午",
    "afternoon": "下午|午后",
    "evening": "傍晚|晚上|晚间|夜里|夜晚|深夜|晚",
}
_PART_OF = {word: part for part, words in PARTS.items() for word in words.split("|")}
_PART_OF |= {"午夜": "dawn", "正午": "noon"}
_EN_PARTS = {"morning": "morning", "afternoon": "afternoon", "evening": "evening", "night": "night"}
_EN_PARTS |= {"tonight": "evening", "am": "am", "a": "am", "pm": "pm", "p": "pm", "noon": "pm"}

_PART_ZH = "|".join(words for words in PARTS.values())
_HOUR_ZH = (
    r"(?:\d{1,2}|二十[一二三四五六七八九]?|十[一二三四五六七八九]?|[零〇一二两俩三四五六七八九])"
)
_MIN_ZH = r"(?:\d{1,2}|[二三四五]?十[一二三四五六七八九]?|[零〇][一二三四五六七八九]|[一二三四五六七八九](?=分))"
_HOUR_EN = r"(?:twelve|eleven|ten|nine|eight|seven|six|five|four|three|two|one)"
_TEENS = r"(?:eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)"
_MIN_EN = (
    r"(?:(?:twenty|thirty|forty|fifty)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?"
    rf"|oh[ -](?:one|two|three|four|five|six|seven|eight|nine)|{_TEENS}|ten|five)(?![a-z])"
)
_HALF_OF_DAY = r"(?:morning|afternoon|evening|night|tonight|[ap]m)"
_SUFFIX = (
    r"(?:\s?(?P<ap>[ap]m|[ap](?=[\s,.!?-]|$))(?![a-z])"
    rf"|\s(?:in the |at |this |tomorrow |in )?(?P<suf>{_HALF_OF_DAY})(?![a-z]))?"
)
_LESS = rf"(?:一刻|(?:\d{{1,2}}|{numerals.ZH})分)"
_POINT = re.compile(
    rf"(?:(?P<part>{_PART_ZH}|(?<![a-z])[ap]m(?![a-z]))\s?的?\s?)?(?:"
    rf"(?<![\d:.])(?P<ch>\d{{1,2}}):(?P<cm>\d{{2}})(?!\d)(?P<cs>:[0-5]\d(?!\d))?|"
    rf"(?<![a-z\d:.])(?P<hh>\d{{1,2}})h(?P<hm>[0-5]\d)?(?![a-z\d])|"
    rf"差(?P<less>{_LESS})钟?(?:到)?(?P<lh>{_HOUR_ZH})[点时]|"
    rf"(?<![\d:.])(?P<zh>{_HOUR_ZH})\s?(?:点钟|点(?!半?小时|个|儿)|时(?![间候长段差区代]))"
    rf"(?:\s?(?:(?P<half>半)|(?P<q>[一1三3])刻(?!钟后)|整|差(?P<short>{_LESS})|[过零]?(?P<zm>{_MIN_ZH})\s?分?(?!\s?(?:个|人|位|名|小时|刻|天|\d*点))))?|"
    rf"(?<![a-z\d])(?P<rel>half|quarter|a quarter|five|ten|twenty|twenty[ -]five|(?P<mins>\d{{1,2}}|{numerals.EN})(?= (?:minutes?|mins?) (?:past|to|before) | past ))"
    rf"(?: minutes?| mins?)? (?P<dir>past|after|to|till|before) "
    rf"(?P<rh>\d{{1,2}}(?!\d)|{_HOUR_EN}(?![a-z]))(?::(?P<rcm>[0-5]\d)|(?: (?P<rm>{_MIN_EN})))?|"
    rf"(?<![a-z\d])(?<!\d )(?<!and )(?<!or )half[ -](?P<bh>1[0-2]|[1-9]|{_HOUR_EN})(?![\d:.a-z%]|\s?(?:of|people|hours?|hrs?|days?|an?|minutes?|price)(?![a-z]))|"
    rf"(?<![\d:.])(?P<dh>\d{{1,2}})\.(?P<dm>[0-5]\d)(?![\d.])|"
    rf"(?<![a-z])(?P<word>noon|midday|midnight)(?![a-z])|(?P<high>正午|(?<=[到至])中午(?![\d一二三四五六七八九十]))|"
    rf"(?<![a-z])(?P<eh>{_HOUR_EN}|{_TEENS}) (?P<em>{_MIN_EN})|"
    rf"(?<![\d:.#a-z])(?P<mh>[01]\d|2[0-3])(?P<mm>[0-5]\d)(?P<hrs>\s?h(?:rs|ours)?)?(?![\d:./年]|(?![ap]m(?![a-z]))[a-z])|"
    rf"(?<![\d:.#a-z/-])(?P<th>[1-9])(?P<tm>[0-5]\d)(?=\s?[ap]m(?![a-z]))|"
    rf"(?P<bare>(?<![\d.:a-z/#%])\d{{1,2}}(?![\d%/:])(?!\.\d)(?!\s?(?:[个位名人间楼层号月日天周年次块元座栋分]|th|st|nd|rd|rooms?(?![a-z])))|"
    rf"(?<![a-z]){_HOUR_EN}(?![a-z])|{_HOUR_ZH}(?=\s?(?:到|至|[-~])\s?{_HOUR_ZH}[点时:]))"
    rf"(?:\s?o'?\s?clock(?P<oc>)|(?P<ish>-?ish(?![a-z])))?"
    rf"){_SUFFIX}"
)
_JOIN = re.compile(
    r"\s?(?:(?:钟)?(?:开始)?(?:到|至)|[-~]{1,3}|(?:to|till?|until|'til|through|thru|and|-)(?![a-z]))\s?(?:the )?$"
)
_JOIN_AND = re.compile(r"\s?(?:and|和)\s?$")
_BEFORE_BARE = re.compile(
    r"(?:(?<![a-z])(?:at|from|around|about|by|start(?:ing|s)?(?: at)?|begin(?:ning|s)?(?: at)?|between|until|till?|"
    r"end(?:s|ing)?(?: at)?|finish(?:es|ing)?(?: at)?|before|after)|@|'til"
    r"|(?:move|push|change|shift|reschedule|postpone|extend|bring)[a-z]*[^,.]{0,24} (?:to|until|till?))\s?$"
)
_PART_AFTER = re.compile(
    r",? (?:ton(?:ight|ite)|(?:this|tomorrow|in the) (?:morning|afternoon|evening))(?![a-z])"
)
_PART_BEFORE = re.compile(r"(?<![a-z])(?:ton(?:ight|ite)|morning|afternoon|evening|night) $")
_END_BEFORE = re.compile(
    r"(?:(?:结束|散会|完)[^,]{0,8}|用到|开到|订到|延长?[至到]|(?<![改挪移换推调迟前后整])[到至]"
    r"|(?<![a-z])(?:until|till?|through|thru|end(?:s|ing)?(?: time)?|finish(?:es|ing)?(?: time)?)(?: (?:it|is|to|at|time|should|be|by))*"
    r"|'til|extend[^,]{0,20} (?:to|until)|over (?:at|by))\s?$"
)
_END_AFTER = re.compile(r"\s?(?:结束|散会|为止|收|前结束|之前结束|完)")
_AFTER_ROLE = re.compile(r"(?:(?<![a-z])(?:after|any ?time after|not before))\s?$")
_BEFORE_ROLE = re.compile(r"(?:(?<![a-z])(?:before|done by|finish(?:ed)? by))\s?$")
_AFTER_ZH, _BEFORE_ZH = (
    re.compile(r"\s?(?:之后|以后|后(?![天面]))"),
    re.compile(r"\s?(?:之前|以前|前(?![天面]))"),
)
_A_BIT = re.compile(r"(?:快|早|(?<![今明后天])晚(?!上)|大|小|多|少|有|好|低|高|远|近|便宜)$")
_DAYPART = re.compile(
    rf"(?P<now>当(?=晚))?(?P<zh>{_PART_ZH})|(?<![a-z])(?:(?P<when>this|next|tomorrow) |(?:in the |during the |the |late |early |at )*)"
    r"(?P<en>morning|afternoon|evening|night)(?![a-z])"
    r"|(?<![a-z])(?P<tonight>ton(?:ight|ite))(?![a-z])|(?<![a-z])(?P<lunch>lunch ?time|over lunch)(?![a-z])"
    r"|(?<=[\ue000 ])(?P<half>[ap]m)(?![a-z])|(?P<lunched>午饭后|饭后|(?<![a-z])after lunch(?![a-z]))"
    r"|(?P<before>午饭前|饭前|(?<![a-z])before lunch(?![a-z]))|(?P<worked>下班后|下班以后|(?<![a-z])after work(?![a-z]))"
    r"|(?P<close>下班前|(?<![a-z])(?:by |before |at )?(?:the )?(?:eod|cob|end of (?:the )?(?:work(?:ing)? ?)?day|close of (?:business|play))(?![a-z]))"
)
_DAYS_AHEAD = {"this": 0, "next": 1, "tomorrow": 1}
_MINUTES_TO = {"half": 30, "quarter": 15, "a quarter": 15, "five": 5, "ten": 10, "twenty": 20}
_MINUTES_TO |= {"twenty five": 25, "twenty-five": 25}
_ALONE = {"早", "晚"}


@dataclass(frozen=True, slots=True)
class Point:
    """One time of day. `part` is what was said about the half of the day, "" when nothing.

    `exact`: written on the 24 hour clock. `bare`: a lone number that counts only in a range or after
    a preposition. `role`: start, end, after or before.
    """

    hour: int
    minute: int
    part: str
    span: Span
    exact: bool = False
    bare: bool = False
    role: str = "start"

    @property
    def possible(self) -> bool:
        return 0 <= self.minute < 60 and (self.hour < 24 or (self.hour == 24 and self.minute == 0))


@dataclass(frozen=True, slots=True)
class Range:
    start: Point
    end: Point

    @property
    def span(self) -> Span:
        return self.start.span[0], self.end.span[1]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the day on its own: a window (P6). `days` from today when the words say so."""

    name: str
    span: Span
    days: int | None = None


def _hour(text: str) -> int:
    return numerals.read(text) or 0


def _numbers(match: re.Match[str]) -> tuple[int, int, bool] | None:
    """Hour, minute, and whether the writing fixes the half of the day."""
    if match["ch"]:
        hour = int(match["ch"])
        return hour, int(match["cm"]), hour > 12 or match["ch"][0] == "0" or _is_digital(match)
    if match["hh"]:
        return int(match["hh"]), int(match["hm"] or 0), int(match["hh"]) > 12
    if match["mh"]:
        said = match["ap"] or match["part"]
        return int(match["mh"]), int(match["mm"]), not said or int(match["mh"]) > 12
    if match["th"]:
        return int(match["th"]), int(match["tm"]), False
    if match["zh"]:
        return _chinese_numbers(match)
    if match["lh"]:
        return *_before(_hour(match["lh"]), _less(match["less"])), False
    return _english_numbers(match)


def _is_digital(match: re.Match[str]) -> bool:
    """12:23:59 is read off a 24 hour clock unless a half of the day is said."""
    return bool(match["cs"]) and not (match["part"] or match["ap"] or match["suf"])


def _before(hour: int, minutes: int) -> tuple[int, int]:
    return (hour - 1) % 12 or 12, 60 - minutes


def _less(text: str) -> int:
    return 15 if text == "一刻" else numerals.read(text.removesuffix("分")) or 0


def _chinese_numbers(match: re.Match[str]) -> tuple[int, int, bool]:
    hour = _hour(match["zh"])
    if match["short"]:
        return *_before(hour, _less(match["short"])), False
    minute = 30 if match["half"] else 15 * _hour(match["q"]) if match["q"] else 0
    minute = _hour(match["zm"].lstrip("零〇过0") or "0") if match["zm"] else minute
    return hour, minute, hour > 12 or hour == 0


def _english_numbers(match: re.Match[str]) -> tuple[int, int, bool] | None:
    if match["high"]:
        return 12, 0, True
    if match["word"]:
        return (24 if match["word"] == "midnight" else 12), 0, True
    if match["rel"]:
        return _relative(match)
    if match["bh"]:
        return _hour(match["bh"]), 30, False
    if match["dh"]:
        return int(match["dh"]), int(match["dm"]), int(match["dh"]) > 12
    if match["eh"]:
        hour = _hour(match["eh"])
        return hour, _minute_words(match["em"]), hour > 12
    hour = _hour(match["bare"])
    return hour, 0, hour > 12 or hour == 0


def _minute_words(text: str) -> int:
    return numerals.read_en(text.replace("-", " ").removeprefix("oh ")) or 0


def _relative(match: re.Match[str]) -> tuple[int, int, bool] | None:
    """Half past three, 20 past 3, three minutes to five thirty."""
    hour = _hour(match["rh"])
    base = int(match["rcm"] or 0) or (_minute_words(match["rm"]) if match["rm"] else 0)
    minutes = _hour(match["mins"]) if match["mins"] else _MINUTES_TO[match["rel"]]
    if match["dir"] in {"past", "after"}:
        return hour, base + minutes, False
    if minutes == 30 or minutes >= 60:
        return None
    if base >= minutes:
        return hour, base - minutes, False
    return *_before(hour, minutes - base), False


def _point(match: re.Match[str]) -> Point | None:
    read = _numbers(match)
    if read is None:
        return None
    hour, minute, exact = read
    said = match["part"] or ""
    part = _PART_OF.get(said) or _EN_PARTS.get(said or match["ap"] or match["suf"] or "", "")
    alone = match["bare"] or match["dh"] or (match["mh"] and not match["hrs"])
    bare = bool(alone) and not part and match["oc"] is None and not match["ish"]
    return Point(hour, minute, part, match.span(), exact, bare)


def _is_a_bit(match: re.Match[str], scan: Scan) -> bool:
    """快一点, 再晚一点: a bit, not one o'clock."""
    if match["zh"] != "一":
        return False
    if match["part"] in _ALONE:
        return not _after_day(scan, match.start())
    return not match["part"] and bool(_A_BIT.search(scan.before(match.start(), 4)))


def _ends(point: Point, scan: Scan) -> Point:
    start, end = point.span
    before, after = scan.before(start, 32), scan.after(end, 6)
    if _END_AFTER.match(after) or _END_BEFORE.search(before):
        return replace(point, role="end")
    if _AFTER_ROLE.search(before) or _AFTER_ZH.match(after):
        return replace(point, role="after")
    if _BEFORE_ROLE.search(before) or _BEFORE_ZH.match(after):
        return replace(point, role="before")
    return point


def find(scan: Scan) -> tuple[tuple[Point, ...], tuple[Range, ...]]:
    """Single points and ranges in what is left of the text; takes them."""
    points = [
        point
        for match in scan.matches(_POINT)
        if not _is_a_bit(match, scan) and (point := _point(match)) is not None
    ]
    singles: list[Point] = []
    ranges: list[Range] = []
    index = 0
    while index < len(points):
        point = points[index]
        following = points[index + 1] if index + 1 < len(points) else None
        if following is not None and _joined(point, following, scan):
            ranges.append(Range(point, following))
            index += 2
            continue
        if not point.bare or _counts(point, scan):
            singles.append(_ends(point, scan))
        index += 1
    for span in [p.span for p in singles] + [r.span for r in ranges]:
        scan.take(span)
    return tuple(singles), tuple(ranges)


def _counts(point: Point, scan: Scan) -> bool:
    """Whether a lone number is an hour: after a preposition, or beside a part of the day."""
    start, end = point.span
    if _BEFORE_BARE.search(scan.before(start, 40)) or _PART_AFTER.match(scan.text, end):
        return True
    return bool(_PART_BEFORE.search(scan.before(start, 16)))


def _joined(first: Point, second: Point, scan: Scan) -> bool:
    gap = scan.text[first.span[1] : second.span[0]]
    if len(gap) > 8 or not _JOIN.fullmatch(gap):
        return False
    if first.bare and second.bare and not _plausible(first, second, scan):
        return False
    if _JOIN_AND.fullmatch(gap):
        return (
            bool(re.search(r"between (?:the )?$|在?$", scan.before(first.span[0], 12)))
            and "between" in scan.text
        )
    return True


def _plausible(first: Point, second: Point, scan: Scan) -> bool:
    """Two lone numbers are a range of hours only when both can be hours and no sign is near."""
    before = scan.text[: first.span[0]][-1:]
    return (
        first.possible
        and second.possible
        and first.hour != second.hour
        and before not in {"-", "+"}
    )


def find_parts(scan: Scan) -> tuple[Part, ...]:
    """Parts of the day that stand alone; a lone 早 or 晚 counts only right after a day."""
    found = []
    for match in scan.matches(_DAYPART):
        word = match["zh"]
        if word in _ALONE and not match["now"] and not _after_day(scan, match.start()):
            continue
        days = 0 if match["tonight"] or match["now"] else _DAYS_AHEAD.get(match["when"] or "")
        found.append(Part(_part_name(match), match.span(), days))
        scan.take(match.span())
    return tuple(found)


_FIXED_PARTS = {
    "tonight": "evening",
    "lunch": "noon",
    "before": "morning",
    "lunched": "afternoon",
    "worked": "evening",
    "close": "close",
    "a": "morning",
    "p": "afternoon",
}


def _part_name(match: re.Match[str]) -> str:
    if match["zh"]:
        return _PART_OF[match["zh"]]
    if match["en"]:
        return "evening" if match["en"] == "night" else _EN_PARTS[match["en"]]
    return _FIXED_PARTS[match["half"][0] if match["half"] else match.lastgroup or ""]


def _after_day(scan: Scan, index: int) -> bool:
    return index > 0 and scan.text[index - 1] == "\ue000"
