"""Which card was meant: 第一个, the second one, A301, 大礼堂, the bigger one with the projector."""

from __future__ import annotations

import re
from collections.abc import Iterable

from booking.agent.understand import cues, numerals
from booking.agent.understand.facts import Facts
from booking.agent.understand.types import CandidateInfo, DraftView, Found, Selection, Span

_NUM = r"(?:\d{1,2}|[一二两三四五六七八九十])"
_ORDINAL = re.compile(
    rf"第\s?(?P<zh>{_NUM})\s?(?:个|间|项|号|张|家|种|条|选项)?|(?:选项|方案|option|choice|number|no\.?|card|#)\s?(?P<n>{_NUM}|{numerals.EN})(?![\d:a-z])"
    rf"|(?<![a-z])(?P<en>first|second|third|fourth|fifth|sixth|1st|2nd|3rd|4th|5th)(?: (?:one|option|room|choice|card))?(?![a-z])"
    r"|(?P<last>最后一?[个间项]|(?<![a-z])(?:the )?last(?: one| option| room)?(?![a-z]))"
    r"|(?P<latter>后者|(?<![a-z])the latter)|(?P<former>前者|(?<![a-z])the former)|(?P<middle>中间(?:那)?[个间]|(?<![a-z])(?:the )?middle one)"
)
_BARE = re.compile(
    rf"(?:就|选|要|那就|我选|我要|pick|choose|take|i'?ll take|go with)?\s?(?P<n>{_NUM}|{numerals.EN})\s?(?:号|吧|号吧|please)?[.。!]?"
)
_ORDINAL_ALONE = re.compile(rf"(?:the )?(?P<o>{numerals.ORDINAL})(?: please)?")
_THE_ONE = re.compile(
    r"那[个间]|这[个间]|的吧|(?:大|小|多)的$|最[大小]|[大小](?:一)?点的?|(?<![a-z])(?:one|ones|room with|(?:bigger|larger|smaller) room|biggest|largest|smallest)(?![a-z])"
)
_BIG = re.compile(r"大|宽敞|(?<![a-z])(?:big(?:ger|gest)?|large[rst]*|roomi\w+)(?![a-z])")
_SMALL = re.compile(r"小(?!时|组|伙)|(?<![a-z])(?:small(?:er|est)?)(?![a-z])")


def find(
    folded: str, facts: Facts, slots: dict[str, Found], candidates: tuple[CandidateInfo, ...]
) -> Selection | None:
    """The selection a message makes among the cards; None when it makes none."""
    if not candidates:
        return None
    return (
        _by_room(slots, candidates)
        or _by_ordinal(folded, facts, candidates)
        or _by_words(folded, facts, slots, candidates)
    )


def _selection(
    chosen: Iterable[int], candidates: tuple[CandidateInfo, ...], span: Span, rule: str
) -> Selection | None:
    indexes = list(chosen)
    if not indexes:
        return None
    matches = tuple(candidates[i].room for i in indexes)
    if len(indexes) > 1:
        return Selection(None, None, None, matches, span, rule)
    card = candidates[indexes[0]]
    return Selection(card.room, indexes[0], card.start_time, matches, span, rule)


def _by_room(slots: dict[str, Found], candidates: tuple[CandidateInfo, ...]) -> Selection | None:
    """A named card; of several cards of one room the one whose time was said."""
    room = slots.get("room")
    if room is None or room.value is None:
        return None
    fits = [i for i, card in enumerate(candidates) if card.room == room.value]
    start = slots.get("start_time")
    if len(fits) > 1 and start is not None:
        fits = [i for i in fits if candidates[i].start_time == start.value] or fits
    return _selection(fits, candidates, room.span, "select.room")


