"""What operators may change of a conversation's state in a fork, and what it has to be.

Pure, but for the choices of a form, which are read when it is shown.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agentruntime.agents import Edit, Field
from booking.agent.labels import SLOTS
from booking.agent.state import OPEN_PHASES, REQUIRED, fresh_dialogue

DAY_MINUTES = 24 * 60
LARGEST_MEETING = 1000


def _rooms(language: str) -> Sequence[tuple[str, str]]:
    from booking.selectors import room_lexicon

    names = {"zh": "name_zh"}.get(language, "name_en")
    return [
        (room.code, f"{room.code} {getattr(room, names)}".strip()) for room in room_lexicon(None)
    ]


def _features(language: str) -> Sequence[tuple[str, str]]:
    from booking.selectors import feature_lexicon

    names = {"zh": "name_zh"}.get(language, "name_en")
    return [(each.code, getattr(each, names) or each.code) for each in feature_lexicon()]


def _slot(slot: str, kind: Any, **more: Any) -> Field:
    return Field(path=f"slots.{slot}", kind=kind, labels=SLOTS[slot], **more)


FIELDS = (
    _slot("date", "date"),
    _slot("start_time", "time"),
    _slot("duration_minutes", "integer", minimum=5, maximum=DAY_MINUTES),
    _slot("capacity", "integer", minimum=1, maximum=LARGEST_MEETING),
    _slot("room", "text", choices=_rooms),
    _slot("features", "list", choices=_features),
    _slot("title", "text"),
)


def edit(state: Mapping[str, Any], changes: Mapping[str, Any]) -> Edit:
    """The wish with other slots; what was offered for the old one is void (P14)."""
    slots = dict(state.get("slots") or {})
    for path, value in changes.items():
        slot = path.partition(".")[2]
        if value is None:
            slots.pop(slot, None)
        else:
            slots[slot] = value
    if "slots.start_time" in changes:
        slots.pop("window", None)
    said = state.get("dialogue") or {}
    missing = [slot for slot in REQUIRED if slots.get(slot) is None]
    dialogue = {
        **fresh_dialogue(said.get("language", "en")),
        "phase": "COLLECTING_SLOTS",
        "assumed": [
            slot
            for slot in said.get("assumed", [])
            if slot in slots and f"slots.{slot}" not in changes
        ],
        "read_back": said.get("read_back", []),
        "asks": missing,
        "next": "clarify" if missing else "search",
    }
    update = {"slots": slots, "dialogue": dialogue, "result": {}}
    return Edit(update=update, after="understand")


def validate(state: Mapping[str, Any]) -> list[str]:
    """What this version of the agent could not go on from."""
    dialogue = state.get("dialogue")
    if dialogue is None:
        return []  # nothing was understood yet
    wrong = [
        f"dialogue.{key} is missing"
        for key in fresh_dialogue("en")
        if key not in dialogue and key not in _LATER
    ]
    phase = dialogue.get("phase")
    if phase not in {"IDLE", "BOOKED", *OPEN_PHASES}:
        wrong.append(f"dialogue.phase {phase!r} is unknown")
    if phase == "CONFIRMING" and not (dialogue.get("offer") or dialogue.get("target")):
        wrong.append("dialogue.phase is CONFIRMING and there is nothing to confirm")
    return wrong


# Keys that came later than the first state that was stored; their readers do without.
_LATER = frozenset({"read_back", "asides", "consent", "parked"})


def simulate(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What booking, moving or cancelling would answer; `booking_id` of a new one is None."""
    status = {"cancel_booking": "cancelled", "check_in": "checked_in"}.get(name, "booked")
    return {
        "booking_id": arguments.get("booking"),
        "room_id": arguments.get("room", ""),
        "status": status,
        "start": arguments.get("starts_at", ""),
        "end": arguments.get("ends_at", ""),
        "simulated": True,
    }


# The key of a wish is made by chance; the digest of an offer, and the consent to it, are over it.
VOLATILE = frozenset({"intent", "digest", "consent"})
