"""What the agent may read and do, for the person whose thread it is. Synchronous.

Who acts is a parameter that comes from the run's context, never from what anybody wrote. Reads
return frozen values; the writes are the services every other door uses, inside an effect.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from datetime import time as clock_time
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from agentruntime.models import Effect
from booking import selectors, services
from booking.agent.understand import (
    BuildingEntry,
    FeatureEntry,
    Lexicon,
    OpeningHours,
    OwnBooking,
    Person,
    RoomEntry,
)
from booking.models import Booking, Building, Source
from booking.selectors import RoomNow, RoomRequest, SearchResult

LEXICON_SECONDS = 30.0
OWN_BOOKINGS = 50


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What understanding a person takes: the names of the house, its hours and its zone.

    rooms: by code, for cards; features: each feature's names by code.
    """

    lexicon: Lexicon
    hours: OpeningHours
    zone: ZoneInfo
    rooms: Mapping[str, selectors.RoomEntry]
    features: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class OwnUse:
    """One of the person's own bookings, as the agent speaks of it; instants in the room's zone."""

    booking: int
    version: int
    room: str
    title: str
    starts_at: datetime
    ends_at: datetime
    headcount: int
    is_series: bool


_cache: dict[int, tuple[float, Knowledge]] = {}


def person(owner_id: int) -> AbstractBaseUser:
    """The person behind a thread. Raises DoesNotExist."""
    return get_user_model()._default_manager.get(pk=owner_id)


def knowledge(owner_id: int, *, now: datetime) -> Knowledge:
    """What a person's words may name. The house is read anew every half minute, their own bookings
    each time.
    """
    kept = _cache.get(owner_id)
    if kept is None or time.monotonic() - kept[0] > LEXICON_SECONDS:
        kept = (time.monotonic(), _house(owner_id))
        _cache[owner_id] = kept
    house = kept[1]
    own = tuple(
        OwnBooking(
            id=None if use.is_series else use.booking,
            title=use.title,
            room=use.room,
            starts_at=use.starts_at,
            series=use.booking if use.is_series else None,
        )
        for use in own_uses(owner_id, now=now)
    )
    lexicon = Lexicon(
        rooms=house.lexicon.rooms,
        buildings=house.lexicon.buildings,
        features=house.lexicon.features,
        people=house.lexicon.people,
        own=own,
        me=house.lexicon.me,
    )
    return Knowledge(
        lexicon=lexicon,
        hours=house.hours,
        zone=house.zone,
        rooms=house.rooms,
        features=house.features,
    )


def remembered() -> Knowledge:
    """The house as somebody's words were last read in it; empty before the first. Reads nothing."""
    for _, known in _cache.values():
        return known
    zone = ZoneInfo(timezone.get_default_timezone_name())
    return Knowledge(lexicon=Lexicon(), hours=OpeningHours(), zone=zone, rooms={}, features={})


def forget_house() -> None:
    """Read the house anew at the next message (tests change it)."""
    _cache.clear()


def _house(owner_id: int) -> Knowledge:
    user = person(owner_id)
    rooms, features = selectors.room_lexicon(user), selectors.feature_lexicon()
    hours = selectors.usual_hours(user)
    zone = selectors.home_zone(user) or timezone.get_default_timezone()
    buildings = Building.objects.values_list("code", "name_en", "name_zh")
    people = get_user_model()._default_manager.filter(is_active=True)
    return Knowledge(
        lexicon=Lexicon(
            rooms=tuple(
                RoomEntry(
                    code=room.code,
                    names=tuple(n for n in (room.name_en, room.name_zh, *room.aliases) if n),
                    building=room.building,
                    floor=room.floor,
                )
                for room in rooms
            ),
            buildings=tuple(
                BuildingEntry(code=code, names=tuple(n for n in names if n))
                for code, *names in buildings
            ),
            features=tuple(
                FeatureEntry(code=each.code, names=(each.name_en, each.name_zh))
                for each in features
            ),
            people=tuple(
                Person(id=str(each.pk), names=tuple(n for n in _names(each) if n))
                for each in people
                if each.pk != owner_id
            ),
            me=str(owner_id),
        ),
        hours=OpeningHours(*hours) if hours else OpeningHours(),
        zone=ZoneInfo(str(zone)),
        rooms={room.code: room for room in rooms},
        features={each.code: {"en": each.name_en, "zh": each.name_zh} for each in features},
    )


