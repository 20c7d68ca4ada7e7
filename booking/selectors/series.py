"""What a series would be, before it is one."""

from dataclasses import dataclass
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractBaseUser

from booking import diary, policies, recurrence
from booking.exceptions import BookingNotFound, InvalidBooking, NonexistentTime, RoomNotFound
from booking.models import Occurrence, Room, Series
from booking.planning import PlannedDate, changed_days, coming_part, plan, read_rule
from booking.policies import Access, Rules
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
    place, rules = _place(organizer, room, minutes, now=now)
    kept, days = read_rule(rule, first, zone=rules.zone)
    slots = [recurrence.slot(rules.zone, day, start, minutes) for day in days]
    return SeriesPlan(rule=kept, dates=plan(slots, room=place, rules=rules, now=now))


def preview_change(
    booking_id: int,
    *,
    by: AbstractBaseUser,
    since: date | None,
    start: time | None = None,
    minutes: int | None = None,
    room: str | None = None,
    rule: str | None = None,
    now: datetime,
) -> SeriesPlan:
    """What change_series would make now of one's own series, from the date `since` on.

    Raises BookingNotFound, AlreadyOver, RoomNotFound, InvalidBooking (recurrence, minutes).
    """
    found = Series.objects.select_related("booking", "room").filter(booking__organizer_id=by.pk)
    series = found.filter(booking=booking_id).first()
    if series is None:
        raise BookingNotFound(booking=booking_id)
    booking = series.booking
    occurrences = Occurrence.objects.filter(booking=booking).order_by("during")
    part = coming_part(booking, series, occurrences, since, now=now)
    minutes = minutes or series.minutes
    place, rules = _place(by, room or series.room.code, minutes, now=now)
    kept, days = changed_days(booking, series, part, rule, zone=rules.zone)
    slots = [
        recurrence.slot(rules.zone, day, start or series.start, minutes)
        for day in days
        if day not in part.closed_dates
    ]
    moving = [each.pk for each in part.following]
    planned = plan(slots, room=place, rules=rules, ignore=moving, now=now)
    return SeriesPlan(rule=kept, dates=planned)


def _place(
    person: AbstractBaseUser, code: str, minutes: int, *, now: datetime
) -> tuple[Room, Rules]:
    """A room, and the rules under which the person has it. Raises RoomNotFound, InvalidBooking."""
    if not 1 <= minutes <= policies.LONGEST_MINUTES:
        raise InvalidBooking(field="minutes")
    active = diary.rooms().filter(is_active=True)
    place = active.filter(code=code).first() if is_storable(code) else None
    if place is None:
        raise RoomNotFound(room=code)
    regime = diary.regimes({place.policy_id}, user=person, now=now)[place.policy_id]
    if regime.access is Access.NONE:
        raise RoomNotFound(room=code)
    rules = diary.entry(place, regime).rules
    return place, policies.relaxed(rules) if regime.access is Access.OVERRIDE else rules


def local_instant(zone: ZoneInfo, day: date, wall: time) -> datetime:
    """The instant a zone's clocks show that; of two, the first. Raises NonexistentTime."""
    instant = policies.instant_of(zone, day, wall)
    if instant is None:
        raise NonexistentTime(time=f"{wall:%H:%M}", date=day.isoformat())
    return instant
