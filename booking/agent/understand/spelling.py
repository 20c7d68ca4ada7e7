"""Words of this domain with a slip in them: misspelt weekdays, 会意室, 名天.

Only words about when, who and what, never commands or codes: a slip may cost a question, not turn
"cancer" into "cancel". A Latin word is corrected one letter or one swap away from a known one (two
in the long words of the calendar). A Chinese word is corrected where one of its characters is
another of the very same sound and tone.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pypinyin import Style, lazy_pinyin
from rapidfuzz import process
from rapidfuzz.distance import OSA

from booking.agent.understand.normalise import Normalised
from booking.agent.understand.types import Span

_CALENDAR = (
    "tomorrow", "yesterday", "today", "tonight", "weekend",
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    "january", "february", "april", "august", "september", "october", "november", "december",
)  # fmt: skip
_OTHERS = (
    "morning", "afternoon", "evening", "minutes", "people", "person", "meeting",
    "projector", "whiteboard", "microphone", "conference", "building", "attendees", "participants",
)  # fmt: skip
_KNOWN = (*_CALENDAR, *_OTHERS)
_CORRECT = {*_KNOWN, "minute", "todays", "participate"}
_LONG = 8
_SHORT_FORMS = {"nxt": "next", "mtg": "meeting", "wknd": "weekend", "tomoz": "tomorrow"}
_WORD = re.compile(r"(?<![a-z\d])(?:[a-z]{5,14}|nxt|mtg|wknd)(?![a-z\d'])")
_CHINESE = (
    "会议", "白板", "投影仪", "投影", "视频会议", "话筒", "明天", "后天", "今天", "下午", "上午",
    "晚上", "中午", "早上", "小时", "分钟", "星期", "礼拜",
)  # fmt: skip
_COUNTED = {"小时", "分钟"}  # only after a number: 十分中肯 is no ten minutes
_NUMERALS = "零一二两三四五六七八九十百半个"
_WORDS_OF_THEIR_OWN = set(_NUMERALS) | set("是事时以已候有又之再")  # 时候天气, 晚上五点
_DAY_SLIP = re.compile(r"(?<=[今明后])[田甜填](?!写|空)")
_HOUR_SLIP = re.compile(r"(?<=\d)小[事是市式](?![情故长])")  # how 小时 comes out of a keyboard
_HAN_RUN = re.compile(r"[\u4e00-\u9fff]{2,}")
_LENGTHS = sorted({len(word) for word in _CHINESE}, reverse=True)


@lru_cache(maxsize=1024)
def _meant(word: str) -> str | None:
    """The one known word that `word` is a slip of."""
    if word in _CORRECT or (word[-1] == "s" and word[:-1] in _CORRECT):
        return None
    if word in _SHORT_FORMS:
        return _SHORT_FORMS[word]
    near = process.extract(word, _KNOWN, scorer=OSA.distance, score_cutoff=2, limit=3)
    close = [(slips, known) for known, slips, _ in near if known[0] == word[0]]
    fits = [
        known for slips, known in close
        if slips == 1 or (known in _CALENDAR and len(known) >= _LONG and len(word) >= _LONG - 2)
    ]  # fmt: skip
    return fits[0] if fits and (len(fits) == 1 or close[0][0] < close[1][0]) else None


def corrected(message: Normalised, keep: Span | None) -> Normalised:
    """The message with its slips corrected; nothing inside `keep`, a title, is touched."""
    text, folded = message.text, message.folded
    for match in reversed(list(_WORD.finditer(folded))):
        start, end = match.span()
        if keep is not None and start < keep[1] and end > keep[0]:
            continue
        if (word := _meant(match.group())) is not None:
            text = text[:start] + word + text[end:]
            folded = folded[:start] + word + folded[end:]
    return Normalised(text, _by_sound(folded, keep), message.problems)


@lru_cache(maxsize=4096)
def _sound(character: str) -> str:
    return str(lazy_pinyin(character, style=Style.TONE3)[0])


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, ...], str]:
    return {tuple(map(_sound, word)): word for word in _CHINESE}


def _by_sound(folded: str, keep: Span | None) -> str:
    folded = _HOUR_SLIP.sub("小时", _DAY_SLIP.sub("天", folded))
    characters = list(folded)
    for run in _HAN_RUN.finditer(folded):
        if keep is not None and run.start() < keep[1] and run.end() > keep[0]:
            continue
        heard = tuple(map(_sound, run.group()))
        for size in _LENGTHS:
            for at in range(len(heard) - size + 1):
                word = _table().get(heard[at : at + size])
                if word is not None:
                    _replace(characters, run.start() + at, word)
    return "".join(characters)


def _replace(characters: list[str], start: int, word: str) -> None:
    said = characters[start : start + len(word)]
    slips = [a for a, b in zip(said, word, strict=True) if a != b]
    before = characters[start - 1] if start else ""
    counted = word not in _COUNTED or before.isdigit() or before in _NUMERALS
    if len(slips) == 1 and slips[0] not in _WORDS_OF_THEIR_OWN and counted:
        characters[start : start + len(word)] = word
