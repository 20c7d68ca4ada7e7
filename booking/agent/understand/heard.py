"""One message with everything that was read from it, and the act it comes to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from booking.agent.understand import reference
from booking.agent.understand.facts import Facts
from booking.agent.understand.types import (
    BookingRef,
    DraftView,
    Found,
    Lexicon,
    Problem,
    Selection,
)


@dataclass(frozen=True, slots=True)
class Heard:
    """One message with everything that was read from it."""

    folded: str
    facts: Facts
    slots: Mapping[str, Found]
    problems: tuple[Problem, ...]
    draft: DraftView
    lexicon: Lexicon

    @property
    def words(self) -> str:
        """What no grammar explained."""
        return self.facts.rest


@dataclass(frozen=True, slots=True)
class Act:
    name: str
    selection: Selection | None = None
    ref: BookingRef | None = None
    wants: str = ""


def ref_of(heard: Heard) -> BookingRef:
    last = heard.draft.phase == "BOOKED"
    return reference.find(heard.folded, heard.facts, heard.slots, heard.lexicon, last=last)


_BOOK_VERB = re.compile(
    r"订(?!了|单|吗|的)|预[订定约](?!了|的|单|吗)|约(?:个|一|间)|找(?:个|一|间)|借(?:个|一|间)|要(?:个|一个|一?间)|来(?:个|一?间)|安排"
    r"|(?<![a-z])(?:book|reserve|need|looking for|get me|grab|arrange|set up|schedule)(?![a-z])"
)


def asks_for_room(heard: Heard) -> bool:
    return bool(_BOOK_VERB.search(heard.words))
