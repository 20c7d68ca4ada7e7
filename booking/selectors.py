"""What may be read about rooms and bookings, for every door. Synchronous reads; no writes.

The value types of the pure core are re-exported here: other layers import them from this module.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from booking import diary, policies, ranking
from booking.alternatives import SHIFT, alternatives
from booking.diary import Entry
from booking.exceptions import RoomNotFound
from booking.intervals import Interval, busy_until
from booking.models import (
    ACTIVE_STATUSES,
    Booking,
    Feature,
    Occurrence,
    OpeningHours,
    Profile,
    Room,
    Site,
)
from booking.policies import Refusal, Rules
from booking.ranking import Alternative, Candidate, RoomRequest

__all__ = [
    "Alternative",
    "Candidate",
    "FeatureEntry",
    "Refusal",
    "RoomEntry",
    "RoomNow",
    "RoomRequest",
    "SearchResult",
    "booking_of",
    "bookings_of",
    "feature_lexicon",
    "free_starts",
    "home_zone",
    "occurrences_of",
    "room_lexicon",
    "room_now",
    "search",
    "usual_hours",
]


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """Rooms on offer, and what else could be had when none of them can be booked at once.

    A refusal says why the request as such cannot be met. `candidates` is then empty; `alternatives`
    may hold other rooms when it is the named room that does not fit.
    """

    candidates: tuple[Candidate, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    refusal: Refusal | None = None


@dataclass(frozen=True, kw_only=True)
class RoomEntry:
    """The ways people may name a room."""

    code: str
    name_en: str
    name_zh: str
    aliases: tuple[str, ...]
    building: str
    floor: int


@dataclass(frozen=True, kw_only=True)
class FeatureEntry:
    code: str
    name_en: str
    name_zh: str


@dataclass(frozen=True, kw_only=True)
class RoomNow:
    """Whether a room is in use, until when (free: until the next use), and by whom if visible.

    `until` is None for a free room without another use that day.
    """

    room: str
    is_busy: bool
    until: datetime | None
    title: str | None = None
    organizer: str | None = None


def search(request: RoomRequest, *, user: AbstractBaseUser, now: datetime) -> SearchResult:
    """Rooms for a request by the ranking of interpretation.md, and alternatives (four queries).

    Refusals: capacity, unknown_room, unknown_building, missing_features (a named room's) and the
    rules of `policies.check`.
    """
    everything = diary.entries(user=user, now=now)
    refusal = _refused_as_such(everything, request)
    if refusal is not None:
        return SearchResult(refusal=refusal)
    seating = [each for each in everything if each.facts.seats >= request.headcount]
    legal, refusal = _legal(seating, request, now=now)
    if refusal is not None:
        return SearchResult(refusal=refusal)
    during = Interval(request.starts_at, request.ends_at)
    widest = max(each.rules.buffer_before + each.rules.buffer_after for each in legal)
    reach = SHIFT + during.duration + widest
    around = during.padded(reach, reach)
    prospects = diary.prospects(legal, around=around, ignore_booking=request.ignore_booking)
    offered = ranking.candidates((each.room for each in prospects if each.is_free(during)), request)
    others: tuple[Alternative, ...] = ()
    if all(each.needs_approval for each in offered):
        shown = [each.room for each in offered]
        others = alternatives(prospects, request, shown=shown, now=now)
    misfit = None if offered else _misfit(everything, request)
    return SearchResult(candidates=offered, alternatives=others, refusal=misfit)


def free_starts(
    *,
    user: AbstractBaseUser,
    date: date,
    window: tuple[time, time],
    minutes: int,
    headcount: int,
    building: str | None = None,
    floor: int | None = None,
    features: tuple[str, ...] = (),
    room: str | None = None,
    now: datetime,
) -> list[datetime]:
    """The starts of a local day, from `window[0]` on and ending by `window[1]`, that a room has.

    A window that ends at 00:00 ends with the day. Sorted, in UTC; four queries.
    """
    duration = timedelta(minutes=minutes)
    wished = [
        each
        for each in diary.entries(user=user, now=now)
        if ranking.is_wished(
            each.facts,
            RoomRequest(
                starts_at=now,
                ends_at=now,
                headcount=headcount,
                building=building,
                floor=floor,
                features=features,
                room=room,
            ),
        )
    ]
    starts: dict[Rules, list[datetime]] = {}
    for each in wished:
        if each.rules not in starts:
            starts[each.rules] = _starts_within(each.rules, date, window, duration, now)
    if not any(starts.values()):
        return []
    first, last = (pick(pick(each) for each in starts.values() if each) for pick in (min, max))
    day = timedelta(days=1)
    prospects = diary.prospects(wished, around=Interval(first - day, last + duration + day))
    found = {
        start
        for each in prospects
        for start in starts[each.rules]
        if each.is_free(Interval(start, start + duration))
    }
    return sorted(found)


def bookings_of(
    user: AbstractBaseUser,
    *,
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    only_active: bool = True,
) -> QuerySet[Booking]:
    """A person's bookings with an occurrence in `[starts_at, ends_at)`, by their first start in it.

    Each booking's `occurrences.all()`, and with it `.occurrence`, `.room`, `.starts_at`, `.status`,
    hold only the occurrences asked for. An open side is None.
    """
    condition = Q(occurrences__during__overlap=(starts_at, ends_at))
    chosen = Occurrence.objects.within(starts_at, ends_at)
    if only_active:
        condition &= Q(occurrences__status__in=ACTIVE_STATUSES)
        chosen = chosen.active()
    has_some = Exists(chosen.filter(booking=OuterRef("pk")))
    mine = Booking.objects.of(user).filter(has_some).with_occurrences(chosen)
    return mine.in_order(condition)


def occurrences_of(
    user: AbstractBaseUser,
    *,
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    only_active: bool = True,
) -> QuerySet[Occurrence]:
    """A person's uses of rooms in `[starts_at, ends_at)` by start, each with booking and room."""
    mine = (
        Occurrence.objects.filter(booking__organizer_id=user.pk)
        .within(starts_at, ends_at)
        .with_room()
        .select_related("booking__organizer")
        .order_by("during", "pk")
    )
    return mine.active() if only_active else mine


def booking_of(user: AbstractBaseUser, booking_id: int) -> Booking | None:
    """One booking of this person with all its occurrences; absent and another's look the same."""
    return Booking.objects.of(user).with_occurrences().filter(pk=booking_id).first()


def room_lexicon() -> tuple[RoomEntry, ...]:
    """How the active rooms may be named (one query)."""
    found = Room.objects.filter(is_active=True).select_related("floor__building").order_by("code")
    return tuple(
        RoomEntry(
            code=room.code,
            name_en=room.name_en,
            name_zh=room.name_zh,
            aliases=tuple(room.aliases),
            building=room.floor.building.code,
            floor=room.floor.number,
        )
        for room in found
    )


def feature_lexicon() -> tuple[FeatureEntry, ...]:
    """The features rooms may have, by code (one query)."""
    return tuple(
        FeatureEntry(code=each.code, name_en=each.name_en, name_zh=each.name_zh)
        for each in Feature.objects.order_by("code")
    )


def usual_hours(user: AbstractBaseUser) -> tuple[time, time] | None:
    """The earliest opening and latest closing of any weekday at the person's site (one query).

    A close of 00:00 is the coming midnight. None when no room has opening hours.
    """
    at_home = Room.objects.filter(
        is_active=True,
        policy=OuterRef("policy"),
        floor__building__site__buildings__in=_home_buildings(user),
    )
    hours = list(
        OpeningHours.objects.filter(policy__rooms__is_active=True)
        .annotate(is_home=Exists(at_home))
        .values_list("opens", "closes", "is_home")
    )
    spans = [span for *span, is_home in hours if is_home] or [span for *span, _ in hours]
    if not spans:
        return None
    # The midnight that ends the day sorts before every other close, but is the latest.
    closes = max((closes for _, closes in spans), key=lambda close: (close == time(0), close))
    return min(opens for opens, _ in spans), closes


def home_zone(user: AbstractBaseUser) -> ZoneInfo | None:
    """The zone of the person's home site, else of the first site; None without any (one query)."""
    at_home = Q(buildings__in=_home_buildings(user))
    sites = Site.objects.annotate(home=Max("pk", filter=at_home)).order_by("-home", "pk")
    site = sites.first()
    return None if site is None else site.zone


def room_now(code: str, *, viewer: AbstractBaseUser | AnonymousUser, now: datetime) -> RoomNow:
    """Whether a room is in use now. Title and organizer only if the viewer may see the booking.

    Raises RoomNotFound.
    """
    room = Room.objects.select_related("floor__building__site").filter(code=code).first()
    if room is None:
        raise RoomNotFound(room=code)
    local = now.astimezone(room.floor.building.site.zone)
    midnight = datetime.combine(local.date() + timedelta(days=1), time(0), local.tzinfo)
    uses = list(
        Occurrence.objects.active()
        .filter(room=room)
        .within(now, midnight)
        .select_related("booking__organizer")
        .order_by("during")
    )
    if not uses or uses[0].starts_at > now:
        return RoomNow(room=code, is_busy=False, until=uses[0].starts_at if uses else None)
    until = busy_until(now, (Interval(each.starts_at, each.ends_at) for each in uses))
    booking = uses[0].booking
    if not booking.is_visible_to(viewer):
        return RoomNow(room=code, is_busy=True, until=until)
    organizer = booking.organizer.get_full_name() or booking.organizer.get_username()
    return RoomNow(room=code, is_busy=True, until=until, title=booking.title, organizer=organizer)


def _home_buildings(user: AbstractBaseUser) -> QuerySet[Profile, Any]:
    return Profile.objects.filter(user=user.pk, building__isnull=False).values("building")


def _refused_as_such(everything: Sequence[Entry], request: RoomRequest) -> Refusal | None:
    """What no time could cure: too many people for every room, a place that does not exist."""
    rooms = [each.facts for each in everything]
    if request.room is not None and all(room.code != request.room for room in rooms):
        return Refusal("unknown_room", {"room": request.room})
    if request.building is not None and all(room.building != request.building for room in rooms):
        return Refusal("unknown_building", {"building": request.building})
    largest = max(rooms, key=lambda room: room.seats, default=None)
    if largest is None:
        return Refusal("no_rooms")
    if largest.seats < request.headcount:
        return _too_many(request, largest.code, largest.seats)
    return None


def _legal(
    seating: Sequence[Entry], request: RoomRequest, *, now: datetime
) -> tuple[list[Entry], Refusal | None]:
    """The rooms whose rules allow the time; a refusal if no room that is wished is among them."""
    answers: dict[Rules, Refusal | None] = {}
    for each in seating:
        if each.rules not in answers:
            answers[each.rules] = policies.check(
                each.rules, starts_at=request.starts_at, ends_at=request.ends_at, now=now
            )
    legal = [each for each in seating if answers[each.rules] is None]
    wished = [each for each in seating if ranking.is_wished(each.facts, request)] or seating
    if any(answers[each.rules] is None for each in wished):
        return legal, None
    best = min(wished, key=lambda each: ranking.sort_key(each.facts, request))
    return [], answers[best.rules]


def _misfit(everything: Iterable[Entry], request: RoomRequest) -> Refusal | None:
    """Why the named room itself does not suit, if that is so."""
    for each in everything:
        if each.facts.code != request.room:
            continue
        if each.facts.seats < request.headcount:
            return _too_many(request, each.facts.code, each.facts.seats)
        missing = ranking.missing_features(each.facts, request)
        if missing:
            return Refusal("missing_features", {"room": request.room, "features": missing})
    return None


def _too_many(request: RoomRequest, room: str, seats: int) -> Refusal:
    return Refusal("capacity", {"headcount": request.headcount, "room": room, "seats": seats})


def _starts_within(
    rules: Rules, day: date, window: tuple[time, time], duration: timedelta, now: datetime
) -> list[datetime]:
    last_day = day + timedelta(days=1) if window[1] == time(0) else day
    first = datetime.combine(day, window[0], rules.zone)
    last = datetime.combine(last_day, window[1], rules.zone)
    starts = policies.legal_starts(rules, day=day, duration=duration, now=now)
    return [start for start in starts if first <= start and start + duration <= last]
