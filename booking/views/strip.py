"""How the strip of a room's day is written on a page."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from booking.availability import RoomDay
from booking.intervals import Interval, busy_until
from booking.strips import UNIT, Slot, hours

SOON = UNIT
"""A free time that begins within it counts as now."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A slot in words. `kind`: free, taken, mine, pending, shut (a blackout) or off."""

    kind: str
    units: int
    span: str
    words: str = ""
    url: str = ""
    is_wanted: bool = False


@dataclass(frozen=True, kw_only=True)
class Row:
    """A room's day, ready for the template."""

    room: RoomDay
    name: str
    pieces: list[Piece]
    line: str
    is_free_now: bool


def clock(instant: datetime, zone: ZoneInfo) -> str:
    return f"{instant.astimezone(zone):%H:%M}"


def span(during: Interval, zone: ZoneInfo) -> str:
    return f"{clock(during.starts_at, zone)}–{clock(during.ends_at, zone)}"


def book_url(room: str, starts_at: datetime, zone: ZoneInfo, *, minutes: int | None = None) -> str:
    """The form for a room, filled with a start and perhaps a length."""
    return _filled(reverse("book"), room, starts_at, zone, minutes)


def _filled(
    form: str, room: str, starts_at: datetime, zone: ZoneInfo, minutes: int | None = None
) -> str:
    query = {"room": room, "start": f"{starts_at.astimezone(zone):%Y-%m-%dT%H:%M}"}
    if minutes:
        query["minutes"] = str(minutes)
    return f"{form}?{urlencode(query, safe=':')}"


def marks(within: Interval, zone: ZoneInfo) -> list[str]:
    """The hours at the head of the strips."""
    return [f"{each.astimezone(zone):%H}" for each in hours(within)]


def row(
    room: RoomDay,
    within: Interval,
    *,
    zone: ZoneInfo,
    now: datetime,
    wanted: Interval | None = None,
) -> Row:
    free, form = room.free, reverse("book")
    return Row(
        room=room,
        name=room.facts.name_zh if (get_language() or "").startswith("zh") else room.facts.name_en,
        pieces=[_piece(each, room, zone, wanted, form) for each in room.slots(within)],
        line=_line(room, free, zone, now),
        is_free_now=bool(free) and free[0].starts_at <= now + SOON,
    )


def _piece(slot: Slot, room: RoomDay, zone: ZoneInfo, wanted: Interval | None, form: str) -> Piece:
    use = slot.use
    if slot.kind == "off":
        return Piece(kind="off", units=slot.units, span="")
    if use is None:
        fits = wanted is not None and slot.during.covers(wanted)
        chosen = wanted if wanted and fits else slot.during
        minutes = int(chosen.duration.total_seconds() // 60) if fits else None
        return Piece(
            kind="free",
            is_wanted=fits,
            units=slot.units,
            span=span(slot.during, zone),
            url=_filled(form, room.facts.code, chosen.starts_at, zone, minutes),
        )
    if use.is_blackout:
        return Piece(
            kind="shut", units=slot.units, span=span(use.during, zone), words=use.title or ""
        )
    kind = "mine" if use.is_mine else "taken"
    return Piece(
        kind="pending" if use.status in {"pending", "held"} else kind,
        units=slot.units,
        span=span(use.during, zone),
        words=_words(use.title, use.organizer),
        url=reverse("booking", args=[use.booking]) if use.booking else "",
    )


def _words(title: str | None, organizer: str | None) -> str:
    if organizer is None:
        return _("Busy")
    return ", ".join(part for part in (title, organizer) if part)


def _line(room: RoomDay, free: Iterable[Interval], zone: ZoneInfo, now: datetime) -> str:
    """One sentence about the room's day, so that colour is not all there is."""
    coming = [each for each in free if each.ends_at > now]
    until = busy_until(now, (each.during for each in room.uses if not each.is_blackout))
    if until is not None:
        return _("In use until %(time)s") % {"time": clock(until, zone)}
    if not room.opened:
        return _("Closed")
    if not coming:
        return _("Nothing free")
    first = coming[0]
    if first.starts_at <= now + SOON:
        return _("Free now, until %(time)s") % {"time": clock(first.ends_at, zone)}
    if tuple(coming) == room.allowed:
        return _("Free all day")
    return _("Free from %(time)s") % {"time": clock(first.starts_at, zone)}
