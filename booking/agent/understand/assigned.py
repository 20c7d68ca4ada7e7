"""A message read as an act that somebody else decided on; its words still say what it refers to."""

from __future__ import annotations

from booking.agent.understand import acts, cues, selection, stored
from booking.agent.understand.heard import Act, Heard, ref_of
from booking.agent.understand.types import BookingRef

FILL = "fill"


def act_of(heard: Heard, name: str) -> Act:
    """The act of that name (`fill`: whichever of them the state makes it) with its references."""
    if name == FILL:
        return _filling(heard)
    if name == "select":
        chosen = selection.find(
            heard.folded, heard.facts, dict(heard.slots), heard.draft.candidates
        )
        return Act(name, selection=chosen)
    if name == "modify_booking":
        return _changing(heard)
    if name in {"cancel_booking", "check_in"}:
        return Act(name, ref=ref_of(heard))
    return Act(name)


def _filling(heard: Heard) -> Act:
    if not heard.draft.is_open:
        return Act("new_request")
    return acts.fill(heard) or Act("supplement")


def _changing(heard: Heard) -> Act:
    """A change without a verb of change names no two halves: all of it is the new state."""
    if (corrected := stored.correct_booked(heard)) is not None:
        return corrected
    if cues.MODIFY.search(heard.words):
        return Act("modify_booking")
    is_last = heard.draft.phase == "BOOKED"
    return Act("modify_booking", ref=BookingRef(last=True) if is_last else ref_of(heard))
