"""Rooms as the pure core sees them: facts, rules, rights and what blocks them, in three queries.

Reads only; selectors and services stand on it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractBaseUser
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import BigIntegerField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, JSONObject

from booking.alternatives import Prospect
from booking.intervals import Interval
from booking.models import (
    Blackout,
    Feature,
    Grant,
    Occurrence,
    OpeningHours,
    Policy,
    Profile,
    Quota,
    Room,
    SpecialDate,
)
from booking.policies import FARTHEST_DAYS, SEARCH_DAYS, Access, Opening, Rules, access
from booking.ranking import RoomFacts
from booking.visibility import permission_of

WIDEST = timedelta(days=1)
"""No buffer is wider (policy_reach_sane)."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One room of the diary, as one person has it."""

    pk: int
    facts: RoomFacts
    rules: Rules
    access: Access = Access.BOOK
    building: int | None = None
    site: int | None = None
    sees_private: bool = False


@dataclass(frozen=True, eq=False)
class Regime:
    """What a policy says at its sites, and what the person may do under it."""

    policy: Policy
    hours: Mapping[int, tuple[Opening, ...]]
    special: Mapping[int, list[Mapping[str, Any]]]
    access: Access
    has_quotas: bool
    sees_private: bool
    by_site: dict[int, Rules] = field(default_factory=dict)

    def rules(self, site: int, zone: ZoneInfo) -> Rules:
        """The same object for every room of the policy at that site."""
        if site not in self.by_site:
            self.by_site[site] = _rules(self, zone, self.special.get(site, []))
        return self.by_site[site]


def rooms() -> QuerySet[Room]:
    """Every room with what its facts and rules need."""
    features = Feature.objects.filter(room=OuterRef("pk")).order_by("code").values("code")
    return Room.objects.select_related("floor__building__site", "policy").annotate(
        feature_codes=ArraySubquery(features)
    )


def entries(
    *,
    user: AbstractBaseUser,
    now: datetime,
    duration: timedelta | None = None,
    where: Q | None = None,
) -> list[Entry]:
    """The active rooms the person may see, by code (two queries).

    Whether a room needs approval is said for a booking of that duration.
    """
    home = Profile.objects.filter(user_id=user.pk, building=OuterRef("floor__building"))
    active = rooms().filter(where or Q(), is_active=True).annotate(is_home=Exists(home))
    # Tuples: of many rooms, four objects each were most of the time.
    found = list(active.order_by("code").values_list(*_COLUMNS, named=True))
    ruled = regimes({row.policy_id for row in found}, user=user, now=now)
    return [
        _entry(row, ruled[row.policy_id], duration=duration)
        for row in found
        if ruled[row.policy_id].access > Access.NONE
    ]


_COLUMNS = (
    "pk", "code", "name_en", "name_zh", "seats", "needs_approval", "policy_id", "floor__number",
    "floor__building_id", "floor__building__code", "floor__building__site_id",
    "floor__building__site__time_zone", "feature_codes", "is_home",
)  # fmt: skip


def _entry(row: Any, regime: Regime, *, duration: timedelta | None) -> Entry:
    """A row of `_COLUMNS` under its regime."""
    site = row.floor__building__site_id
    rules = regime.rules(site, ZoneInfo(row.floor__building__site__time_zone))
    is_request = asks_approval(row.needs_approval, rules, regime.access, duration)
    facts = RoomFacts(
        code=row.code,
        name_en=row.name_en,
        name_zh=row.name_zh,
        building=row.floor__building__code,
        floor=row.floor__number,
        seats=row.seats,
        features=frozenset(row.feature_codes),
        needs_approval=is_request,
        is_home=row.is_home,
    )
    return Entry(
        pk=row.pk,
        facts=facts,
        rules=rules,
        access=regime.access,
        building=row.floor__building_id,
        site=site,
        sees_private=regime.sees_private,
    )


def asks_approval(
    room_needs: bool,  # noqa: FBT001 - the room's own column
    rules: Rules,
    rights: Access,
    duration: timedelta | None,
    *,
    is_series: bool = False,
) -> bool:
    """Whether that person's booking of a room waits as a request; `room_needs`: all of its do."""
    if rights is not Access.BOOK:
        return rights < Access.BOOK
    return room_needs or rules.asks_approval(duration, is_series=is_series)


def regimes(policies: set[int], *, user: AbstractBaseUser, now: datetime) -> dict[int, Regime]:
    """What holds under each policy for that person, by the policy's primary key (one query)."""
    found = Policy.objects.filter(pk__in=policies).annotate(
        opened=ArraySubquery(_hours()),
        special=ArraySubquery(_special(now)),
        granted=ArraySubquery(_granted()),
        mine=ArraySubquery(_granted().filter(group__user=user.pk)),
        may_see_private=permission_of(user),
        has_quotas=Exists(Quota.objects.filter(policy=OuterRef("pk"))),
    )
    return {policy.pk: _regime(policy, user) for policy in found}


