"""Puts an Understanding into the draft: pure, and the only place where slots are merged.

Moving the start keeps the duration, moving the end changes it (P7); a restart or a new request
starts clean (P10); questions and small talk change nothing (P11).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from booking.agent.understand.acts import SPEAKING
from booking.agent.understand.types import REQUIRED, Found, Problem, Understanding
from booking.agent.understand.whichday import first_day

DAY = 24 * 60
_PLAIN = (
    "date", "start_time", "duration_minutes", "capacity", "building", "floor", "room", "title",
    "recurrence", "window", "on_behalf_of", "input_timezone", "may_split",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fold:
    """The draft after a message: its slots (only filled ones), which of them were assumed, what is
    to be asked about, what is missing, and which slots got another value.
    """

    slots: dict[str, Any]
    assumed: tuple[str, ...]
    problems: tuple[Problem, ...]
    missing: tuple[str, ...]
    changed: tuple[str, ...]


def apply(
    slots: Mapping[str, Any],
    understanding: Understanding,
    *,
    now: datetime,
    assumed: tuple[str, ...] = (),
) -> Fold:
    """Merge one message into the draft's slots. Several messages of a turn are folded in order."""
    held = {key: value for key, value in slots.items() if value not in (None, "", [], ())}
    marks = set(assumed)
    names = set(understanding.acts)
    if "cancel_flow" in names or names & {"new_request", "restart"}:
        before, held, marks = held, {}, set()
    else:
        before = dict(held)
    if not names & SPEAKING:
        return _result(held, marks, (), before)
    found = understanding.slots
    _wishes(held, found)
    _plain(held, marks, found)
    _numbers(held, marks, found)
    _end(held, marks, found)
    _problems(held, marks, understanding.problems)
    _series(held, marks, found, now)
    return _result(held, marks, understanding.problems, before)


def _result(
    held: dict[str, Any], marks: set[str], problems: tuple[Problem, ...], before: Mapping[str, Any]
) -> Fold:
    asked = {problem.slot for problem in problems}
    missing = tuple(slot for slot in REQUIRED if slot not in held or slot in asked)
    changed = tuple(key for key in {**before, **held} if before.get(key) != held.get(key))
    return Fold(held, tuple(sorted(marks & set(held))), problems, missing, changed)


def _plain(held: dict[str, Any], marks: set[str], found: Mapping[str, Found]) -> None:
    if "start_time" in found and "input_timezone" not in found:
        held.pop("input_timezone", None)
    for slot in _PLAIN:
        if slot not in found or (slot == "window" and _fits_window(held, found)):
            continue
        value = found[slot]
        if value.value is None:
            held.pop(slot, None)
        elif not (value.rule == "date.today" and "date" in held):
            held[slot] = value.value
            (marks.add if value.assumed else marks.discard)(slot)
    if "start_time" in found:
        held.pop("window", None)


def _fits_window(held: dict[str, Any], found: Mapping[str, Found]) -> bool:
    """下午 said after 15:00 changes nothing; said after 10:00 it opens the start again."""
    start = held.get("start_time")
    if start is None or "start_time" in found:
        return start is not None
    low, high = found["window"].value
    if low <= start <= high:
        return True
    del held["start_time"]
    return False


def _wishes(held: dict[str, Any], found: Mapping[str, Found]) -> None:
    features = list(held.get("features", ()))
    if "features" in found:
        features += [code for code in found["features"].value if code not in features]
    if "without" in found:
        features = [code for code in features if code not in found["without"].value]
    held.pop("features", None)
    if features:
        held["features"] = features


def _numbers(held: dict[str, Any], marks: set[str], found: Mapping[str, Found]) -> None:
    """Changes by an amount: 延长半小时, an hour later, two more people."""
    for change, slot in (("duration_change", "duration_minutes"), ("capacity_change", "capacity")):
        if change in found and slot in held and held[slot] + found[change].value > 0:
            held[slot] += found[change].value
            marks.discard(slot)
    if "start_change" in found and "start_time" in held:
        days, minutes = _days_and_minutes(found["start_change"].value)
        moved = _minutes(held["start_time"]) + minutes
        if days and "date" in held:
            held["date"] = (date.fromisoformat(held["date"]) + timedelta(days=days)).isoformat()
            marks.discard("date")
        if 0 <= moved < DAY:
            held["start_time"] = _clock(moved)
            marks.discard("start_time")


def _days_and_minutes(change: int) -> tuple[int, int]:
    """Whole days of a change by an amount, and the rest of it: both with its sign."""
    days = int(change / DAY)
    return days, change - days * DAY


def _end(held: dict[str, Any], marks: set[str], found: Mapping[str, Found]) -> None:
    """An end gives the duration once the start is known, or the start once the duration is."""
    if "end_time" in found:
        held["end_time"] = found["end_time"].value
        if "start_time" in held and "duration_minutes" not in found:
            held.pop("duration_minutes", None)
    if "end_time" not in held:
        return
    end, start, length = (
        _minutes(held["end_time"]),
        held.get("start_time"),
        held.get("duration_minutes"),
    )
    if start is not None:
        if length is None:
            held["duration_minutes"] = (end - _minutes(start)) % DAY or DAY
            marks.discard("duration_minutes")
        del held["end_time"]
    elif length is not None and end - length >= 0:
        held["start_time"] = _clock(end - length)
        held.pop("window", None)
        del held["end_time"]


def _problems(held: dict[str, Any], marks: set[str], problems: tuple[Problem, ...]) -> None:
    """What was said in place of a required value, but cannot be used, leaves that slot open."""
    for problem in problems:
        if problem.slot in REQUIRED and problem.code != "past_time":
            held.pop(problem.slot, None)
            marks.discard(problem.slot)


def _series(
    held: dict[str, Any], marks: set[str], found: Mapping[str, Found], now: datetime
) -> None:
    """The first day of a series follows its start when that comes later."""
    if "recurrence" not in held or "date" in found:
        return
    said = date.fromisoformat(held["date"]) if "date" in held else None
    first = first_day(held["recurrence"], said, held.get("start_time"), now)
    if first is not None and first.isoformat() != held.get("date"):
        held["date"] = first.isoformat()
        marks.add("date")


def _minutes(clock: str) -> int:
    return int(clock[:2]) * 60 + int(clock[3:])


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
