"""What is private in a conversation replaced by something like it, the same everywhere. Pure.

People become others of the same script, titles of meetings become numbered ones, addresses and
telephone numbers become empty ones. What else somebody wrote stays.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pypinyin import lazy_pinyin

from booking.agent.understand.normalise import fold
from booking.agent.understand.titles import concepts, kind_words

# Names nobody in particular bears, for as many people as one conversation names.
_CHINESE = ("陈晨", "林霖", "周舟", "何荷", "吴梧", "方芳芳", "江疆", "石实", "白柏", "乔桥")
_LATIN = ("Robin Ash", "Kim Birch", "Sam Cole", "Alex Dale", "Jo Elm", "Max Ford", "Pat Glen",
          "Chris Hill", "Lee Ives", "Dana Jay")  # fmt: skip
_HAN = re.compile(r"[\u4e00-\u9fff]")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"(?<!\d)\+?\d(?:[ -]?\d){9,14}(?!\d)")


class TooManyPeople(ValueError):
    """More people are named than there are masks."""


@dataclass
class Masks:
    """Replacements, found as they are needed and kept from then on.

    spoken: the kinds of meetings that the conversation speaks of.
    """

    people: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    spoken: frozenset[str] = frozenset()
    _spellings: dict[str, str] = field(default_factory=dict)

    def person(self, names: Iterable[str]) -> str:
        """The mask of somebody, by all the ways to write their name. Raises TooManyPeople."""
        spellings = [name for name in dict.fromkeys(names) if name]
        first = spellings[0] if spellings else ""
        if first in self.people:
            return self.people[first]
        pool = _CHINESE if _HAN.search(first) else _LATIN
        free = [name for name in pool if name not in self.people.values()]
        if not free:
            raise TooManyPeople
        mask = self.people[first] = free[0]
        for spelling in spellings:
            self._spellings[spelling] = mask
            if _HAN.search(spelling):
                self._spellings |= dict(zip(_latin(spelling), _latin(mask), strict=True))
        return mask

    def title(self, title: str) -> str:
        """The mask of a meeting's title; nothing stays nothing."""
        if not title:
            return ""
        word = "主题" if _HAN.search(title) else "Topic "
        return self.titles.setdefault(title, f"{word}{len(self.titles) + 1}")

    def own_title(self, title: str) -> str:
        """The mask of a meeting of the speaker's. One that is spoken of keeps the words for its kind,
        by which it is known again (客户演示, client demo); they say nothing else.
        """
        if self.spoken & concepts(fold(title)):
            return self.titles.setdefault(title, " ".join(kind_words(title)))
        return self.title(title)

    def text(self, text: str) -> str:
        """Words with everything replaced that has a mask, the longest first, whatever its case."""
        found = {**self.titles, **self._spellings}
        if found:
            ordered = sorted(found, key=len, reverse=True)
            pattern = re.compile("|".join(map(re.escape, ordered)), re.IGNORECASE)
            lowered: Mapping[str, str] = {key.lower(): mask for key, mask in found.items()}
            text = pattern.sub(lambda match: lowered[match.group().lower()], text)
        text = _MAIL.sub("someone@example.com", text)
        return _PHONE.sub("13800000000", text)


def _latin(name: str) -> tuple[str, str]:
    """A Chinese name in pinyin, family name first and last."""
    family, *given = lazy_pinyin(name)
    joined = "".join(given)
    return f"{family} {joined}", f"{joined} {family}"
