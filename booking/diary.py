"""Rooms as the pure core sees them: facts, rules and what blocks them, in four queries at most.

Reads only; selectors and services stand on it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractBaseUser
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, QuerySet

from booking.alternatives import Prospect
from booking.intervals import Interval
from booking.models import ClosedDate, Feature, Occurrence, OpeningHours, Policy, Profile, Room
from booking.policies import SEARCH_DAYS, Rules
from booking.ranking import RoomFacts


@dataclass(frozen=True, eq=False)
class Entry:
    """One bookable room of the diary."""

    pk: int
    facts: RoomFacts
    rules: Rules


def rooms() -> QuerySet[Room]:
    """Every room with what its facts and rules need."""
    features = Feature.objects.filter(room=OuterRef("pk")).order_by("code").values("code")
    return Room.objects.select_related("floor__building__site", "policy").annotate(
        feature_codes=ArraySubquery(features)
    )


def entries(*, user: AbstractBaseUser, now: datetime) -> list[Entry]:
    """All active rooms, by code (three queries)."""
    home = Profile.objects.filter(user_id=user.pk, building=OuterRef("floor__building"))
    found = list(rooms().filter(is_active=True).annotate(is_home=Exists(home)).order_by("code"))
    rules = rules_of(found, now=now)
    return [Entry(room.pk, facts_of(room), rules[room.pk]) for room in found]


def facts_of(room: Room) -> RoomFacts:
    """Of a room out of `rooms()`."""
    return RoomFacts(
        code=room.code,
        name_en=room.name_en,
        name_zh=room.name_zh,
        building=room.floor.building.code,
        floor=room.floor.number,
        seats=room.seats,
        features=frozenset(getattr(room, "feature_codes", ())),
        needs_approval=room.needs_approval or room.policy.needs_approval,
        is_home=getattr(room, "is_home", False),
    )


def rules_of(found: Iterable[Room], *, now: datetime) -> dict[int, Rules]:
    """The rules of each room, by primary key; rooms of one policy and site share them (two queries)."""
    found = list(found)
    hours = _hours({room.policy_id for room in found})
    horizon = max((room.policy.horizon_days for room in found), default=0)
    closed = _closed({room.floor.building.site_id for room in found}, now=now, horizon=horizon)
    shared: dict[tuple[int, int], Rules] = {}
    for room in found:
        site = room.floor.building.site
        key = (room.policy_id, site.pk)
        if key not in shared:
            shared[key] = _rules(
                room.policy, site.zone, hours.get(room.policy_id, {}), closed.get(site.pk, {})
            )
    return {room.pk: shared[room.policy_id, room.floor.building.site_id] for room in found}


def prospects(
    chosen: Iterable[Entry], *, around: Interval, ignore_booking: int | None = None
) -> list[Prospect]:
    """The rooms with what blocks them in `around` (one query)."""
    chosen = list(chosen)
    busy: dict[int, list[Interval]] = {}
    blocking = (
        Occurrence.objects.active()
        .filter(
            room__in=[entry.pk for entry in chosen],
            blocked__overlap=(around.starts_at, around.ends_at),
        )
        .exclude(booking=ignore_booking)
        .values_list("room_id", "blocked")
    )
    for room, blocked in blocking:
        busy.setdefault(room, []).append(Interval(blocked.lower, blocked.upper))
    return [Prospect(entry.facts, entry.rules, tuple(busy.get(entry.pk, ()))) for entry in chosen]


Hours = dict[int, tuple[tuple[time, time], ...]]
Closed = dict[date, dict[str, str]]


def _hours(policies: set[int]) -> dict[int, Hours]:
    hours: dict[int, Hours] = {}
    for each in OpeningHours.objects.filter(policy__in=policies).order_by("weekday", "opens"):
        week = hours.setdefault(each.policy_id, {})
        week[each.weekday] = (*week.get(each.weekday, ()), (each.opens, each.closes))
    return hours


def _closed(sites: set[int], *, now: datetime, horizon: int) -> dict[int, Closed]:
    reach = timedelta(days=horizon + SEARCH_DAYS + 2)
    closed: dict[int, Closed] = {}
    coming = ClosedDate.objects.filter(
        site__in=sites, date__range=(now.date() - timedelta(days=2), (now + reach).date())
    )
    for each in coming:
        names = {"en": each.name_en, "zh": each.name_zh}
        closed.setdefault(each.site_id, {})[each.date] = names
    return closed


def _rules(policy: Policy, zone: ZoneInfo, hours: Hours, closed: Closed) -> Rules:
    return Rules(
        zone=zone,
        hours=hours,
        closed=closed,
        min_minutes=policy.min_minutes,
        max_minutes=policy.max_minutes,
        grid_minutes=policy.grid_minutes,
        horizon_days=policy.horizon_days,
        grace_minutes=policy.grace_minutes,
        buffer_before=timedelta(minutes=policy.buffer_before_minutes),
        buffer_after=timedelta(minutes=policy.buffer_after_minutes),
    )
