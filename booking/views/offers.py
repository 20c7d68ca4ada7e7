"""What could be had instead, as links to the form: the nearest legal time, other times and rooms."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from booking.agent.texts import coded_text, day_text, duration_text
from booking.exceptions import BookingError, PolicyViolation, RoomUnavailable, SeriesClash
from booking.models import Feature, Room
from booking.selectors import Alternative, RoomRequest, search
from booking.views import split
from booking.views.strip import clock

Address = Callable[[str, datetime, datetime, ZoneInfo], str]


@dataclass(frozen=True, kw_only=True)
class Offer:
    room: str
    when: str
    why: str
    url: str


def after(
    error: BookingError,
    given: dict[str, Any],
    *,
    user: User,
    now: datetime,
    address: Address,
    ignore: int | None = None,
) -> list[Offer]:
    """What to offer when a room could not be had: `given` is the form's cleaned data."""
    room: Room = given["room"]
    zone = room.floor.building.site.zone
    if isinstance(error, PolicyViolation) and error.refusal.nearest:
        first, last = error.refusal.nearest
        return [
            Offer(
                room=room.code,
                when=when(first, last, zone),
                why=_("The nearest possible time"),
                url=address(room.code, first, last, zone),
            )
        ]
    is_small = isinstance(error, PolicyViolation) and error.refusal.rule == "capacity"
    if not is_small and not isinstance(error, RoomUnavailable):
        return []
    wish = RoomRequest(
        starts_at=given["starts_at"],
        ends_at=given["ends_at"],
        headcount=given["headcount"],
        room=room.code,
        ignore_booking=ignore,
    )
    found = search(wish, user=user, now=now).alternatives
    zones = {
        each.code: each.floor.building.site.zone
        for each in Room.objects.filter(code__in=[each.room for each in found]).select_related(
            "floor__building__site"
        )
    }
    title = given["title"] if ignore is None else None
    return [
        _offer(each, zones[each.room], address)
        if each.kind != "split"
        else _split(each, zones[each.room], title)
        for each in found
        if each.kind != "split" or title is not None
    ]


def clashes(error: BookingError) -> list[str]:
    """The dates on which a series cannot be had, each with what is in the way."""
    if not isinstance(error, SeriesClash):
        return []
    days = ((date.fromisoformat(each["date"]), each["text"]) for each in error.dates)
    return [f"{day_text(day, language())}: {text or _('taken')}" for day, text in days]


def when(starts_at: datetime, ends_at: datetime, zone: ZoneInfo) -> str:
    """Tue 1 Dec 15:00–16:00 / 12月1日 周二 15:00–16:00."""
    day = day_text(starts_at.astimezone(zone).date(), language())
    return f"{day} {clock(starts_at, zone)}–{clock(ends_at, zone)}"


def language() -> str:
    return "zh" if (get_language() or "").startswith("zh") else "en"


def _offer(found: Alternative, zone: ZoneInfo, address: Address) -> Offer:
    return Offer(
        room=found.room,
        when=when(found.starts_at, found.ends_at, zone),
        why=", ".join(_reason(code) for code in found.detail.split("+")),
        url=address(found.room, found.starts_at, found.ends_at, zone),
    )


def _split(found: Alternative, zone: ZoneInfo, title: str | None) -> Offer:
    """Several rooms, each with its people, on a page of their own."""
    people = [f"{part.room} ({part.headcount})" for part in found.parts]
    first, last = (each.astimezone(zone) for each in (found.starts_at, found.ends_at))
    return Offer(
        room=" + ".join(people),
        when=when(first, last, zone),
        why=", ".join(_reason(code) for code in found.detail.split("+")),
        url=split.address(found.parts, first, last, title or ""),
    )


def _reason(code: str) -> str:
    name, _colon, argument = code.partition(":")
    if name in {"earlier", "later"}:
        return coded_text(
            "detail", f"{name}:{duration_text(int(argument), language())}", language()
        )
    if name == "feature":
        argument = str(Feature.objects.get(code=argument))
        return coded_text("detail", f"{name}:{argument}", language())
    return coded_text("detail", code, language())