def prospects(
    chosen: Iterable[Entry],
    *,
    around: Interval,
    now: datetime,
    ignore_booking: int | None = None,
) -> list[Prospect]:
    """The rooms with what blocks them in `around` (one query)."""
    chosen = list(chosen)
    busy: dict[int, list[Interval]] = {}
    for room, blocked in _blocked(chosen, around=around, now=now, ignore_booking=ignore_booking):
        busy.setdefault(room, []).append(blocked)
    return [Prospect(entry.facts, entry.rules, tuple(busy.get(entry.pk, ()))) for entry in chosen]


def _blocked(
    chosen: Iterable[Entry],
    *,
    around: Interval,
    now: datetime,
    ignore_booking: int | None = None,
) -> Iterator[tuple[int, Interval]]:
    """What blocks the rooms in `around`: bookings with their buffers, and blackouts (one query)."""
    chosen = list(chosen)
    nothing = Cast(Value(None), BigIntegerField())
    span = (around.starts_at, around.ends_at)
    booked = (
        Occurrence.objects.blocking(now)
        .filter(room__in=[entry.pk for entry in chosen], blocked__overlap=span)
        .exclude(booking=ignore_booking)
        .order_by()
        .values_list("room_id", "blocked__startswith", "blocked__endswith", nothing, nothing)
    )
    shut = (
        Blackout.objects.in_force()
        .filter(during__overlap=span)
        .order_by()
        .values_list("room_id", "during__startswith", "during__endswith", "building_id", "site_id")
    )
    for room, first, last, building, site in booked.union(shut, all=True):
        blocked = Interval(first, last)
        rooms = [room]
        if room is None:
            rooms = [
                each.pk
                for each in chosen
                if each.site == site or (building is not None and each.building == building)
            ]
        for pk in rooms:
            yield pk, blocked


def _hours() -> QuerySet[OpeningHours, Any]:
    columns = ("weekday", "opens", "closes", "valid_from", "valid_until")
    return (
        OpeningHours.objects.filter(policy=OuterRef("pk"))
        .order_by("weekday", "opens")
        .values_list(JSONObject(**{name: name for name in columns}))
    )


def _special(now: datetime) -> QuerySet[SpecialDate, Any]:
    """The special dates of the policy's sites, from now to beyond every horizon."""
    columns = ("site_id", "date", "follows_weekday", "name_en", "name_zh")
    first = now.date() - timedelta(days=2)
    last = first + timedelta(days=FARTHEST_DAYS + SEARCH_DAYS + 4)
    at_its_sites = Room.objects.filter(policy=OuterRef(OuterRef("pk")))
    return (
        SpecialDate.objects.filter(
            site__in=at_its_sites.values("floor__building__site"), date__range=(first, last)
        )
        .order_by("date")
        .values_list(JSONObject(**{name: name for name in columns}))
    )


def _granted() -> QuerySet[Grant, Any]:
    mine = Grant.objects.filter(policy=OuterRef("pk"))
    return mine.order_by("right").values("right").distinct()


def _regime(policy: Any, user: AbstractBaseUser) -> Regime:
    hours: dict[int, tuple[Opening, ...]] = {}
    for each in policy.opened:
        opening = Opening(
            time.fromisoformat(each["opens"]),
            time.fromisoformat(each["closes"]),
            _date(each["valid_from"]),
            _date(each["valid_until"]),
        )
        hours[each["weekday"]] = (*hours.get(each["weekday"], ()), opening)
    special: dict[int, list[Mapping[str, Any]]] = {}
    for each in policy.special:
        special.setdefault(each["site_id"], []).append(each)
    return Regime(
        policy=policy,
        hours=hours,
        special=special,
        access=access(policy.granted, policy.mine),
        has_quotas=policy.has_quotas,
        sees_private=policy.may_see_private or getattr(user, "is_superuser", False),
    )


def _date(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def _rules(regime: Regime, zone: ZoneInfo, special: Iterable[Mapping[str, Any]]) -> Rules:
    policy = regime.policy
    closed: dict[date, Mapping[str, str]] = {}
    working: dict[date, int] = {}
    for each in special:
        day = date.fromisoformat(each["date"])
        if each["follows_weekday"] is None:
            closed[day] = {"en": each["name_en"], "zh": each["name_zh"]}
            continue
        working[day] = each["follows_weekday"]
    return Rules(
        zone=zone,
        hours=regime.hours,
        closed=closed,
        working=working,
        min_minutes=policy.min_minutes,
        max_minutes=policy.max_minutes,
        grid_minutes=policy.grid_minutes,
        horizon_days=policy.horizon_days,
        grace_minutes=policy.grace_minutes,
        notice_minutes=policy.notice_minutes,
        buffer_before=timedelta(minutes=policy.buffer_before_minutes),
        buffer_after=timedelta(minutes=policy.buffer_after_minutes),
        needs_approval=policy.needs_approval,
        approval_over_minutes=policy.approval_over_minutes,
        series_need_approval=policy.series_need_approval,
    )
