"""The day ahead: what a person has next, what follows, and what is free nearby right now."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from booking import availability
from booking.forms.rooms import local_today
from booking.models import Building, Occurrence
from booking.selectors import occurrences_of
from booking.views import due, strip
from booking.views.person import PersonRequest
from booking.views.rooms import home_building

COMING_SHOWN = 6
FREE_SHOWN = 3
USEFUL = timedelta(minutes=30)
"""A shorter gap is nothing to sit down for."""


@dataclass(frozen=True, kw_only=True)
class FreeRoom:
    """A room that is free now."""

    code: str
    name: str
    seats: int
    line: str
    url: str


@login_required
@never_cache
@require_safe
def today(request: PersonRequest) -> HttpResponse:
    now = timezone.now()
    coming = list(occurrences_of(request.user, starts_at=now)[:COMING_SHOWN])
    first = _foremost(coming, now)
    building = home_building(request)
    context = {
        "section": "today",
        "name": request.user.get_full_name() or request.user.get_username(),
        "now": now,
        "first": first,
        "minutes": _minutes_until(first, now) if first else None,
        "is_due": first is not None and due.is_due(first, now),
        "coming": [each for each in coming if each is not first],
        "building": building,
        "free": _free_now(request, building, now) if building else (),
    }
    return render(request, "booking/today.html", context)


def _foremost(coming: list[Occurrence], now: datetime) -> Occurrence | None:
    """The one that waits for its person to be there; else the next."""
    waiting = (each for each in coming if due.is_due(each, now))
    return next(waiting, coming[0] if coming else None)


def _minutes_until(occurrence: Occurrence, now: datetime) -> int | None:
    """Minutes to the start if that is within the hour; 0 while it runs; None if it is later."""
    minutes = -((now - occurrence.starts_at) // timedelta(minutes=1))
    return max(minutes, 0) if minutes <= 60 else None


def _free_now(request: PersonRequest, building: Building, now: datetime) -> list[FreeRoom]:
    """The smallest rooms of the building that somebody could book and walk into."""
    zone = building.site.zone
    rooms = availability.of_building(
        building, day=local_today(building, now), viewer=request.user, now=now
    )
    return [
        each
        for room in sorted(rooms, key=lambda room: room.facts.seats)
        if not room.facts.needs_approval
        for each in _walk_in(room, zone, now)
    ][:FREE_SHOWN]


def _walk_in(room: availability.RoomDay, zone: ZoneInfo, now: datetime) -> Iterable[FreeRoom]:
    first = room.free[0] if room.free else None
    if first is None or first.starts_at > now + strip.SOON or first.duration < USEFUL:
        return
    row = strip.row(room, availability.window([room], room.day, zone), zone=zone, now=now)
    yield FreeRoom(
        code=room.facts.code,
        name=row.name,
        seats=room.facts.seats,
        line=row.line,
        url=strip.book_url(room.facts.code, first.starts_at, zone),
    )
