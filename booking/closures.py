"""Which rooms a place has, which bookings a blackout of it would hit, and where those could go.

Reads only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.db.models import QuerySet

from booking import diary, ranking
from booking.diary import Entry
from booking.intervals import Interval, is_free
from booking.models import Blackout, Building, Occurrence, Room, Site
from booking.models.agreements import OccurrenceQuerySet
from booking.policies import Access, Refusal
from booking.ranking import RoomRequest


@dataclass(frozen=True, kw_only=True)
class Hit:
    """An occurrence a blackout would hit, and the best room it could be moved to (its code)."""

    occurrence: Occurrence
    alternative: str | None


def rooms_of(place: Site | Building | Room) -> QuerySet[Room]:
    """The rooms of a site, a building, or the room itself, by code."""
    found = diary.rooms().order_by("code")
    if isinstance(place, Site):
        return found.filter(floor__building__site=place)
    if isinstance(place, Building):
        return found.filter(floor__building=place)
    return found.filter(pk=place.pk)


def hits_of(
    place: Site | Building | Room, during: Interval, *, now: datetime
) -> OccurrenceQuerySet:
    """What blocks one of the rooms in that time and is not over, by start."""
    return (
        Occurrence.objects.blocking(now)
        .filter(
            room__in=rooms_of(place).values("pk"),
            blocked__overlap=(during.starts_at, during.ends_at),
            ends_at__gt=now,
        )
        .with_room()
        .select_related("booking__organizer")
        .order_by("during", "pk")
    )


def blackouts_of(room: Room, around: Interval) -> list[Blackout]:
    """What shuts the room in that time, by start (one query)."""
    return list(
        Blackout.objects.in_force()
        .of_room(room)
        .filter(during__overlap=(around.starts_at, around.ends_at))
        .order_by("during")
    )


def interval_of(blackout: Blackout) -> Interval:
    return Interval(blackout.starts_at, blackout.ends_at)


def refusal_of(
    blackout: Blackout, zone: ZoneInfo, nearest: tuple[datetime, datetime] | None = None
) -> Refusal:
    """Why a shut room cannot be had: the reason, and until when in the room's local time."""
    until = blackout.ends_at.astimezone(zone)
    return Refusal(
        "blackout", {"reason": blackout.reason, "until": f"{until:%Y-%m-%d %H:%M}"}, nearest
    )


def alternatives_to(
    hits: Iterable[Occurrence], place: Site | Building | Room, *, now: datetime
) -> list[Hit]:
    """For each, in order, the best other room at its time that no earlier one was given.

    Two queries for each organizer and one for each occurrence.
    """
    entries: dict[int, list[Entry]] = {}
    closing = {room.code for room in rooms_of(place)}
    given: list[tuple[str, Interval]] = []
    found = []
    for each in hits:
        during = Interval(each.starts_at, each.ends_at)
        organizer = each.booking.organizer
        if organizer.pk not in entries:
            entries[organizer.pk] = diary.entries(user=organizer, now=now)
        fitting = [entry for entry in entries[organizer.pk] if _fits(entry, each, closing)]
        code = _best(each, during, fitting, given, now=now)
        if code is not None:
            given.append((code, during))
        found.append(Hit(occurrence=each, alternative=code))
    return found


def _best(
    hit: Occurrence,
    during: Interval,
    entries: list[Entry],
    given: list[tuple[str, Interval]],
    *,
    now: datetime,
) -> str | None:
    wish = RoomRequest(
        starts_at=during.starts_at,
        ends_at=during.ends_at,
        headcount=hit.booking.headcount,
    )
    around = during.padded(diary.WIDEST, diary.WIDEST)
    free = [
        each.room
        for each in diary.prospects(entries, around=around, now=now)
        if each.is_free(during)
        and is_free(during, [span for code, span in given if code == each.room.code])
    ]
    home = hit.room.floor.building.code
    near = sorted(free, key=lambda room: (room.building != home, ranking.sort_key(room, wish)))
    return near[0].code if near else None


def _fits(entry: Entry, hit: Occurrence, closing: set[str]) -> bool:
    return (
        entry.access >= Access.BOOK
        and entry.facts.seats >= hit.booking.headcount
        and entry.facts.code not in closing
        and not entry.facts.needs_approval
    )
