"""One spelling for one thing: NFKC, no emoji, no control characters, plain dashes and quotes.

All spans point into `Normalised.text`. `folded` has the same length: lower case, and the common
traditional characters in their simplified form, so that the grammars are written once.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from booking.agent.understand.types import Problem

MESSAGE_LIMIT = 500
CLAUSE_LIMIT = 80
MASK = "\ue000"

_FRACTION = re.compile(r"(?<=\d)\s?½")
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−﹣", "-"),
        **dict.fromkeys("～〜∼", "~"),
        **dict.fromkeys("→➡⟶➔➜⇒", "-"),
        **dict.fromkeys("’‘`´", "'"),
        **dict.fromkeys("“”„«»「」『』", '"'),
        "⁄": "/",
        "·": " ",
    }
)
_SIMPLIFIED = str.maketrans(
    "點時鐘個兩後週號訂預約間會議樓層棟開結東從請幫換過認確沒問題這裡邊緊現歲訊風電視幾來員禮"
    "禮紹總結無線雙麥話筒屏顯樣對嗎還們給讓應該將為類種選擇單",
    "点时钟个两后周号订预约间会议楼层栋开结东从请帮换过认确没问题这里边紧现岁讯风电视几来员礼"
    "礼绍总结无线双麦话筒屏显样对吗还们给让应该将为类种选择单",
)
_MERIDIEM = re.compile(r"(?i)(?<![a-z])([ap])\s?\.\s?m\b(?:\s?\.)?|(?<=[\da-z] )([ap]) m(?![a-z'])")
_SPACED_OUT = re.compile(r"(?<!\S)[\u4e00-\u9fff\d](?: [\u4e00-\u9fff\d]){3,}(?!\S)")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[·•](?=\d)")
_BREAK = re.compile(r"[。！？!?；;\n、，,…]+|\.(?=\s|$)")
_SENTENCE = re.compile(r"[。！？!?；;\n…]+|\.(?=\s|$)")
_KEEP = {"L", "N", "P", "Z", "S"}
_DROP_WHOLE = {"Cf", "Mn", "Me", "Mc", "Cs", "Co", "Cn"}


@dataclass(frozen=True, slots=True)
class Normalised:
    text: str
    folded: str
    problems: tuple[Problem, ...]


def _plain_character(character: str) -> str:
    if character == "\n":
        return "\n"
    category = unicodedata.category(character)
    if category in _DROP_WHOLE:
        return ""
    if category[0] not in _KEEP or category in {"So", "Sk"}:
        return " "
    return character


def fold(text: str) -> str:
    """Lower case and simplified, character by character: the length never changes."""
    lowered = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return lowered.translate(_SIMPLIFIED)


def normalise(raw: str) -> Normalised:
    """Clean one message and cut it at the cap; what was cut is a problem, not a silence."""
    cut = len(raw) > 2 * MESSAGE_LIMIT
    text = _FRACTION.sub(".5", raw[: 2 * MESSAGE_LIMIT]).replace("½", "0.5")
    text = _BETWEEN_DIGITS.sub("/", unicodedata.normalize("NFKC", text)).translate(_PLAIN)
    text = "".join(map(_plain_character, text))
    text = _MERIDIEM.sub(lambda match: f"{match[1] or match[2]}m", text)
    text = re.sub(r"[^\S\n]+", " ", text).strip()
    text = _SPACED_OUT.sub(lambda match: match.group().replace(" ", ""), text)
    cut = cut or len(text) > MESSAGE_LIMIT
    text = text[:MESSAGE_LIMIT]
    problems = [Problem("too_long", "", (len(text), len(text)))] if cut else []
    folded = fold(text)
    for start, end in clauses(folded):
        if end - start > CLAUSE_LIMIT and _longest_run(folded[start:end]) > CLAUSE_LIMIT:
            problems.append(Problem("too_long", "", (start, end), text[start:end]))
            folded = mask(folded, start, end)
    return Normalised(text, folded, tuple(problems))


def _longest_run(clause: str) -> int:
    return max(map(len, clause.split(" ")))


def mask(text: str, start: int, end: int) -> str:
    return text[:start] + MASK * (end - start) + text[end:]


def clauses(text: str) -> tuple[tuple[int, int], ...]:
    """The spans between punctuation; a comma inside a number or before a year does not split."""
    return _split(text, _BREAK)


def sentences(text: str) -> tuple[tuple[int, int], ...]:
    return _split(text, _SENTENCE)


def _split(text: str, pattern: re.Pattern[str]) -> tuple[tuple[int, int], ...]:
    spans = []
    start = 0
    for match in pattern.finditer(text):
        before, after = text[: match.start()][-1:], text[match.end() : match.end() + 1]
        if match.group() == "," and before.isdigit() and after.isdigit():
            continue
        if text[start : match.start()].strip():
            spans.append((start, match.start()))
        start = match.end()
    if text[start:].strip():
        spans.append((start, len(text)))
    return tuple(spans)


class Scan:
    """A text whose explained parts are covered one by one, so that nothing is read twice."""

    def __init__(self, folded: str) -> None:
        self.text = folded
        self._end = len(folded.rstrip(MASK))
        self._start = self._end - len(folded[: self._end].lstrip(MASK))

    def take(self, span: tuple[int, int]) -> None:
        self.text = mask(self.text, *span)

    def matches(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """All matches in what is left; the caller takes the ones it accepts."""
        return list(pattern.finditer(self.text, self._start, self._end))

    def before(self, index: int, length: int = 12) -> str:
        """Up to `length` characters before `index`, not reaching over the clause's start."""
        piece = self.text[max(0, index - length) : index]
        breaks = [m.end() for m in _BREAK.finditer(piece)]
        return piece[breaks[-1] :] if breaks else piece

    def after(self, index: int, length: int = 12) -> str:
        piece = self.text[index : index + length]
        stop = _BREAK.search(piece)
        return piece[: stop.start()] if stop else piece


def language_of(text: str, default: str) -> str:
    """Zh when the Chinese characters outnumber the Latin words; the default when there are none."""
    chinese = sum("\u4e00" <= c <= "\u9fff" for c in text)
    latin = len(re.findall(r"[A-Za-z]{2,}", text))
    if not chinese and not latin:
        return default
    return "zh" if chinese >= latin else "en"
