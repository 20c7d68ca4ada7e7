"""The agent's state: plain JSON in four channels, made fresh in one place. Pure.

`said` is the turn's input. `slots` is what is known of the wish. `dialogue` is where the
conversation stands. `result` is what was done last.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

Phase = Literal["IDLE", "COLLECTING_SLOTS", "AWAITING_SELECTION", "CONFIRMING", "BOOKED"]

OPEN_PHASES = frozenset({"COLLECTING_SLOTS", "AWAITING_SELECTION", "CONFIRMING"})
REQUIRED = ("date", "start_time", "duration_minutes", "capacity")
SHOWN_SLOTS = (
    *REQUIRED,
    "building",
    "floor",
    "features",
    "room",
    "title",
)


class BookingState(TypedDict, total=False):
    """The channels. Keys are append-only; a rename raises `SPEC.version` (docs/adr/0004)."""

    said: dict[str, Any]
    slots: dict[str, Any]
    dialogue: dict[str, Any]
    result: dict[str, Any]


def fresh_dialogue(language: str) -> dict[str, Any]:
    """A dialogue in which nothing has been asked.

    next: the node the turn goes on with. asks: slots the open question asks for. options: the
    readings it offers, as `[slot, value]`. candidates: the cards shown. selected: the card taken.
    question: what `interrupt()` asks. offer: what a yes will book. target: the booking that a yes
    will change. consent: the digest of the confirmation a yes was given to. preface: words before
    the next question. wants: the change of a stored booking that is wished for. asides: questions
    of the person's that are answered before the turn goes on. told: which was answered last.
    read_back: assumptions that earlier turns have told. parked: the draft that waits while a stored
    booking is changed.
    """
    return {
        "phase": "IDLE",
        "language": language,
        "next": "answer",
        "asks": [],
        "options": [],
        "assumed": [],
        "read_back": [],
        "candidates": [],
        "selected": None,
        "question": None,
        "offer": None,
        "target": None,
        "preface": "",
        "wants": None,
        "told": "",
        "parked": None,
        "asides": [],
        "consent": None,
    }


def standing(state: Mapping[str, Any]) -> str:
    """The phase as words are read in it: after a change of a booking it is BOOKED again, for what
    follows may be about that booking.
    """
    phase, result = str(state["dialogue"]["phase"]), state.get("result") or {}
    holds = result.get("booking_id") and result.get("status") != "cancelled"
    return "BOOKED" if phase == "IDLE" and holds else phase


def parked(state: Mapping[str, Any]) -> dict[str, Any] | None:
    """The draft that is open, or waits already, to go on with once a stored booking is changed."""
    said = state["dialogue"]
    if said["phase"] not in OPEN_PHASES or said["target"] is not None:
        waiting: dict[str, Any] | None = said.get("parked")
        return waiting
    return {"slots": dict(state["slots"]), "assumed": list(said["assumed"])}


def resumed(state: Mapping[str, Any]) -> dict[str, Any]:
    """Back to the draft that waited, or to nothing."""
    said = state["dialogue"]
    fresh = reset(said["language"])
    draft = said.get("parked")
    if not draft:
        return fresh
    asks = [slot for slot in REQUIRED if draft["slots"].get(slot) is None]
    dialogue = {
        **fresh["dialogue"],
        "phase": "COLLECTING_SLOTS",
        "assumed": draft["assumed"],
        "read_back": draft["assumed"],
        "asks": asks,
        "next": "clarify" if asks else "search",
    }
    return {**fresh, "slots": draft["slots"], "dialogue": dialogue}


def reset(language: str) -> dict[str, Any]:
    """A state without any wish; the one place a conversation starts, or starts over, from."""
    return {"slots": {}, "dialogue": fresh_dialogue(language), "result": {}}


def acts_at_once(state: Mapping[str, Any]) -> bool:
    """Whether words may set off a write with no further question: after a yes in the same turn, or
    at the choice of a booking to check in to.
    """
    said = state["dialogue"]
    target = said["target"] or {}
    return said["consent"] is not None or target.get("kind") == "check_in"
