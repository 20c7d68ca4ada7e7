"""What a case came to, and the name of that. Pure."""

from dataclasses import dataclass, field
from typing import Any

Frame = dict[str, Any]
Write = dict[str, Any]


@dataclass
class Played:
    """What a case came to.

    classification: of the user's messages, in order. slots, dialogue, result: the last state. candidates,
    alternatives: the cards shown last. asks_held: slots that were asked for though they were known.
    unconfirmed: acts that no confirmation asked for. frames: everything the page was sent. words:
    what the agent said last in each turn.
    """

    classification: list[str] = field(default_factory=list)
    slots: dict[str, Any] = field(default_factory=dict)
    dialogue: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    candidates: list[str] = field(default_factory=list)
    alternatives: list[str] = field(default_factory=list)
    asks_held: list[str] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    unconfirmed: list[str] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    @property
    def phase(self) -> str:
        return str(self.dialogue.get("phase", "IDLE"))

    @property
    def outcome(self) -> str:
        """What it has come to, in the cases' words."""
        return _outcome(self)


_TOLD = {
    "dropped": "flow_cancelled",
    "mine": "listed",
    "room": "answered",
    "free": "answered",
    "check_in": "answered",
    "scope": "refused_scope",
    "injection": "refused_injection",
    "not_yours": "refused_permission",
}


def _outcome(played: Played) -> str:
    dialogue, phase = played.dialogue, played.phase
    if phase == "BOOKED":
        return "needs_approval" if played.result.get("status") == "pending" else "booked"
    if phase == "CONFIRMING":
        kind = (dialogue.get("question") or {}).get("kind")
        return "asked" if kind == "clarify" else "confirm_requested"
    if phase == "AWAITING_SELECTION":
        return _offered(played)
    if phase == "COLLECTING_SLOTS":
        if played.slots.get("on_behalf_of"):
            return "refused_permission"
        rule = ((dialogue.get("question") or {}).get("data") or {}).get("rule")
        return "refused_policy" if rule else "asked"
    if played.result.get("booking_id") and not dialogue.get("told"):
        return _changed(played)
    if dialogue.get("told") == "dropped" and dialogue.get("selected"):
        return "no_active_booking"
    told = str(dialogue.get("told", ""))
    return _TOLD.get(told, told)


def _offered(played: Played) -> str:
    cards = played.dialogue["candidates"]
    at_once = [c for c in cards if not c["needs_approval"] and not c.get("starts_at")]
    is_plain = at_once or not played.alternatives
    return "candidates_offered" if is_plain else "alternatives_offered"


def _changed(played: Played) -> str:
    ops = {write["op"] for write in played.writes}
    if "check_in" in ops:
        return "checked_in"
    return "cancelled" if "cancel" in ops else "changed"
