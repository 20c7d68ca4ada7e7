"""What a message changed about what was known: figures for the run, never people's words. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from booking.agent.state import OPEN_PHASES, SHOWN_SLOTS

State = Mapping[str, Any]

ASSUMED, REVISED, OVERTURNED = "assumed", "revised", "overturned"


def between(before: State, after: State) -> Counter[tuple[str, str]]:
    """`(what, slot)`s of one wish filled further: slots that were newly assumed, revised (known,
    and now another) and overturned (assumed, and now another).

    A wish that had not been open is a new one; nothing of it is revised.
    """
    said, slots = after["dialogue"], after["slots"]
    was_open = before["dialogue"]["phase"] in OPEN_PHASES
    held = before["slots"] if was_open else {}
    assumed = before["dialogue"]["assumed"] if was_open else []
    changed = [
        slot
        for slot in SHOWN_SLOTS
        if held.get(slot) is not None and slots.get(slot) not in (None, held[slot])
    ]
    news = [
        slot
        for slot in said["assumed"]
        if slot in SHOWN_SLOTS and (slot not in assumed or slot in changed)
    ]
    return Counter(
        [(ASSUMED, slot) for slot in news]
        + [(REVISED, slot) for slot in changed]
        + [(OVERTURNED, slot) for slot in changed if slot in assumed]
    )


def noted(found: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The slots by what happened to them, as a run keeps them; nothing for what did not happen."""
    notes: dict[str, list[str]] = {}
    for what, slot in found:
        notes.setdefault(what, []).append(slot)
    return notes