def _names(user: Any) -> tuple[str, ...]:
    """The ways to write a person's name, family name first and last."""
    first, last = user.first_name, user.last_name
    return (f"{last}{first}", f"{first} {last}".strip(), f"{last} {first}".strip())


def own_uses(
    owner_id: int, *, now: datetime, day: date | None = None, zone: ZoneInfo | None = None
) -> list[OwnUse]:
    """The person's active bookings not over by `now`, by start; all of one local day if given."""
    starts_at, ends_at = now, None
    if day is not None and zone is not None:
        starts_at = datetime.combine(day, clock_time(0), zone)
        ends_at = starts_at + timedelta(days=1)
    user = get_user_model()(pk=owner_id)
    found = selectors.occurrences_of(user, starts_at=starts_at, ends_at=ends_at)[:OWN_BOOKINGS]
    return [_own_use(each) for each in found]


def _own_use(occurrence: Any) -> OwnUse:
    zone = occurrence.room.floor.building.site.zone
    booking = occurrence.booking
    return OwnUse(
        booking=booking.pk,
        version=booking.version,
        room=occurrence.room.code,
        title=booking.title,
        starts_at=occurrence.starts_at.astimezone(zone),
        ends_at=occurrence.ends_at.astimezone(zone),
        headcount=booking.headcount,
        is_series=occurrence.recurrence_date is not None,
    )


def search(owner_id: int, request: RoomRequest, *, now: datetime) -> SearchResult:
    """Rooms for a request, ranked for this person."""
    return selectors.search(request, user=person(owner_id), now=now)


def free_starts(owner_id: int, **wish: Any) -> list[datetime]:
    """Starts of a local day in a window at which some fitting room is free."""
    return selectors.free_starts(user=person(owner_id), **wish)


def room_now(owner_id: int, code: str, *, now: datetime) -> RoomNow:
    """Whether a room is in use, as far as this person may know."""
    return selectors.room_now(code, viewer=person(owner_id), now=now)


def book(
    effect: Effect, *, owner_id: int, offer: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    """Book exactly what was confirmed, in the effect's transaction.

    Raises what `services.book_room` raises; then nothing was written.
    """
    booking = services.book_room(
        organizer=person(owner_id),
        room=offer["room"],
        starts_at=datetime.fromisoformat(offer["starts_at"]),
        ends_at=datetime.fromisoformat(offer["ends_at"]),
        headcount=offer["headcount"],
        title=offer["title"],
        source=Source.CHAT,
        idempotency_key=offer["intent"],
        effect=effect,
        now=now,
    )
    return _outcome(booking)


def change(
    effect: Effect, *, owner_id: int, target: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    """Cancel or move exactly the booking that was confirmed, at the version it was shown in."""
    who = person(owner_id)
    if target["kind"] == "cancel_booking":
        booking = services.cancel_booking(
            target["booking"], by=who, now=now, version=target["version"], source=Source.CHAT
        )
    else:
        booking = _changed(who, target, now=now)
    return _outcome(booking)


def _changed(who: AbstractBaseUser, target: Mapping[str, Any], *, now: datetime) -> Booking:
    """Move and amend a booking; fewer people first, so that they fit into a smaller room."""
    headcount = target["headcount"]
    before = target.get("headcount_before", headcount)
    version = target["version"]
    if headcount < before:
        amended = services.amend_booking(
            target["booking"], by=who, headcount=headcount, version=version, source=Source.CHAT
        )
        version = amended.version
    booking = services.reschedule_booking(
        target["booking"],
        by=who,
        starts_at=datetime.fromisoformat(target["starts_at"]),
        ends_at=datetime.fromisoformat(target["ends_at"]),
        room=target["room"],
        now=now,
        version=version,
        source=Source.CHAT,
    )
    if headcount > before:
        booking = services.amend_booking(
            target["booking"],
            by=who,
            headcount=headcount,
            version=booking.version,
            source=Source.CHAT,
        )
    return booking


def _outcome(booking: Booking) -> dict[str, Any]:
    zone = booking.room.floor.building.site.zone
    return {
        "booking_id": booking.pk,
        "room_id": booking.room.code,
        "status": str(booking.status),
        "start": booking.starts_at.astimezone(zone).isoformat(),
        "end": booking.ends_at.astimezone(zone).isoformat(),
    }
