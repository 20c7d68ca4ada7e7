"""The rules planner: what the pipeline understood, as a proposal. Offline, and the same each time. Pure."""

from collections.abc import Mapping
from typing import Any

from booking.agent.planner.proposals import Action, Heard, Planned, Proposal
from booking.agent.understand import Understanding, understand

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


async def rules(heard: Heard) -> Planned:
    """The rules planner: offline, and the same for the same words."""
    return planned_by_rules(heard)


def planned_by_rules(heard: Heard) -> Planned:
    """What the rules propose."""
    understanding = read(heard)
    return Planned(
        proposal=propose(understanding, asked=heard.asked),
        label=understanding.classification,
    )


def read(heard: Heard, *, act: str = "") -> Understanding:
    """The message as the pipeline reads it; act: see `understand`."""
    return understand(
        heard.text,
        now=heard.now,
        lexicon=heard.lexicon,
        hours=heard.hours,
        draft=heard.draft,
        act=act,
    )


def propose(understanding: Understanding, *, asked: str | None = None) -> Proposal:
    """The first act of the message decides."""
    act = understanding.acts[0] if understanding.acts else ""
    selection = understanding.selection
    action = _ACTIONS.get(act, "unclear")
    return Proposal(
        action=action,
        understanding=understanding,
        card=selection.index if selection else None,
        consent=asked if action == "confirm" else None,
    )


def propose_answer(value: Mapping[str, Any], *, asked: str | None = None) -> Proposal:
    """What a click on a card or a button proposes; anything malformed is unclear."""
    approved, room, starts_at = (value.get(key) for key in ("approved", "room", "starts_at"))
    if approved is True:
        return Proposal(action="confirm", consent=asked)
    if approved is False:
        return Proposal(action="decline")
    if isinstance(room, str) and isinstance(starts_at, str | None):
        return Proposal(action="select", room=room, starts_at=starts_at)
    return Proposal(action="unclear")
