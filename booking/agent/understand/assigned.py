"""A message read as an act that somebody else decided on; its words still say what it refers to."""

from __future__ import annotations

from booking.agent.understand import acts, cues, selection
from booking.agent.understand.types import BookingRef

FILL = "fill"


def act_of(heard: acts.Heard, name: str) -> acts.Act:
    """The act of that name (`fill`: whichever of them the state makes it) with its references."""
    if name == FILL:
        return _filling(heard)
    if name == "select":
        chosen = selection.find(
            heard.folded, heard.facts, dict(heard.slots), heard.draft.candidates
        )
        return acts.Act(name, selection=chosen)
    if name == "modify_booking":
        return _changing(heard)
    if name in {"cancel_booking", "check_in"}:
        return acts.Act(name, ref=acts.ref_of(heard))
    return acts.Act(name)


def _filling(heard: acts.Heard) -> acts.Act:
    if not heard.draft.is_open:
        return acts.Act("new_request")
    return acts.fill(heard) or acts.Act("supplement")


def _changing(heard: acts.Heard) -> acts.Act:
    """A change without a verb of change names no two halves: all of it is the new state."""
    if (corrected := acts.correct_booked(heard)) is not None:
        return corrected
    if cues.MODIFY.search(heard.words):
        return acts.Act("modify_booking")
    is_last = heard.draft.phase == "BOOKED"
    return acts.Act("modify_booking", ref=BookingRef(last=True) if is_last else acts.ref_of(heard))
