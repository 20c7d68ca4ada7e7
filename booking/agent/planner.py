"""What the agent should do next, proposed from what was understood. Pure.

A planner only proposes; `dialogue.advance` lets happen what the phase allows, whoever proposes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from booking.agent.understand.types import Understanding

Action = Literal[
    "fill", "select", "confirm", "decline", "drop", "restart", "resume",
    "tell_mine", "tell_room", "tell_free", "cancel_booking", "move_booking", "check_in",
    "refuse_scope", "refuse_injection", "unclear",
]  # fmt: skip

_ACTIONS: Mapping[str, Action] = {
    "new_request": "fill",
    "provide_slots": "fill",
    "correction": "fill",
    "supplement": "fill",
    "select": "select",
    "confirm": "confirm",
    "decline": "decline",
    "cancel_flow": "drop",
    "restart": "restart",
    "resume": "resume",
    "query_mine": "tell_mine",
    "query_room": "tell_room",
    "query_availability": "tell_free",
    "modify_booking": "move_booking",
    "cancel_booking": "cancel_booking",
    "check_in": "check_in",
    "out_of_domain": "refuse_scope",
    "injection": "refuse_injection",
}

# What a message may be taken to be.
LABELS = tuple(_ACTIONS)


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """An action, and the words behind it or the card that was clicked.

    room, starts_at: the card, by the room's code and, where the card has one, its start.
    """

    action: Action
    understanding: Understanding | None = None
    room: str | None = None
    starts_at: str | None = None


def propose(understanding: Understanding) -> Proposal:
    """The rules planner: the first act of the message decides."""
    act = understanding.acts[0] if understanding.acts else ""
    selection = understanding.selection
    return Proposal(
        action=_ACTIONS.get(act, "unclear"),
        understanding=understanding,
        room=selection.room if selection else None,
    )


def propose_answer(value: Mapping[str, Any]) -> Proposal:
    """What a click on a card or a button proposes; anything malformed is unclear."""
    approved, room, starts_at = (value.get(key) for key in ("approved", "room", "starts_at"))
    if isinstance(approved, bool):
        return Proposal(action="confirm" if approved else "decline")
    if isinstance(room, str) and isinstance(starts_at, str | None):
        return Proposal(action="select", room=room, starts_at=starts_at)
    return Proposal(action="unclear")
