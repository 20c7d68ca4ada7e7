"""From a time of one day to a time of another: 明天9点到后天10点, 4pm tomorrow to 10am on Friday.

Read as a whole, so that nobody is booked for a shorter time than they said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from booking.agent.understand import hours
from booking.agent.understand.clock import Point
from booking.agent.understand.days import Day
from booking.agent.understand.facts import Facts
from booking.agent.understand.types import Span

_JOIN = re.compile(
    r"\s?(?:的|开始)?(?:一直|持续)?(?:到|至|[-~]{1,3}|(?:up )?(?:to|till?|until|through)(?![a-z]))\s?(?:the )?"
)
_WITHIN = re.compile(r"[\s,的]*(?:(?:on|at|from)(?![a-z]))?\s*(?:the )?")


@dataclass(frozen=True, slots=True)
class Stay:
    """A start on one day and an end on a later one."""

    first: Day
    start: Point
    last: Day
    end: Point
    span: Span

    def minutes(self, start: int, end: int) -> int:
        """How long it is from `start` minutes of the first day to `end` minutes of the last."""
        if self.first.value is None or self.last.value is None:  # for the type checker
            raise ValueError(self)
        return (self.last.value - self.first.value).days * hours.DAY + end - start


def find(facts: Facts, said: str) -> Stay | None:
    """The stay that the words name, if it is the only time in them."""
    if len(facts.days) != 2 or facts.repeat is not None or facts.offset is not None:
        return None
    points = [point for each in facts.ranges for point in (each.start, each.end)] + [*facts.points]
    first, last = facts.days
    if len(points) != 2 or first.value is None or last.value is None or first.value >= last.value:
        return None
    start, end = sorted(points, key=lambda point: point.span)
    one, other = _joined(first.span, start.span, said), _joined(last.span, end.span, said)
    if one is None or other is None or not _JOIN.fullmatch(said[one[1] : other[0]].lower()):
        return None
    return Stay(first, start, last, end, (one[0], other[1]))


def _joined(day: Span, clock: Span, said: str) -> Span | None:
    """A day and a time right beside each other, in either order."""
    before, after = sorted((day, clock))
    if not _WITHIN.fullmatch(said[before[1] : after[0]].lower()):
        return None
    return before[0], after[1]
