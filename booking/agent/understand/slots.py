"""Everything but the time: people, place, features, title, and answers that are a lone number."""

from __future__ import annotations

import re
from dataclasses import replace

from booking.agent.understand import numerals, people
from booking.agent.understand.facts import Facts
from booking.agent.understand.table import last_wins
from booking.agent.understand.types import DraftView, Found, Problem

_LONE = re.compile(
    rf"\s*(?:大概|大约|约|about )?(?P<n>{numerals.NUMBER})\s?(?:个|位|名)?\s*(?:吧|左右)?[.。!]?\s*"
)


def collect(facts: Facts, said: str, draft: DraftView) -> tuple[dict[str, Found], list[Problem]]:
    """The slots that need no clock."""
    slots: dict[str, Found] = {}
    problems = list(facts.problems)
    _capacity(facts, said, slots, problems)
    for place in facts.places:
        _place(place.slot, place.found(), slots)
    if facts.same_room and "room" not in slots:
        slots["room"] = facts.same_room
    if facts.title:
        slots["title"] = facts.title
    elif facts.kind and draft.get("title") is None:
        slots["title"] = facts.kind
    if facts.on_behalf:
        slots["on_behalf_of"] = Found(
            facts.on_behalf.id, facts.on_behalf.span, "on_behalf_of.named"
        )
    return slots, problems


def _place(slot: str, found: Found, slots: dict[str, Found]) -> None:
    if slot in {"features", "without"}:
        held = slots.get(slot)
        values = [*held.value, found.value] if held else [found.value]
        slots[slot] = replace(held or found, value=list(dict.fromkeys(values)))
    elif (
        slot not in slots
        or (slots[slot].value is None and found.value is not None)
        or found.value is not None
    ):
        slots[slot] = found


def _capacity(facts: Facts, said: str, slots: dict[str, Found], problems: list[Problem]) -> None:
    changes = [heads for heads in facts.heads if heads.change]
    read = [people.value_of(heads, said) for heads in facts.heads if not heads.change]
    problems += [item for item in read if isinstance(item, Problem)]
    values = [item for item in read if isinstance(item, Found)]
    if not values:
        if changes:
            last = changes[-1]
            slots["capacity_change"] = Found(int(last.count), last.span, last.rule)
        return
    gap = said[values[0].span[1] : values[-1].span[0]].lower()
    if len({value.value for value in values}) == 1 or last_wins(gap):
        slots["capacity"] = values[-1]
        return
    options = tuple(dict.fromkeys(value.value for value in values))
    span = (values[0].span[0], values[-1].span[1])
    problems.append(Problem("ambiguous_capacity", "capacity", span, said[slice(*span)], options))


def lone_number(folded: str, draft: DraftView) -> tuple[str, Found] | None:
    """A message that is one number answers the one thing that was asked."""
    match = _LONE.fullmatch(folded)
    if match is None or len(draft.missing) != 1:
        return None
    number = numerals.read(match["n"])
    slot = draft.missing[0]
    if not number or slot not in {"capacity", "duration_minutes"}:
        return None
    if slot == "capacity":
        return slot, Found(number, match.span("n"), "capacity.answer")
    if number <= 4:
        return slot, Found(number * 60, match.span("n"), "duration.answer_hours", assumed=True)
    return slot, Found(number, match.span("n"), "duration.answer", assumed=True)
