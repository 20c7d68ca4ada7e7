"""Acts on stored bookings: cancelling and changing one that the words name, or that was just made."""

from __future__ import annotations

from booking.agent.understand import cues, reference
from booking.agent.understand.differences import touched
from booking.agent.understand.heard import Act, Heard, asks_for_room, ref_of
from booking.agent.understand.types import BookingRef


def _names_a_booking(heard: Heard) -> bool:
    """Whether the words say which stored booking: by title, number, person, or whose and when."""
    ref = ref_of(heard)
    if ref.title or ref.owner or ref.everyone or ref.upcoming or reference.number_of(heard.folded):
        return True
    when = any(key in heard.slots for key in ("date", "start_time", "room"))
    return when and bool(cues.BOOKING_NOUN.search(heard.folded))


def cancel_named(heard: Heard) -> Act | None:
    if cues.CANCEL.search(heard.words) and "without" not in heard.slots and _names_a_booking(heard):
        return Act("cancel_booking", ref=ref_of(heard))
    return None


_AMOUNTS = frozenset({"capacity_change", "duration_change", "start_change"})


def _adds_to_named(heard: Heard) -> bool:
    """Whether an amount is said for a booking that is named: add two people to the review."""
    return bool(_AMOUNTS & set(heard.slots)) and ref_of(heard).title is not None


def modify_named(heard: Heard) -> Act | None:
    if _adds_to_named(heard):
        return Act("modify_booking")
    if not cues.MODIFY.search(heard.words) or heard.facts.same_room is not None:
        return None
    ref = ref_of(heard)
    mine = cues.MINE.search(heard.words) and cues.BOOKING_NOUN.search(heard.words)
    if ref.title or mine or reference.number_of(heard.folded):
        return Act("modify_booking")
    return None


def cancel_stored(heard: Heard) -> Act | None:
    if cues.CANCEL.search(heard.words):
        return Act("cancel_booking", ref=ref_of(heard))
    if cues.CANCEL_WEAK.search(heard.words) and not touched(heard):
        return Act("cancel_flow")
    return None


def modify_stored(heard: Heard) -> Act | None:
    if _adds_to_named(heard):
        return Act("modify_booking")
    if not cues.MODIFY.search(heard.words) or heard.facts.same_room is not None:
        return None
    noun = cues.BOOKING_NOUN.search(heard.words) or ref_of(heard).title
    if asks_for_room(heard) and not noun:
        return None
    return Act("modify_booking")


def correct_booked(heard: Heard) -> Act | None:
    """Words that take back what was just booked are about that booking: actually, make it 3."""
    if heard.draft.phase != "BOOKED" or not (set(heard.slots) - {"title"}):
        return None
    taken_back = cues.TAKEN_BACK.match(heard.folded.strip())
    is_other = set(heard.slots) <= {"size", "features"}  # another room, and nothing of a new wish
    if asks_for_room(heard) and not taken_back and not is_other:
        return None
    said = cues.CORRECTION.search(heard.words) or "size" in heard.slots
    capacity = heard.slots.get("capacity")
    if taken_back or said or (capacity is not None and capacity.rule == "capacity.make_it"):
        return Act("modify_booking", ref=BookingRef(last=True))
    return None
