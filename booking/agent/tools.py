"""What the agent may read, for the person whose thread it is. Synchronous; frozen values.

Who reads is a parameter that comes from the run's context, never from what anybody wrote.
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
from django.db.models import Q
from django.utils import timezone

from booking import selectors
from booking.agent.understand import (
    BuildingEntry,
    FeatureEntry,
    Lexicon,
    OpeningHours,
    OwnBooking,
    Person,
    RoomEntry,
)
from booking.models import Building, Status
from booking.selectors import RoomNow, RoomRequest, SearchResult

SOON = timedelta(days=30)
"""How far ahead the next booking is looked for when there is nothing to check in to."""

Rooms = Mapping[str, selectors.RoomEntry]

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
    rooms: Rooms
    features: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class OwnUse:
    """One use of a room by the person, as the agent speaks of it; instants in the room's zone.

    recurrence_date: which date of a series it is. rule: that series' rule.
    """

    booking: int
    version: int
    room: str
    title: str
    starts_at: datetime
    ends_at: datetime
    headcount: int
    status: str
    recurrence_date: date | None = None
    rule: str = ""

    @property
    def is_series(self) -> bool:
        return self.recurrence_date is not None


@dataclass(frozen=True, kw_only=True)
class Attendance:
    """Where a person could be: what they can check in to now, are checked in to (`here`), came too
    late for today (with when it was released), and have next (with when its check-in opens).
    """

    due: tuple[OwnUse, ...]
    here: tuple[OwnUse, ...]
    late: tuple[tuple[OwnUse, datetime], ...]
    ahead: tuple[tuple[OwnUse, datetime], ...]


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
        for use in own_bookings(owner_id, now=now)
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
    owner_id: int,
    *,
    now: datetime,
    days: tuple[date, date] | None = None,
    zone: ZoneInfo | None = None,
) -> list[OwnUse]:
    """The person's active uses of rooms not over by `now`, by start; of the local days if given."""
    starts_at, ends_at = now, None
    if days is not None and zone is not None:
        starts_at = datetime.combine(days[0], clock_time(0), zone)
        ends_at = datetime.combine(days[1] + timedelta(days=1), clock_time(0), zone)
    user = get_user_model()(pk=owner_id)
    found = selectors.occurrences_of(user, starts_at=starts_at, ends_at=ends_at, now=now)
    return [_own_use(each) for each in found[:OWN_BOOKINGS]]


def own_bookings(owner_id: int, *, now: datetime) -> list[OwnUse]:
    """The person's active bookings not over by `now`: of a series, its next date (one query)."""
    coming = selectors.occurrences_of(get_user_model()(pk=owner_id), starts_at=now, now=now)
    in_series = coming.filter(recurrence_date__isnull=False)
    following = in_series.order_by("booking_id", "during").distinct("booking_id")
    single = Q(recurrence_date__isnull=True)
    found = coming.filter(single | Q(pk__in=following.values("pk")))
    return [_own_use(each) for each in found[:OWN_BOOKINGS]]


def dates_of(owner_id: int, booking: int, *, now: datetime) -> list[OwnUse]:
    """Every date of one's own series that is not over by `now`, by start."""
    coming = selectors.occurrences_of(get_user_model()(pk=owner_id), starts_at=now, now=now)
    return [_own_use(each) for each in coming.filter(booking=booking)]


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
        status=str(occurrence.status),
        recurrence_date=occurrence.recurrence_date,
        rule=booking.recurrence,
    )


def attendance(owner_id: int, *, now: datetime) -> Attendance:
    """What the person's words "I am here" can mean now (two queries)."""
    user = person(owner_id)
    due = selectors.due_check_ins(user, now=now)
    around = selectors.occurrences_of(
        user, starts_at=now, ends_at=now + SOON, only_active=False, now=now
    )
    here, late, ahead = [], [], []
    for each in around:
        window, status = selectors.check_in_window(each), each.status_at(now)
        if status == Status.CHECKED_IN:
            here.append(_own_use(each))
        elif status == Status.RELEASED and each.starts_at <= now:
            late.append((_own_use(each), window.ends_at))
        elif each.blocks(now) and each not in due:
            ahead.append((_own_use(each), window.starts_at))
    return Attendance(
        due=tuple(_own_use(each) for each in due),
        here=tuple(here),
        late=tuple(late),
        ahead=tuple(ahead),
    )


def search(owner_id: int, request: RoomRequest, *, now: datetime) -> SearchResult:
    """Rooms for a request, ranked for this person."""
    return selectors.search(request, user=person(owner_id), now=now)


def search_series(
    owner_id: int, request: RoomRequest, *, rule: str, now: datetime
) -> selectors.SeriesSearch:
    """Rooms for a series, ranked for this person. Raises InvalidBooking (recurrence)."""
    return selectors.search_series(request, rule=rule, user=person(owner_id), now=now)


def last_bookable_day(owner_id: int, *, now: datetime) -> date | None:
    """How far ahead the person may book."""
    return selectors.last_bookable_day(person(owner_id), now=now)


def free_starts(owner_id: int, **wish: Any) -> list[datetime]:
    """Starts of a local day in a window at which some fitting room is free."""
    return selectors.free_starts(user=person(owner_id), **wish)


def day_grid(owner_id: int, *, day: date, now: datetime, **wish: Any) -> list[selectors.RoomDay]:
    """Rooms on a local day with what is in them, as this person may see it."""
    return selectors.day_grid(viewer=person(owner_id), day=day, now=now, **wish)


def room_now(owner_id: int, code: str, *, now: datetime) -> RoomNow:
    """Whether a room is in use, as far as this person may know."""
    return selectors.room_now(code, viewer=person(owner_id), now=now)


def preview_change(
    owner_id: int, booking: int, *, now: datetime, **wish: Any
) -> selectors.SeriesPlan:
    """What a change of one's own series would do. Raises as the selector does."""
    return selectors.preview_change(booking, by=person(owner_id), now=now, **wish)
