"""What a yes would change of a booking, in plain JSON, and the question that asks for it. Pure."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from booking.agent import questions
from booking.agent.texts import dates_text, rhythm_text, slot_text, span_text, text
from booking.agent.tools import OwnUse
from booking.selectors import Candidate, RoomRequest, SeriesPlan

Change = dict[str, Any]
SCOPES = ("this", "following", "all")
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def scope_of(wish: Mapping[str, Any], use: OwnUse) -> str | None:
    """How much of a series is meant: None where the words leave it open, or it is no series."""
    if not use.is_series:
        return None
    said = wish.get("scope") or (wish.get("ref") or {}).get("scope")
    slots = wish.get("slots") or {}
    if slots.get("recurrence") and said != "following":
        return "all"
    if said in SCOPES:
        return str(said)
    is_words_only = bool(slots) and set(slots) <= {"capacity", "capacity_change"}
    return "all" if is_words_only and wish["kind"] == "move_booking" else None


def is_empty(wish: Mapping[str, Any]) -> bool:
    """Whether a wish to change says nothing about what is to become of the booking."""
    slots = wish.get("slots") or {}
    return not any(slots.get(key) is not None for key in _CHANGES)


_CHANGES = (
    "date", "start_time", "end_time", "duration_minutes", "duration_change", "start_change",
    "capacity", "capacity_change", "room", "building", "floor", "features", "recurrence", "size",
)  # fmt: skip


def cancellation(
    wish: Mapping[str, Any], use: OwnUse, scope: str | None, dates: Sequence[OwnUse]
) -> Change:
    """Cancel a booking at the version it was read in; `dates` are those of a series it touches."""
    return {**_common(wish, use, scope), "dates": len(dates) if use.is_series else 1}


def move(wish: Mapping[str, Any], use: OwnUse, scope: str | None) -> Change:
    """Move or amend a booking, or one date of a series, or (then its first date is shown) more."""
    change = {**_common(wish, use, scope), "dates": 1, "on_clash": "refuse", "recurrence": None}
    slots = wish.get("slots") or {}
    starts_at, ends_at = _span(slots, use)
    minutes = int((ends_at - starts_at).total_seconds() // 60)
    headcount = slots.get("capacity") or use.headcount + (slots.get("capacity_change") or 0)
    change |= {
        "starts_at": starts_at.isoformat(),
        "ends_at": ends_at.isoformat(),
        "new_start": f"{starts_at:%H:%M}",
        "duration_minutes": minutes,
        "room": slots.get("room") or use.room,
        "headcount": max(headcount, 1),
        "slots": {
            "date": starts_at.date().isoformat(),
            "start_time": f"{starts_at:%H:%M}",
            "duration_minutes": minutes,
            "capacity": max(headcount, 1),
            "room": slots.get("room") or use.room,
        },
    }
    return change


def _common(wish: Mapping[str, Any], use: OwnUse, scope: str | None) -> Change:
    change: Change = {
        "kind": wish["kind"],
        "booking": use.booking,
        "version": use.version,
        "room": use.room,
        "headcount": use.headcount,
        "headcount_before": use.headcount,
        "starts_at": use.starts_at.isoformat(),
        "ends_at": use.ends_at.isoformat(),
        "intent": uuid.uuid4().hex,
        "wish": dict(wish),
    }
    if use.recurrence_date is not None:
        change |= {
            "series": use.booking,
            "occurrence": use.recurrence_date.isoformat(),
            "scope": scope,
        }
    return change


def _span(slots: Mapping[str, Any], use: OwnUse) -> tuple[datetime, datetime]:
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
        if ends_at <= starts_at and start is None and not slots.get("start_change"):
            starts_at = ends_at - kept
    return starts_at, ends_at


def differs(change: Change, use: OwnUse) -> bool:
    """Whether the change of one booking changes anything."""
    after = tuple(change[key] for key in ("room", "starts_at", "ends_at", "headcount"))
    return after != (use.room, use.starts_at.isoformat(), use.ends_at.isoformat(), use.headcount)


def request_of(change: Change, slots: Mapping[str, Any]) -> RoomRequest:
    """The changed booking as a wish that ignores the slot it already holds (P16).

    A wish about the room that names none is met by any room that fits it.
    """
    building, floor = slots.get("building"), slots.get("floor")
    features = tuple(slots.get("features") or ())
    wishes = building is not None or floor is not None or bool(features)
    is_open = wishes and not slots.get("room")
    return RoomRequest(
        starts_at=datetime.fromisoformat(change["starts_at"]),
        ends_at=datetime.fromisoformat(change["ends_at"]),
        headcount=change["headcount"],
        room=None if is_open else change["room"],
        building=building,
        floor=floor,
        features=features,
        ignore_booking=change["booking"],
    )


def is_wanted(room: Candidate, use: OwnUse, request: RoomRequest, slots: Mapping[str, Any]) -> bool:
    """Whether a room that is free is one that was asked for: another, larger or smaller one."""
    if slots.get("size") is None or request.room is not None:
        return True
    return room.room != use.room


def rule_of(slots: Mapping[str, Any], use: OwnUse, *, is_weekly: bool) -> str | None:
    """The new rule of a series: as said, or on the weekday of a new date; None keeps the old one."""
    said = slots.get("recurrence")
    kept = _parts(use.rule)
    end: dict[str, Any] = {key: kept[key] for key in ("COUNT", "UNTIL") if key in kept}
    if said:
        parts: dict[str, Any] = {"FREQ": said["freq"], "INTERVAL": said.get("interval"), **end}
        days = said.get("byday") or (kept.get("BYDAY") or "").split(",")
        if said["freq"] == "WEEKLY" and any(days):
            parts["BYDAY"] = ",".join(days)
        if said.get("until"):
            parts |= {"UNTIL": said["until"].replace("-", ""), "COUNT": None}
        if said.get("count"):
            parts |= {"COUNT": said["count"], "UNTIL": None}
        return ";".join(f"{key}={value}" for key, value in parts.items() if value)
    day = date.fromisoformat(slots["date"]) if slots.get("date") else use.starts_at.date()
    if not is_weekly or day.weekday() == use.starts_at.weekday():
        return None
    parts = {**kept, "BYDAY": _DAYS[day.weekday()]}
    return ";".join(f"{key}={value}" for key, value in parts.items())


def _parts(rule: str) -> dict[str, str]:
    return {name: value for name, _, value in (each.partition("=") for each in rule.split(";"))}


def is_weekly(use: OwnUse) -> bool:
    """Whether a series has one day a week, so that a new day says which."""
    parts = _parts(use.rule)
    return parts.get("FREQ") == "WEEKLY" and "," not in parts.get("BYDAY", "")


def of_dates(change: Change, plan: SeriesPlan, rule: str | None) -> Change:
    """The change of several dates, as the preview says it will be."""
    shown = plan.possible[0]
    zone = datetime.fromisoformat(change["starts_at"]).tzinfo
    return {
        **change,
        "starts_at": shown.starts_at.astimezone(zone).isoformat(),
        "ends_at": shown.ends_at.astimezone(zone).isoformat(),
        "first": shown.date.isoformat(),
        "recurrence": rule,
        "dates": len(plan.possible),
        "on_clash": "skip" if plan.clashes else "refuse",
    }


def question(
    change: Change,
    use: OwnUse,
    language: str,
    *,
    dates: Sequence[date] = (),
    left_out: str = "",
    why: str = "",
) -> questions.Question:
    """Ask for a yes, with the booking as it is and as it would be.

    dates: those of a series that it touches. left_out: those that it gives up, in words. why: what
    the person should know before.
    """
    if change["kind"] == "cancel_booking":
        rows = _cancel_rows(use, language)
        ask = text("confirm.cancel", language)
    else:
        rows = _move_rows(change, use, language)
        ask = text("confirm.move", language)
    if use.title:
        rows.append(("title", text("label.title", language), use.title))
    if use.is_series:
        rows.append(_dates_row(change, dates, language))
    if left_out:
        rows.append(("left_out", text("label.left_out", language), left_out))
        ask = text("confirm.without", language, count=change["dates"])
    return questions.confirm(ask=questions.lines(why, ask), rows=rows, offer=change)


def _cancel_rows(use: OwnUse, language: str) -> list[tuple[str, str, str]]:
    now = f"{use.room}, {span_text(use.starts_at, use.ends_at, language)}"
    return [("booking", text("label.booking", language), now)]


def _move_rows(change: Change, use: OwnUse, language: str) -> list[tuple[str, str, str]]:
    first, last = (datetime.fromisoformat(change[key]) for key in ("starts_at", "ends_at"))
    before = [use.room, span_text(use.starts_at, use.ends_at, language)]
    after = [change["room"], span_text(first, last, language)]
    if change["headcount"] != use.headcount:
        before.append(slot_text("capacity", use.headcount, language))
        after.append(slot_text("capacity", change["headcount"], language))
    if change.get("recurrence"):
        before.append(rhythm_text(use.rule, language))
        after.append(rhythm_text(change["recurrence"], language))
    return [
        ("before", text("label.before", language), ", ".join(before)),
        ("after", text("label.after", language), ", ".join(after)),
    ]


def _dates_row(change: Change, dates: Sequence[date], language: str) -> tuple[str, str, str]:
    label = text("label.dates", language)
    if change["scope"] == "this":
        return ("dates", label, text("dates.this", language))
    return ("dates", label, dates_text(dates, language))
