"""What a series would be, before it is one."""

from dataclasses import dataclass
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractBaseUser

from booking import diary, policies, recurrence
from booking.exceptions import InvalidBooking, NonexistentTime, RoomNotFound
from booking.planning import PlannedDate, plan
from booking.policies import Access
from booking.storable import is_storable


@dataclass(frozen=True, kw_only=True)
class SeriesPlan:
    """The rule as it would be kept, and each of its dates."""

    rule: str
    dates: tuple[PlannedDate, ...]

    @property
    def possible(self) -> list[PlannedDate]:
        return [each for each in self.dates if each.is_possible]

    @property
    def clashes(self) -> list[PlannedDate]:
        return [each for each in self.dates if not each.is_possible]


def preview_series(
    *,
    organizer: AbstractBaseUser,
    room: str,
    first: date,
    start: time,
    minutes: int,
    rule: str,
    now: datetime,
) -> SeriesPlan:
    """What book_series would make of the same wish now (three queries).

    Raises RoomNotFound, InvalidBooking (recurrence, minutes).
    """
    if not 1 <= minutes <= policies.LONGEST_MINUTES:
        raise InvalidBooking(field="minutes")
    active = diary.rooms().filter(is_active=True)
    place = active.filter(code=room).first() if is_storable(room) else None
    if place is None:
        raise RoomNotFound(room=room)
    regime = diary.regimes({place.policy_id}, user=organizer, now=now)[place.policy_id]
    if regime.access is Access.NONE:
        raise RoomNotFound(room=room)
    site = place.floor.building.site
    rules = regime.rules(site.pk, site.zone)
    if regime.access is Access.OVERRIDE:
        rules = policies.relaxed(rules)
    try:
        kept = recurrence.normalised(rule, zone=rules.zone)
        days = recurrence.dates(kept, first)
    except (recurrence.BadRule, OverflowError) as error:
        raise InvalidBooking(field="recurrence") from error
    if not 1 <= len(days) <= recurrence.MAX_DATES:
        raise InvalidBooking(field="recurrence")
    slots = [recurrence.slot(rules.zone, day, start, minutes) for day in days]
    return SeriesPlan(rule=kept, dates=plan(slots, room=place, rules=rules, now=now))


def local_instant(zone: ZoneInfo, day: date, wall: time) -> datetime:
    """The instant a zone's clocks show that; of two, the first. Raises NonexistentTime."""
    instant = policies.instant_of(zone, day, wall)
    if instant is None:
        raise NonexistentTime(time=f"{wall:%H:%M}", date=day.isoformat())
    return instant
