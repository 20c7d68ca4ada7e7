"""What of rooms and days can be booked: the grid of what is there, cut to what the rules allow.

Synchronous reads; no writes. What is bookable is asked of `policies`, who sees what of `selectors`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q

from booking import diary, selectors, strips
from booking.diary import Entry
from booking.intervals import Interval
from booking.models import Building, Room
from booking.policies import Access, Rules
from booking.ranking import RoomFacts
from booking.selectors import RoomUse
from booking.strips import Slot, Use


@dataclass(frozen=True, eq=False, kw_only=True)
class RoomDay:
    """One local day of one room: when it is open, what may be booked by the rules, what is in it."""

    facts: RoomFacts
    rules: Rules
    access: Access
    day: date
    opened: tuple[Interval, ...]
    allowed: tuple[Interval, ...]
    found: tuple[RoomUse, ...]

    @cached_property
    def uses(self) -> list[Use]:
        """What is in it, in order."""
        return [_use(each) for each in self.found]

    @cached_property
    def free(self) -> list[Interval]:
        """The times that can be booked, in order."""
        return strips.free_times(self.rules, self.allowed, self.uses)

    def has_free(self, wanted: Interval) -> bool:
        return any(each.covers(wanted) for each in self.free)

    def slots(self, within: Interval) -> list[Slot]:
        return strips.strip(within, free=self.free, uses=self.uses)


def rooms_in(building: Building, *, viewer: AbstractBaseUser, now: datetime) -> list[Entry]:
    """The rooms of a building the viewer may see, by floor and code (two queries)."""
    found = diary.entries(user=viewer, now=now, where=Q(floor__building=building))
    return sorted(found, key=lambda each: (each.facts.floor, each.facts.code))


def on_day(
    rooms: Sequence[Entry], day: date, *, viewer: AbstractBaseUser, now: datetime
) -> list[RoomDay]:
    """A local day of rooms, in their order (one query)."""
    return _allowed(selectors.on_days(rooms, [day], viewer=viewer, now=now), now=now)


def of_building(
    building: Building, *, day: date, viewer: AbstractBaseUser, now: datetime
) -> list[RoomDay]:
    """A local day of all rooms of a building the viewer may see (three queries)."""
    return on_day(rooms_in(building, viewer=viewer, now=now), day, viewer=viewer, now=now)


def of_room(
    room: Room, *, days: Sequence[date], viewer: AbstractBaseUser, now: datetime
) -> list[RoomDay]:
    """Local days of one room, in order; none if the viewer may not see it (three queries)."""
    entries = diary.entries(user=viewer, now=now, where=Q(pk=room.pk))
    return _allowed(selectors.on_days(entries, days, viewer=viewer, now=now), now=now)


def window(days: Iterable[RoomDay], day: date, zone: ZoneInfo) -> Interval:
    """The hours to show of these rooms on that day."""
    shown = list(days)
    opened = {each.rules: each.opened for each in shown}
    return strips.window(
        zone,
        day,
        [each for intervals in opened.values() for each in intervals],
        [use for each in shown for use in each.uses if not use.is_blackout],
    )


def _allowed(found: Iterable[selectors.RoomDay], *, now: datetime) -> list[RoomDay]:
    """Rooms under the same rules have the same times: they are asked for once."""
    times: dict[tuple[Rules, date], tuple[Interval, ...]] = {}
    for each in found:
        if (each.rules, each.date) not in times:
            times[each.rules, each.date] = tuple(strips.bookable(each.rules, each.date, now=now))
    return [
        RoomDay(
            facts=each.facts,
            rules=each.rules,
            access=each.access,
            day=each.date,
            opened=each.hours,
            allowed=times[each.rules, each.date] if each.access > Access.SEE else (),
            found=each.uses,
        )
        for each in found
    ]


def _use(use: RoomUse) -> Use:
    return Use(
        booking=use.booking,
        during=Interval(use.starts_at, use.ends_at),
        blocked=use.blocked,
        status=use.kind,
        is_mine=use.is_mine,
        title=use.title,
        organizer=use.organizer,
    )