def _by_ordinal(
    folded: str, facts: Facts, candidates: tuple[CandidateInfo, ...]
) -> Selection | None:
    last = len(candidates) - 1
    if whole := _ORDINAL_ALONE.fullmatch(folded.strip(" .!。")):
        index = (numerals.read_ordinal(whole["o"]) or 0) - 1
        chosen = [index] if 0 <= index <= last else []
        return _selection(chosen, candidates, whole.span(), "select.number")
    if whole := _BARE.fullmatch(folded.strip()):
        index = (numerals.read(whole["n"]) or 0) - 1
        return _selection(
            [index] if 0 <= index <= last else [], candidates, whole.span(), "select.number"
        )
    match = _ORDINAL.search(facts.rest)
    if match is None:
        return None
    said = match["zh"] or match["n"]
    if said:
        index = (numerals.read(said) or 0) - 1
    elif match["en"]:
        index = (numerals.read_ordinal(match["en"]) or 0) - 1
    elif match["middle"]:
        index = last // 2
    else:
        index = 0 if match["former"] else last
    return _selection(
        [index] if 0 <= index <= last else [], candidates, match.span(), "select.ordinal"
    )


def _by_words(
    folded: str, facts: Facts, slots: dict[str, Found], candidates: tuple[CandidateInfo, ...]
) -> Selection | None:
    whole = (0, len(folded))
    if cues.ANY_ONE.search(facts.rest):
        return _selection([0], candidates, whole, "select.any")
    if cues.THIS_ONE.search(facts.rest) and len(candidates) == 1:
        return _selection([0], candidates, whole, "select.only")
    if not _THE_ONE.search(facts.rest):
        return None
    fits = _fitting(slots, candidates)
    narrowed = len(fits) < len(candidates)
    if _BIG.search(facts.rest):
        most = max((candidates[i].seats for i in fits), default=0)
        fits, narrowed = [i for i in fits if candidates[i].seats == most], True
    elif _SMALL.search(facts.rest):
        least = min((candidates[i].seats for i in fits), default=0)
        fits, narrowed = [i for i in fits if candidates[i].seats == least], True
    described = narrowed or any(key in slots for key in ("features", "building", "floor"))
    return _selection(fits if described else [], candidates, whole, "select.description")


def _fitting(slots: dict[str, Found], candidates: tuple[CandidateInfo, ...]) -> list[int]:
    fits = list(range(len(candidates)))
    if "features" in slots:
        wished = set(slots["features"].value)
        fits = [i for i in fits if wished <= set(candidates[i].features)]
    for key in ("building", "floor"):
        if key in slots and slots[key].value is not None:
            fits = [i for i in fits if getattr(candidates[i], key) == slots[key].value]
    if "start_time" in slots:
        timed = [i for i in fits if candidates[i].start_time == slots["start_time"].value]
        fits = timed or fits
    return fits


def counted(folded: str, facts: Facts, count: int) -> int | None:
    """Which of `count` things an ordinal or a bare number means, from 0."""
    cards = tuple(CandidateInfo(room=str(place)) for place in range(count))
    chosen = _by_ordinal(folded, facts, cards)
    return None if chosen is None else chosen.index


def size_of(folded: str) -> Found | None:
    """Another room than the one just booked: larger, smaller, or any other."""
    cued = {"larger": cues.LARGER, "smaller": cues.SMALLER, "other": cues.ANOTHER_ROOM}
    for size, cue in cued.items():
        if said := cue.search(folded):
            return Found(size, (said.end() - 1, said.end()), "size.said")
    return None


def choose_option(
    folded: str, facts: Facts, slots: dict[str, Found], draft: DraftView
) -> tuple[str, Found] | None:
    """An answer to "which of these two?": the first, the latter, or by the part of the day."""
    options = draft.options
    if not options:
        return None
    window = slots.get("window")
    if window is not None:
        low, high = window.value
        fits = [(s, v) for s, v in options if s == "start_time" and low <= v <= high]
        if len(fits) == 1:
            return fits[0][0], Found(fits[0][1], window.span, "start.option")
    cards = tuple(CandidateInfo(room=str(value)) for _, value in options)
    chosen = _by_ordinal(folded, facts, cards)
    if chosen is None or chosen.index is None or slots:
        return None
    slot, value = options[chosen.index]
    return slot, Found(value, chosen.span, f"{slot}.option")
