"""Whole numbers as people write them: 12, 十二, twelve. At most 99999."""

from __future__ import annotations

ZH_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5}
ZH_DIGITS |= {"六": 6, "七": 7, "八": 8, "九": 9, "俩": 2, "仨": 3}
_ZH_UNITS = {"十": 10, "百": 100, "千": 1000}
_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = [
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
EN_WORDS = {word: n for n, word in enumerate([*_ONES, *_TEENS], start=1)}
EN_WORDS |= {word: 10 * n for n, word in enumerate(_TENS, start=2)}
_ORDINAL_WORDS = [
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"),
    *("seventeenth", "eighteenth", "nineteenth"),
]
EN_ORDINALS = {word: n for n, word in enumerate(_ORDINAL_WORDS, start=1)}
EN_ORDINALS |= {f"twenty {word}": 20 + n for n, word in enumerate(_ORDINAL_WORDS[:9], start=1)}
EN_ORDINALS |= {"twentieth": 20, "thirtieth": 30, "thirty first": 31}

_small = "|".join([*sorted(_TEENS, key=len, reverse=True), *_ONES])
EN = (
    rf"(?<![a-z])(?:(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(_ONES)}))?|{_small})"
    r"(?: hundred)?(?![a-z])"
)
ZH = "[零〇一二两俩三四五六七八九十百千]{1,7}"
NUMBER = rf"(?:\d{{1,5}}|{ZH}|{EN})"
_words = "|".join(sorted(EN_ORDINALS, key=len, reverse=True)).replace(" ", "[ -]")
ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|(?<![a-z])(?:{_words}))"


def read_zh(text: str) -> int | None:
    """十二 -> 12, 二百零五 -> 205, 一百二 -> 120. None for a row of digits such as 七八."""
    total, digit, unit = 0, None, 0
    for character in text:
        if character in _ZH_UNITS:
            unit = _ZH_UNITS[character]
            total += (1 if digit is None else digit) * unit
            digit = None
        elif ZH_DIGITS[character] == 0:
            digit, unit = None, 1
        elif digit is not None:
            return None
        else:
            digit = ZH_DIGITS[character]
    if digit is None:
        return total
    return total + digit * (unit // 10 if unit >= 100 else 1)


def read_en(text: str) -> int | None:
    words = text.replace("-", " ").split()
    times = 100 if words and words[-1] == "hundred" else 1
    words = words[:-1] if times == 100 else words
    if not words or any(word not in EN_WORDS for word in words):
        return None
    return sum(EN_WORDS[word] for word in words) * times


def read(text: str) -> int | None:
    """Read one token matched by NUMBER; None when it is no number."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return int(text)
    if text and all(c in ZH_DIGITS or c in _ZH_UNITS for c in text):
        return read_zh(text)
    return read_en(text)


def read_ordinal(text: str) -> int | None:
    word = text.replace("-", " ")
    if word in EN_ORDINALS:
        return EN_ORDINALS[word]
    return int(text[:-2]) if text[:-2].isdecimal() else None


def neighbours(text: str) -> tuple[int, int] | None:
    """七八 -> (7, 8), 二三十 -> (20, 30): the Chinese way to say "or"."""
    scale = 10 if len(text) == 3 and text[2] == "十" else 1
    if (len(text) == 2 and scale == 1) or scale == 10:
        low, high = ZH_DIGITS.get(text[0]), ZH_DIGITS.get(text[1])
        if low is not None and high is not None and 0 < low < high:
            return low * scale, high * scale
    return None
