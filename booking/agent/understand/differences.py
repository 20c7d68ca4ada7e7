"""What a message fills anew in the draft, and what it changes."""

from __future__ import annotations

from collections.abc import Mapping

from booking.agent.understand.heard import Heard
from booking.agent.understand.types import DraftView, Found, Problem

_CHANGES = {
    "duration_change": "duration_minutes",
    "start_change": "start_time",
    "capacity_change": "capacity",
    "without": "features",
}


def touched(heard: Heard) -> bool:
    new, changed = difference(heard.slots, heard.problems, heard.draft)
    return bool(new or changed)


def difference(
    slots: Mapping[str, Found], problems: tuple[Problem, ...], draft: DraftView
) -> tuple[set[str], set[str]]:
    """The slots that a message fills anew, and the filled ones that it changes."""
    new: set[str] = set()
    changed: set[str] = set()
    for slot, found in slots.items():
        verdict = _verdict(slot, found, draft)
        if verdict is not None:
            (changed if verdict else new).add(_CHANGES.get(slot, slot))
    for problem in problems:
        if problem.slot:
            (changed if draft.get(problem.slot) is not None else new).add(problem.slot)
    return new, changed


def _verdict(slot: str, found: Found, draft: DraftView) -> bool | None:
    """True changed, False new, None neither."""
    if found.rule in {"date.today", "title.kind"} or slot == "period":
        return None
    if slot in _CHANGES:
        return True
    held = draft.get(slot)
    if slot == "end_time":
        return _end_verdict(found, draft)
    if slot == "window":
        return _window_verdict(found, draft)
    if slot == "features":
        return None if set(found.value) <= set(held or ()) else False
    if held is None:
        return None if found.value is None else False
    if held == found.value:
        return None
    untold = (
        slot in draft.assumed and not draft.missing and draft.phase in {"IDLE", "COLLECTING_SLOTS"}
    )
    return not untold


def _end_verdict(found: Found, draft: DraftView) -> bool | None:
    start, length = draft.get("start_time"), draft.get("duration_minutes")
    if start is None or length is None:
        return False
    end = (int(start[:2]) * 60 + int(start[3:]) + length) % 1440
    return None if found.value == f"{end // 60:02d}:{end % 60:02d}" else True


def _window_verdict(found: Found, draft: DraftView) -> bool | None:
    start = draft.get("start_time")
    if start is not None:
        return None if found.value[0] <= start <= found.value[1] else True
    return None if draft.get("window") == found.value else draft.get("window") is not None
