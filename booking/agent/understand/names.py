"""Names that are not spelled as stored: room names by sound and by typing slips, people's names.

Only names match loosely, never codes, and a loose match is always read back.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from pypinyin import lazy_pinyin
from rapidfuzz import fuzz

from booking.agent.understand.normalise import MASK, Scan, fold
from booking.agent.understand.places import Place, is_negated
from booking.agent.understand.types import Lexicon, Person, RoomEntry, Span

LIKENESS = 86
_HAN = re.compile(r"[\u4e00-\u9fff]")
_HAN_RUN = re.compile(r"[\u4e00-\u9fff]{2,}")
_CUE_AFTER = re.compile(r"\s?(?:会议室|室|厅|间|这间|那间|吧|房|room|$)")
_CUE_BEFORE = re.compile(r"(?:订|定|在|就|选|去|换|到|要|用|room|book|in|reserve)\s?$")


@lru_cache(maxsize=4096)
def sound(character: str) -> str:
    """A character's pinyin without tone, front and back nasals and flat and retroflex alike."""
    syllable = lazy_pinyin(character)[0]
    for heard, same in (("zh", "z"), ("ch", "c"), ("sh", "s"), ("ng", "n")):
        syllable = syllable.replace(heard, same)
    return syllable


def sounds(text: str) -> tuple[str, ...]:
    return tuple(sound(c) for c in text)


class _Names(NamedTuple):
    chinese: tuple[tuple[tuple[str, ...], str], ...]
    latin: tuple[tuple[str, str], ...]


@lru_cache(maxsize=64)
def _loose_names(rooms: tuple[RoomEntry, ...]) -> _Names:
    chinese, latin = [], []
    for room in rooms:
        for name in map(fold, room.names):
            if len(name) >= 2 and all(_HAN.match(c) for c in name):
                chinese.append((sounds(name), room.code))
            elif len(name) >= 5 and name.isascii() and not any(c.isdigit() for c in name):
                latin.append((name, room.code))
    return _Names(tuple(chinese), tuple(latin))


def find_rooms(scan: Scan, lexicon: Lexicon) -> list[Place]:
    """Room names that sound or look like what was said; at most one, the likeliest."""
    names = _loose_names(lexicon.rooms)
    best: tuple[float, Span, str, str] | None = None
    if names.chinese:
        best = _by_sound(scan, names.chinese)
    if best is None and names.latin:
        best = _by_likeness(scan, names.latin)
    if best is None:
        return []
    _, span, code, rule = best
    negated = is_negated(scan, span)
    scan.take(span)
    return [Place("room", None if negated else code, span, f"room.{rule}", assumed=True)]


def _by_sound(
    scan: Scan, names: tuple[tuple[tuple[str, ...], str], ...]
) -> tuple[float, Span, str, str] | None:
    best = None
    for run in _HAN_RUN.finditer(scan.text):
        heard = sounds(run.group())
        for name, code in names:
            for at in range(len(heard) - len(name) + 1):
                if heard[at : at + len(name)] != name:
                    continue
                span = (run.start() + at, run.start() + at + len(name))
                if len(name) == 2 and not _has_cue(scan, span):
                    continue
                if best is None or len(name) > best[0]:
                    best = (float(len(name)), span, code, "sound")
    return best


def _has_cue(scan: Scan, span: Span) -> bool:
    after = scan.after(span[1], 6)
    return bool(_CUE_AFTER.match(after) or _CUE_BEFORE.search(scan.before(span[0], 10)))


def _by_likeness(
    scan: Scan, names: tuple[tuple[str, str], ...]
) -> tuple[float, Span, str, str] | None:
    text = scan.text.replace(MASK, " ")
    best = None
    for name, code in names:
        match = fuzz.partial_ratio_alignment(name, text, score_cutoff=LIKENESS)
        if match is None:
            continue
        span = _whole_words(text, match.dest_start, match.dest_end)
        score = fuzz.ratio(name, text[slice(*span)])
        if score >= LIKENESS and (best is None or score > best[0]):
            best = (score, span, code, "likeness")
    return best


def _whole_words(text: str, start: int, end: int) -> Span:
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    while start > 0 and text[start - 1].isascii() and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isascii() and text[end].isalnum():
        end += 1
    return start, end


@lru_cache(maxsize=64)
def _people(people: tuple[Person, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each person's names; a Chinese name also in pinyin, in both orders."""
    patterns = []
    for person in people:
        spellings = set()
        for name in map(fold, person.names):
            spellings.add(re.escape(name))
            if 2 <= len(name) <= 4 and all(_HAN.match(c) for c in name):
                family, *given = lazy_pinyin(name)
                joined = r"[ -]?".join(given)
                spellings |= {rf"{family} ?{joined}", rf"{joined} {family}"}
        ordered = sorted(spellings, key=len, reverse=True)
        patterns.append((person.id, re.compile(rf"(?<![a-z])(?:{'|'.join(ordered)})(?![a-z])")))
    return tuple(patterns)


class Named(NamedTuple):
    id: str
    span: Span


def find_people(text: str, lexicon: Lexicon) -> list[Named]:
    """Every person of the lexicon who is named, the speaker included."""
    return [
        Named(person, match.span())
        for person, pattern in _people(lexicon.people)
        for match in pattern.finditer(text)
    ]


_FOR = re.compile(r"(?:帮|替|为|给|代)\s?$|(?<![a-z])(?:for|on behalf of|in the name of)\s$")
_FOR_AFTER = re.compile(r"\s?(?:订|预订|预定|预约|约|定|找|book)")


def find_on_behalf(text: str, lexicon: Lexicon) -> Named | None:
    """Somebody else the room is for: 帮王芳订, for Wang Fang. Never an attendee only."""
    for named in find_people(text, lexicon):
        before = text[max(0, named.span[0] - 16) : named.span[0]]
        match = _FOR.search(before)
        if match is None or named.id == lexicon.me:
            continue
        if match.group().strip().isascii() or _FOR_AFTER.match(text, named.span[1]):
            return named
    return None
