"""Where: floors, buildings, room codes, and what a room should have.

A code matches exactly after folding or not at all: A301 must never become A305.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from booking.agent.understand import numerals
from booking.agent.understand.normalise import Scan, fold
from booking.agent.understand.types import (
    BuildingEntry,
    FeatureEntry,
    Found,
    Lexicon,
    Problem,
    RoomEntry,
    Span,
)

_NEGATED = re.compile(
    r"(?:(?:别|不要|不想|不用|不)(?:再)?(?:给我|帮我)?(?:订|选|去|安排|放)(?:在|到)?|不要|不用|不需要|不想要|不想在|不在|不含|没有|无需|别要|别|去掉|取消|除了|不带|"
    r"(?<![a-z])(?:no|not|without|except|don't (?:need|want)|do not (?:need|want)|drop|remove|skip|avoid|anything but))"
    r"\s?(?:a |an |the |in |on |any |了)?\s?$"
)
_NEGATED_AFTER = re.compile(
    r"\s?(?:就?不用|就?不需要|就?不要|就?算了|(?:isn't|is not|not) needed)了?吧?$"
)


_WHY = re.compile(r"(?:为什么|为啥|为何|怎么|(?<![a-z])(?:why(?: is| are|'s)?|how come))\s?$")


def is_negated(scan: Scan, span: Span) -> bool:
    """Whether the thing at `span` is unwanted: 不要投影, no projector, 白板不用了."""
    before = scan.before(span[0], 24)
    if (match := _NEGATED.search(before)) and not _WHY.search(before[: match.start()]):
        return True
    return bool(_NEGATED_AFTER.match(scan.after(span[1], 16)))


@dataclass(frozen=True, slots=True)
class Place:
    """One thing said about where. A value of None drops the wish."""

    slot: str
    value: object
    span: Span
    rule: str
    assumed: bool = False

    def found(self) -> Found:
        return Found(self.value, self.span, self.rule, self.assumed)


_FLOOR = (
    re.compile(rf"(?P<below>负|地下|-)?(?P<n>\d{{1,3}}|{numerals.ZH})\s?(?:楼(?!栋|座)|层(?!面))"),
    re.compile(r"(?<![a-z\d])(?P<below>)(?P<n>\d{1,2})\s?/?f(?![a-z\d])"),
    re.compile(
        rf"(?<![a-z])(?:floor|level)\s?(?P<below>-)?(?P<n>\d{{1,3}}|{numerals.EN})(?![a-z\d])"
    ),
    re.compile(
        rf"(?<![a-z\d])(?P<below>)(?P<o>{numerals.ORDINAL})[ -](?:floor|level|story|storey)(?![a-z])"
    ),
)
_ANY = (
    (
        "floor",
        re.compile(
            r"(?:哪|任何|任意|不限|随便哪)一?(?:个)?(?:楼层|层楼?|层)(?:都行|都可以)?|any floor"
        ),
    ),
    (
        "building",
        re.compile(
            r"(?:哪|任何|任意|不限|随便哪)一?(?:个)?(?:楼栋|栋|座|大楼|楼(?!层|上|下))(?:都行|都可以)?|楼栋?不限|(?:any|either) building"
        ),
    ),
    (
        "room",
        re.compile(
            r"(?:哪|任何|任意|随便哪)一?(?:个|间)(?:会议室|房间)?(?:都行|都可以)|any room (?:is fine|will do|works)"
        ),
    ),
)


def _floors(scan: Scan) -> list[Place]:
    found = []
    for pattern in _FLOOR:
        for match in scan.matches(pattern):
            groups = match.groupdict()
            ordinal = groups.get("o")
            number = numerals.read_ordinal(ordinal) if ordinal else numerals.read(match["n"])
            if number is None or number == 0:
                continue
            negated = is_negated(scan, match.span())
            scan.take(match.span())
            value = None if negated else (-number if match["below"] else number)
            found.append(Place("floor", value, match.span(), "floor.number"))
    return found


@lru_cache(maxsize=64)
def _building_patterns(
    buildings: tuple[BuildingEntry, ...],
) -> tuple[dict[str, str], re.Pattern[str] | None]:
    names = {fold(name): b.code for b in buildings for name in b.names if len(name) > 1}
    if not names:
        return names, None
    longest = sorted(names, key=len, reverse=True)
    return names, re.compile("|".join(_bounded(name) for name in longest))


def _bounded(name: str) -> str:
    """The pattern of a name: spaces and dashes optional, Latin ends on word borders."""
    parts = [re.escape(part) for part in re.split(r"[\s_-]+", name) if part]
    body = r"[\s-]?".join(parts)
    left = r"(?<![a-z\d])" if name[:1].isascii() else ""
    right = r"(?![a-z\d])" if name[-1:].isascii() else ""
    return f"{left}{body}{right}"


_BUILDING = (
    re.compile(r"(?<![a-z\d])(?P<code>[a-z]|\d{1,2})\s?(?:座|栋|幢|号楼|楼栋)"),
    re.compile(r"(?<![a-z\d])(?P<code>[a-z])\s?楼"),
    re.compile(r"(?<![a-z])(?:building|bldg\.?|tower|block)\s?(?P<code>[a-z]|\d{1,2})(?![a-z\d'])"),
    re.compile(r"(?<![a-z\d])(?P<code>[b-z])[ -](?:building|bldg|tower|block)(?![a-z])"),
)


_IN_LETTER = re.compile(
    r"(?<![a-z])(?:in|at|inside) (?P<code>[a-z])(?=$|[,.;!?]| (?:for|on|at|from|tomorrow|today|with|next|this|please|if|or|\ue000)| \d|\ue000)"
)


def _buildings(scan: Scan, lexicon: Lexicon, said: str) -> tuple[list[Place], list[Problem]]:
    codes = {fold(b.code): b.code for b in lexicon.buildings}
    codes |= {fold(r.building): r.building for r in lexicon.rooms if r.building}
    found, problems = [], []
    names, named = _building_patterns(lexicon.buildings)
    if named is not None:
        for match in scan.matches(named):
            code = names.get(_compact(match.group())) or names.get(match.group())
            found.append(_building(scan, match.span(), code or codes.get(match.group()), "name"))
    for pattern in _BUILDING:
        for match in scan.matches(pattern):
            code = codes.get(match["code"])
            if code is None:
                text = said[slice(*match.span())]
                problems.append(Problem("unknown_building", "building", match.span(), text))
                scan.take(match.span())
            else:
                found.append(_building(scan, match.span(), code, "code"))
    return [*found, *_lone_letters(scan, codes, said)], problems


def _lone_letters(scan: Scan, codes: dict[str, str], said: str) -> list[Place]:
    """In B: a known code alone; "a" only as a capital, since it is mostly a word."""
    return [
        _building(scan, match.span("code"), codes[match["code"]], "code")
        for match in scan.matches(_IN_LETTER)
        if match["code"] in codes and (match["code"] != "a" or said[match.start("code")] == "A")
    ]


def _building(scan: Scan, span: Span, code: str | None, rule: str) -> Place:
    negated = is_negated(scan, span)
    scan.take(span)
    return Place("building", None if negated else code, span, f"building.{rule}")


_CODE = re.compile(r"(?<![a-z\d])(?P<a>[a-z]{1,4})[\s-]?(?P<b>\d{1,4}[a-z]?)(?![\d])(?!:\d)")
_LIKE_A_CODE = re.compile(r"[a-z]\d{3,4}")
_DIGITS = re.compile(
    r"(?<![a-z\d:./#-])(?P<room>\d{2,5})(?![\d:/%年月日号点时个位名人分小]|\.\d|-\d|\s?(?:people|am|pm|min|hour))"
)


@lru_cache(maxsize=64)
def _exact(rooms: tuple[RoomEntry, ...]) -> dict[str, str]:
    """Folded code, name or alias -> code."""
    table = {_compact(fold(name)): room.code for room in rooms for name in room.names}
    return table | {_compact(fold(room.code)): room.code for room in rooms}


def _compact(text: str) -> str:
    return re.sub(r"[\s_-]+", "", text)


@lru_cache(maxsize=64)
def _names(rooms: tuple[RoomEntry, ...]) -> re.Pattern[str] | None:
    names = {fold(name) for room in rooms for name in (*room.names, room.code)}
    names = {name for name in names if len(name) > 1 and not name.isdigit()}
    longest = sorted(names, key=len, reverse=True)
    return re.compile("|".join(map(_bounded, longest))) if longest else None


def find_codes(scan: Scan, lexicon: Lexicon, said: str) -> tuple[list[Place], list[Problem]]:
    """Room codes with a letter, and exact names and aliases; unknown codes are problems."""
    table = _exact(lexicon.rooms)
    letters = {fold(r.code[0]) for r in lexicon.rooms if r.code}
    found: list[Place] = []
    problems: list[Problem] = []
    if (names := _names(lexicon.rooms)) is not None:
        for match in scan.matches(names):
            if code := table.get(_compact(match.group())):
                as_typed = _compact(fold(said[slice(*match.span())]))
                rule = "exact" if as_typed in table else "sound"
                found.append(_room(scan, match.span(), code, rule))
    for match in scan.matches(_CODE):
        code = table.get(match["a"] + match["b"])
        if code is not None:
            found.append(_room(scan, match.span(), code, "code"))
        elif len(match["b"]) >= 3 and (
            match["a"] in letters or _LIKE_A_CODE.fullmatch(match.group())
        ):
            text = said[slice(*match.span())]
            problems.append(Problem("unknown_room", "room", match.span(), text))
            scan.take(match.span())
    return found, problems


def find_numbers(scan: Scan, lexicon: Lexicon) -> list[Place]:
    """Aliases that are bare numbers, read only after headcounts and durations are covered."""
    table = _exact(lexicon.rooms)
    return [
        _room(scan, match.span(), code, "alias")
        for match in scan.matches(_DIGITS)
        if (code := table.get(match["room"]))
    ]


def _room(scan: Scan, span: Span, code: str, rule: str) -> Place:
    negated = is_negated(scan, span)
    scan.take(span)
    value = None if negated else code
    return Place("room", value, span, f"room.{rule}", assumed=rule == "sound")


_SYNONYMS = {
    "projector": r"投影(?:仪|机)?|投屏|(?<![a-z])(?:projectors?|projection|beamer)(?![a-z])",
    "whiteboard": r"白板|(?<![a-z])white ?-?boards?(?![a-z])",
    "video_conference": (
        r"视频会议(?:设备|系统)?|视频设备|视频通话|视讯|远程会议|开视频|视频(?!号)|"
        r"(?<![a-z])(?:video[ -]?conf(?:erenc(?:e|es|ing))?|video[ -]?calls?|video|vc|conferencing)"
        r"(?: system| equipment| set| facilities)?(?![a-z])"
    ),
    "tv": r"电视机?|大屏幕?|显示屏|显示器|(?<![a-z])(?:tvs?|television|monitor|(?:big |large )?screen|display)(?![a-z])",
    "microphone": r"话筒|麦克风|麦(?!当)|(?<![a-z])(?:microphones?|mics?|mikes?)(?![a-z])",
}


@lru_cache(maxsize=64)
def _feature_patterns(
    features: tuple[FeatureEntry, ...],
) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The built-in synonyms of the features this office has, and its own names for them."""
    codes = [feature.code for feature in features] or list(_SYNONYMS)
    names = {feature.code: feature.names for feature in features}
    patterns = []
    for code in codes:
        own = [_bounded(fold(name)) for name in names.get(code, ()) if len(name) > 1]
        known = [_SYNONYMS[code]] if code in _SYNONYMS else [_bounded(code.replace("_", " "))]
        patterns.append((code, re.compile("|".join(known + own))))
    return tuple(patterns)


def find_features(scan: Scan, lexicon: Lexicon) -> list[Place]:
    """Wished features (slot `features`) and unwished ones (slot `without`), one Place each."""
    found = []
    for code, pattern in _feature_patterns(lexicon.features):
        for match in scan.matches(pattern):
            slot = "without" if is_negated(scan, match.span()) else "features"
            found.append(Place(slot, code, match.span(), f"{slot}.synonym"))
            scan.take(match.span())
    return sorted(found, key=lambda place: place.span)


def find_areas(scan: Scan, lexicon: Lexicon, said: str) -> tuple[list[Place], list[Problem]]:
    """Floors and buildings, and "any floor" and the like, which drop the wish."""
    found = []
    for slot, pattern in _ANY:
        for match in scan.matches(pattern):
            found.append(Place(slot, None, match.span(), f"{slot}.any"))
            scan.take(match.span())
    buildings, problems = _buildings(scan, lexicon, said)
    return [*found, *buildings, *_floors(scan)], problems
