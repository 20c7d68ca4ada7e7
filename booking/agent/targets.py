"""Which of the person's own bookings is meant, and what a yes would change. Pure."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from booking.agent import questions
from booking.agent.texts import slot_text, span_text, text
from booking.agent.tools import OwnUse
from booking.selectors import RoomRequest


def choose(wants: Mapping[str, Any], uses: Sequence[OwnUse], *, last: int | None) -> OwnUse | str:
    """The booking meant, or why none is: `not_yours`, `series`, `no_booking`, `which_booking`.

    last: the booking this conversation just made, which is meant when no other is named.
    """
    ref = wants.get("ref") or {}
    if ref.get("owner") or ref.get("everyone"):
        return "not_yours"
    if ref.get("series_ids"):
        return "series"
    fitting = [use for use in uses if not use.is_series]
    named = ref.get("booking_ids") or []
    if named:
        fitting = [use for use in fitting if use.booking in named]
    elif last is not None:
        fitting = [use for use in fitting if use.booking == last]
    if len(fitting) == 1:
        return fitting[0]
    return "which_booking" if fitting else "no_booking"


def listed(uses: Sequence[OwnUse], language: str) -> str:
    """Bookings, a line each."""
    return "\n".join(
        text(
            "mine.line",
            language,
            when=span_text(use.starts_at, use.ends_at, language),
            room=use.room,
            title=f" · {use.title}" if use.title else "",
        )
        for use in uses
    )


def change_of(wants: Mapping[str, Any], use: OwnUse, zone: ZoneInfo) -> dict[str, Any]:
    """What a yes will do: plain JSON, the booking at the version it was read in, the new values."""
    change: dict[str, Any] = {
        "kind": wants["kind"],
        "booking": use.booking,
        "version": use.version,
        "room": use.room,
        "headcount": use.headcount,
        "headcount_before": use.headcount,
        "starts_at": use.starts_at.isoformat(),
        "ends_at": use.ends_at.isoformat(),
        "intent": uuid.uuid4().hex,
    }
    if wants["kind"] == "move_booking":
        change |= _moved(wants.get("slots") or {}, use, zone)
    return change


def _moved(slots: Mapping[str, Any], use: OwnUse, zone: ZoneInfo) -> dict[str, Any]:
    """P7: a new start keeps the duration, a new end or length changes it."""
    kept = use.ends_at - use.starts_at
    day = date.fromisoformat(slots["date"]) if slots.get("date") else use.starts_at.date()
    start = time.fromisoformat(slots["start_time"]) if slots.get("start_time") else None
    starts_at = datetime.combine(day, start or use.starts_at.time(), use.starts_at.tzinfo)
    starts_at += timedelta(minutes=slots.get("start_change") or 0)
    length = timedelta(minutes=slots["duration_minutes"]) if slots.get("duration_minutes") else kept
    length += timedelta(minutes=slots.get("duration_change") or 0)
    ends_at = starts_at + length
    if slots.get("end_time"):
        ends_at = datetime.combine(day, time.fromisoformat(slots["end_time"]), starts_at.tzinfo)
    headcount = slots.get("capacity") or use.headcount + (slots.get("capacity_change") or 0)
    return {
        "starts_at": starts_at.isoformat(),
        "ends_at": ends_at.isoformat(),
        "room": slots.get("room") or use.room,
        "headcount": max(headcount, 1),
    }


def elsewhere(request: RoomRequest) -> RoomRequest:
    """The same wish in any room, for a booking whose own room will not do."""
    return replace(request, room=None)


def request_of(change: Mapping[str, Any]) -> RoomRequest:
    """The changed booking as a wish that ignores the slot it already holds (P16)."""
    return RoomRequest(
        starts_at=datetime.fromisoformat(change["starts_at"]),
        ends_at=datetime.fromisoformat(change["ends_at"]),
        headcount=change["headcount"],
        room=change["room"],
        ignore_booking=change["booking"],
    )


def question(
    change: Mapping[str, Any], use: OwnUse, language: str, *, why: str = ""
) -> questions.Question:
    """Ask for a yes, with the booking as it is and as it would be; why: another room is proposed."""
    now = f"{use.room}, {span_text(use.starts_at, use.ends_at, language)}"
    people = change["headcount"] != use.headcount
    if change["kind"] == "cancel_booking":
        rows = [("booking", text("label.booking", language), now)]
        if use.title:
            rows.append(("title", text("label.title", language), use.title))
        ask = text("confirm.cancel", language)
    else:
        first, last = (datetime.fromisoformat(change[key]) for key in ("starts_at", "ends_at"))
        after = f"{change['room']}, {span_text(first, last, language)}"
        if people:
            now = f"{now}, {slot_text('capacity', use.headcount, language)}"
            after = f"{after}, {slot_text('capacity', change['headcount'], language)}"
        rows = [
            ("before", text("label.before", language), now),
            ("after", text("label.after", language), after),
        ]
        ask = questions.lines(why, text("confirm.move", language))
    return questions.confirm(ask=ask, rows=rows, offer=change)
