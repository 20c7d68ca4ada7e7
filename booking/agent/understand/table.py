"""The work table of one message: what was found, what is known, and the slots so far."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from booking.agent.understand.days import Day
from booking.agent.understand.facts import Facts
from booking.agent.understand.types import DraftView, Found, OpeningHours, Problem, Span

_LAST_WINS = re.compile(
    r"不对|不是|错了|说错|改[成到为]|换成|还是|应该|(?<![a-z])(?:actually|no|not|sorry|i mean|rather|instead|wait|make it|change|move)(?![a-z])"
)
_NOT_FIRST = re.compile(r"(?:不是|别|(?<![a-z])not)\s?$")


def last_wins(gap: str) -> bool:
    """Whether the words between two values take the first one back (不对, actually)."""
    return bool(_LAST_WINS.search(gap))


@dataclass(slots=True)
class Table:
    """The slots and problems under construction; lives for one message."""

    facts: Facts
    said: str
    now: datetime
    hours: OpeningHours
    draft: DraftView
    may_assume_today: bool
    slots: dict[str, Found] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    day: Day | None = None
    until: date | None = None
    range: tuple[int, Span] | None = None

    def ask(self, code: str, slot: str, span: Span, options: tuple[Any, ...] = ()) -> None:
        self.problems.append(Problem(code, slot, span, self.said[slice(*span)], options))

    def last_wins(self, first: Span, last: Span) -> bool:
        """Whether the later of two values replaces the earlier: 3点，不对，4点; not Monday but Tuesday."""
        gap = self.said[first[0] : last[0]].lower()
        return last_wins(gap) or bool(_NOT_FIRST.search(self.said[: first[0]].lower()))

    @property
    def zone(self) -> str | None:
        return str(self.facts.zone.value) if self.facts.zone else None

    def known_date(self) -> date | None:
        """The date said, else the draft's, unless what was said about it is open."""
        if "date" in self.slots:
            return date.fromisoformat(self.slots["date"].value)
        if any(problem.slot == "date" for problem in self.problems):
            return None
        held = self.draft.get("date")
        return date.fromisoformat(held) if held else None

    def known_start(self) -> str | None:
        start = self.slots.get("start_time")
        held = start.value if start else self.draft.get("start_time")
        return str(held) if held else None
