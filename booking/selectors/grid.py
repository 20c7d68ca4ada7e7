"""A day of many rooms at a glance: when they open, what is in them, what is free."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import BigIntegerField, Q, Value
from django.db.models.functions import Cast, Concat

from booking import diary, policies
from booking.diary import Entry
from booking.intervals import Interval, gaps
from booking.models import Blackout, Occurrence
from booking.policies import Access, Rules
from booking.ranking import RoomFacts
from booking.storable import is_storable
from booking.visibility import is_hidden

MOST_SEATS = 1_000_000
"""More than any room has; the column holds no number much larger."""


@dataclass(frozen=True, kw_only=True)
class RoomUse:
    """What is in a room. `kind`: a status that blocks it, or `blackout` with its reason as title.

    booking, title and organizer are None where the viewer may not see them; `blocked` is the time
    with the buffers around it.
    """

    kind: str
    starts_at: datetime
    ends_at: datetime
    blocked: Interval
    booking: int | None = None
    title: str | None = None
    organizer: str | None = None
    is_mine: bool = False

    @property
    def is_masked(self) -> bool:
        return self.kind != "blackout" and self.booking is None


@dataclass(frozen=True, kw_only=True)
class RoomDay:
    """One room on one local day of its zone: `day` from midnight to midnight, 23 to 25 hours."""

    pk: int
    facts: RoomFacts
    rules: Rules
    access: Access
    date: date
    day: Interval
    hours: tuple[Interval, ...]
    uses: tuple[RoomUse, ...]

    @property
    def zone(self) -> ZoneInfo:
        return self.rules.zone

    @property
    def grid_minutes(self) -> int:
        return self.rules.grid_minutes

    @property
    def can_be_had(self) -> bool:
        """Whether the viewer may book it, or ask for it."""
        return self.access >= Access.REQUEST

    @property
    def free(self) -> tuple[Interval, ...]:
        """When the room is open and nothing blocks it, in order."""
        busy = [each.blocked for each in self.uses]
        return tuple(gap for opened in self.hours for gap in gaps(busy, opened))


class _Row(NamedTuple):
    room: int | None
    starts_at: datetime
    ends_at: datetime
    blocked_from: datetime
    blocked_until: datetime
    kind: str
    title: str
    booking: int | None
    visibility: str
    organizer: int | None
    first_name: str
    last_name: str
    username: str
    building: int | None
    site: int | None


def day_grid(
    *,
    viewer: AbstractBaseUser,
    day: date,
    now: datetime,
    building: str | None = None,
    site: int | None = None,
    room: str | None = None,
    seats: int = 1,
    features: Iterable[str] = (),
) -> list[RoomDay]:
    """The rooms the viewer may see on a local day, by code (three queries for any number).

    `building` and `room` by code, `site` by primary key; `seats` at least; all of `features`.
    """
    if not all(is_storable(code) for code in (building, room) if code is not None):
        return []
    where = Q(seats__gte=min(seats, MOST_SEATS))
    for name, value in (
        ("floor__building__code", building),
        ("floor__building__site", site),
        ("code", room),
    ):
        if value is not None:
            where &= Q(**{name: value})
    wanted = frozenset(features)
    found = [
        each
        for each in diary.entries(user=viewer, now=now, where=where)
        if wanted <= each.facts.features
    ]
    return on_days(found, [day], viewer=viewer, now=now)


def on_days(
    found: Sequence[Entry], days: Sequence[date], *, viewer: AbstractBaseUser, now: datetime
) -> list[RoomDay]:
    """Those rooms on some local days, day after day (one query)."""
    spans = {(each.pk, day): local_day(each.rules.zone, day) for each in found for day in days}
    if not spans:
        return []
    around = Interval(
        min(each.starts_at for each in spans.values()), max(each.ends_at for each in spans.values())
    )
    uses = _uses(found, around, viewer=viewer, now=now)
    return [
        RoomDay(
            pk=each.pk,
            facts=each.facts,
            rules=each.rules,
            access=each.access,
            date=day,
            day=spans[each.pk, day],
            hours=tuple(policies.open_intervals(each.rules, day)),
            uses=tuple(
                use for use in uses.get(each.pk, ()) if use.blocked.overlaps(spans[each.pk, day])
            ),
        )
        for day in days
        for each in found
    ]


def local_day(zone: ZoneInfo, day: date) -> Interval:
    """The instants of a local day, from midnight to midnight."""
    return Interval(
        datetime.combine(day, time(0), zone),
        datetime.combine(day + timedelta(days=1), time(0), zone),
    )


def _uses(
    found: Sequence[Entry], around: Interval, *, viewer: AbstractBaseUser, now: datetime
) -> dict[int, list[RoomUse]]:
    """What is in each room in that time, in order, as the viewer may see it (one query)."""
    sees_private = any(each.sees_private for each in found)
    uses: dict[int, list[RoomUse]] = {}
    for row in _rows([each.pk for each in found], around, now=now):
        use = _use(row, viewer=viewer, sees_private=sees_private)
        rooms = [row.room] if row.room is not None else _shut(found, row)
        for room in rooms:
            uses.setdefault(room, []).append(use)
    for each in uses.values():
        each.sort(key=lambda use: (use.starts_at, use.ends_at))
    return uses


def _shut(found: Sequence[Entry], row: _Row) -> list[int]:
    """The rooms that the blackout of a building or a site shuts."""
    return [
        each.pk
        for each in found
        if each.site == row.site or (row.building is not None and each.building == row.building)
    ]


def _use(row: _Row, *, viewer: AbstractBaseUser, sees_private: bool) -> RoomUse:
    busy = RoomUse(
        kind=row.kind,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        blocked=Interval(row.blocked_from, row.blocked_until),
    )
    if row.organizer is None:
        return replace(busy, kind="blackout", title=row.title)
    is_masked = is_hidden(
        visibility=row.visibility,
        organizer=row.organizer,
        viewer=viewer,
        sees_private=sees_private,
    )
    if is_masked:
        return busy
    return replace(
        busy,
        booking=row.booking,
        title=row.title,
        organizer=f"{row.first_name} {row.last_name}".strip() or row.username,
        is_mine=row.organizer == viewer.pk,
    )


def _rows(rooms: list[int], around: Interval, *, now: datetime) -> Iterable[_Row]:
    span = (around.starts_at, around.ends_at)
    nothing, empty = Cast(Value(None), BigIntegerField()), Value("")
    booked = (
        Occurrence.objects.blocking(now)
        .filter(room__in=rooms, blocked__overlap=span)
        .order_by()
        .values_list(
            "room_id",
            "starts_at",
            "ends_at",
            "blocked__startswith",
            "blocked__endswith",
            "status",
            "booking__title",
            "booking_id",
            "booking__visibility",
            "booking__organizer_id",
            "booking__organizer__first_name",
            "booking__organizer__last_name",
            "booking__organizer__username",
            nothing,
            nothing,
        )
    )
    shut = (
        Blackout.objects.in_force()
        .filter(during__overlap=span)
        .order_by()
        .values_list(
            "room_id",
            "starts_at",
            "ends_at",
            "during__startswith",
            "during__endswith",
            Value("blackout"),
            "reason",
            nothing,
            Concat(empty, empty),
            nothing,
            empty,
            empty,
            empty,
            "building_id",
            "site_id",
        )
    )
    # Ends as columns of their own: a range is read by Python, an instant by C.
    return [_Row(*row) for row in booked.union(shut, all=True)]
