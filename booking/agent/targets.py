"""Which of the person's own bookings is meant. Pure."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any

from booking.agent import questions
from booking.agent.texts import rhythm_text, span_text, text
from booking.agent.tools import OwnUse, Rooms

Wish = Mapping[str, Any]

_NAMED = ("title", "room", "date", "start_time", "booking_ids", "series_ids")


def fitting(wish: Wish, uses: Sequence[OwnUse], *, last: Collection[int]) -> list[OwnUse]:
    """The bookings that the words allow; of a series, its next date.

    last: what this conversation just booked or changed, which is meant when no other is named.
    """
    ref = wish.get("ref") or {}
    chosen = wish.get("chosen")
    if chosen:
        return [use for use in uses if use.booking == chosen["booking"]]
    if is_named(wish):
        return named(wish, uses)
    if ref.get("upcoming"):
        return list(uses[:1])
    return [use for use in uses if use.booking in last] or list(uses)


def is_named(wish: Wish) -> bool:
    """Whether the words say which booking they are about."""
    ref = wish.get("ref") or {}
    return any(ref.get(key) for key in _NAMED)


def named(wish: Wish, uses: Sequence[OwnUse]) -> list[OwnUse]:
    """Those that the words name."""
    ref = wish.get("ref") or {}
    those = {*(ref.get("booking_ids") or ()), *(ref.get("series_ids") or ())}
    return [use for use in uses if use.booking in those]


def wanted_date(wish: Wish) -> date | None:
    """The date of a series that the words name."""
    chosen = (wish.get("chosen") or {}).get("occurrence")
    said = chosen or (wish.get("ref") or {}).get("date")
    return date.fromisoformat(said) if said else None


def on_date(dates: Sequence[OwnUse], day: date, *, is_from: bool) -> OwnUse | None:
    """The date of a series that is on a day by its rule or by the clock; or the first from it on."""
    for use in dates:
        if day in {use.recurrence_date, use.starts_at.date()}:
            return use
        if is_from and use.starts_at.date() > day:
            return use
    return None


def listed(uses: Sequence[OwnUse], language: str, *, with_rhythm: bool = False) -> str:
    """Uses of rooms, a line each; with_rhythm: of a series only the next is here, so say how often."""
    return "\n".join(_line(use, language, with_rhythm=with_rhythm) for use in uses)


def _line(use: OwnUse, language: str, *, with_rhythm: bool) -> str:
    title = f" · {use.title}" if use.title else ""
    if use.rule and with_rhythm:
        title += f" ({rhythm_text(use.rule, language)})"
    if use.status == "pending":
        title += text("mine.pending", language)
    when = span_text(use.starts_at, use.ends_at, language)
    return text("mine.line", language, when=when, room=use.room, title=title)


def which(uses: Sequence[OwnUse], rooms: Rooms, kind: str, language: str) -> questions.Question:
    """Ask which of one's own bookings is meant, a card each."""
    cards = [_card(use, rooms, language) for use in uses[:MOST_CARDS]]
    return questions.select_room(ask=text(f"which.{kind}", language), cards=cards)


MOST_CARDS = 6


def _card(use: OwnUse, rooms: Rooms, language: str) -> dict[str, Any]:
    room = rooms.get(use.room)
    names = {"en": room.name_en, "zh": room.name_zh} if room else {}
    rhythm = text("series.next", language) if use.is_series else ""
    return {
        "room": use.room,
        "name": use.title or names.get(language, ""),
        "names": [name for name in (use.title, *names.values()) if name],
        "building": room.building if room else "",
        "floor": room.floor if room else None,
        "seats": None,
        "features": [],
        "reason": rhythm or span_text(use.starts_at, use.ends_at, language),
        "needs_approval": False,
        "kind": "own_booking",
        "booking": use.booking,
        "starts_at": use.starts_at.isoformat(),
        "ends_at": use.ends_at.isoformat(),
    }
