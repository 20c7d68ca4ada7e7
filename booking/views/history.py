"""What happened to a booking, in words: who, through which door, what was and what became of it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from booking.models import BookingChange, Status, Visibility
from booking.views import offers

Picture = Mapping[str, Any]
DATES_SHOWN = 6
"""A series that is changed as a whole has a line a date; more than these are counted."""


@dataclass(frozen=True, kw_only=True)
class Event:
    at: datetime
    by: str
    door: str
    action: str
    reason: str
    lines: list[str] = field(default_factory=list)
    more: int = 0


def events(changes: Iterable[BookingChange], zone: ZoneInfo) -> list[Event]:
    """Newest first."""
    return [_event(each, zone) for each in changes][::-1]


def _event(change: BookingChange, zone: ZoneInfo) -> Event:
    lines = _lines(change.before, change.after, zone)
    by = change.by
    return Event(
        at=change.at,
        by=_("Roomwise") if by is None else by.get_full_name() or by.get_username(),
        door=change.get_source_display(),
        action=change.get_action_display(),
        reason=change.reason,
        lines=lines[:DATES_SHOWN],
        more=max(len(lines) - DATES_SHOWN, 0),
    )


def _lines(before: Any, after: Any, zone: ZoneInfo) -> list[str]:
    if isinstance(after, dict):
        return _details(before, after)
    earlier = before if isinstance(before, list) else []
    if len(earlier) == len(after):
        return [_moved(was, now, zone) for was, now in zip(earlier, after, strict=True)]
    return [_occurrence(each, zone) for each in after or earlier]


def _details(before: Picture, after: Picture) -> list[str]:
    names: dict[str, tuple[str, Callable[[Any], str]]] = {
        "title": (_("Title"), str),
        "visibility": (_("Visibility"), lambda value: str(Visibility(value).label)),
        "headcount": (_("People"), str),
    }
    return [
        f"{label}: {worded(before.get(name, '')) or '–'} → {worded(after.get(name, '')) or '–'}"
        for name, (label, worded) in names.items()
        if before.get(name) != after.get(name)
    ]


def _moved(was: Picture, now: Picture, zone: ZoneInfo) -> str:
    same_place = all(was[name] == now[name] for name in ("room", "starts_at", "ends_at"))
    if same_place:
        return _occurrence(now, zone)
    return f"{_place(was, zone)} → {_place(now, zone)}"


def _occurrence(picture: Picture, zone: ZoneInfo) -> str:
    return f"{_place(picture, zone)} · {Status(picture['status']).label}"


def _place(picture: Picture, zone: ZoneInfo) -> str:
    first, last = (datetime.fromisoformat(picture[name]) for name in ("starts_at", "ends_at"))
    return f"{picture['room']} {offers.when(first, last, zone)}"
