"""What a series would be, before it is one."""

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractBaseUser

from booking import diary, policies, ranking, recurrence
from booking.exceptions import BookingNotFound, InvalidBooking, NonexistentTime, RoomNotFound
from booking.models import Occurrence, Room, Series
from booking.planning import PlannedDate, changed_days, coming_part, plan, read_rule
from booking.policies import Access, Refusal, Rules
from booking.ranking import Candidate, RoomFacts, RoomRequest
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


@dataclass(frozen=True, kw_only=True)
class SeriesOffer:
    """A room that a series could be in, with what it would be there."""

    room: Candidate
    plan: SeriesPlan


@dataclass(frozen=True, kw_only=True)
class SeriesSearch:
    """Rooms on offer; with none, the rule that keeps the series as a whole out of the best room."""

    offers: tuple[SeriesOffer, ...] = ()
    refusal: Refusal | None = None


MOST_TRIED = 12
"""How many rooms are looked at date by date before the best of them are offered."""


def search_series(
    request: RoomRequest, *, rule: str, user: AbstractBaseUser, now: datetime
) -> SeriesSearch:
    """Rooms for a series whose first date is the request: those that can be had on more of its
    dates first, else in the order of single bookings (two queries a room that is tried).

    Nothing at all if no room meets the wishes, or none is free. Raises InvalidBooking (recurrence).
    """
    ranked = _ranked(request, user=user, now=now)
    rooms = diary.rooms().in_bulk([facts.code for facts, _ in ranked], field_name="code")
    found: list[tuple[RoomFacts, SeriesPlan]] = []
    refusals: dict[Rules, Refusal] = {}  # what refuses the whole refuses it in every such room
    for facts, rules in ranked:
        if rules in refusals:
            continue
        made = _planned(rooms[facts.code], rules, request, rule, now=now)
        against = next((each.refusal for each in made.dates if not each.is_skippable), None)
        if against is not None:
            refusals[rules] = against
        elif made.possible:
            found.append((facts, made))
        if sum(not each.clashes for _, each in found) >= ranking.OFFERED:
            break
    shown = sorted(found, key=lambda pair: len(pair[1].clashes))[: ranking.OFFERED]
    among = [facts for facts, _ in shown]
    offers = (
        SeriesOffer(room=ranking.candidate(facts, request, among), plan=made)
        for facts, made in shown
    )
    refusal = next(iter(refusals.values()), None) if not shown else None
    return SeriesSearch(offers=tuple(offers), refusal=refusal)


def _ranked(
    request: RoomRequest, *, user: AbstractBaseUser, now: datetime
) -> list[tuple[RoomFacts, Rules]]:
    """The rooms that meet the wishes, the best few in order, as the person has them for a series."""
    duration = request.ends_at - request.starts_at
    found: dict[str, tuple[RoomFacts, Rules]] = {}
    for each in diary.entries(user=user, now=now, duration=duration):
        if each.access < Access.REQUEST or not ranking.is_wished(each.facts, request):
            continue
        is_exempt = each.access is Access.OVERRIDE
        asks = not is_exempt and each.rules.asks_approval(duration, is_series=True)
        facts = replace(each.facts, needs_approval=each.facts.needs_approval or asks)
        rules = policies.relaxed(each.rules) if is_exempt else each.rules
        found[facts.code] = facts, rules
    kept = ranking.guarded((facts for facts, _ in found.values()), request)
    return [found[facts.code] for facts in ranking.ordered(kept, request)[:MOST_TRIED]]


def _planned(
    place: Room, rules: Rules, request: RoomRequest, rule: str, *, now: datetime
) -> SeriesPlan:
    first = request.starts_at.astimezone(rules.zone)
    minutes = int((request.ends_at - request.starts_at) / timedelta(minutes=1))
    kept, days = read_rule(rule, first.date(), zone=rules.zone)
    slots = [recurrence.slot(rules.zone, day, first.time(), minutes) for day in days]
    return SeriesPlan(rule=kept, dates=plan(slots, room=place, rules=rules, now=now))


def last_bookable_day(user: AbstractBaseUser, *, now: datetime) -> date | None:
    """The last local day that the person's rooms can be booked on; None without rooms."""
    entries = diary.entries(user=user, now=now)
    days = [
        each.rules.local(now).date() + timedelta(days=each.rules.horizon_days)
        for each in entries
        if each.access >= Access.REQUEST
    ]
    return max(days, default=None)


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
    site = place.floor.building.site
    rules = regime.rules(site.pk, site.zone)
    return place, policies.relaxed(rules) if regime.access is Access.OVERRIDE else rules


def local_instant(zone: ZoneInfo, day: date, wall: time) -> datetime:
    """The instant a zone's clocks show that; of two, the first. Raises NonexistentTime."""
    instant = policies.instant_of(zone, day, wall)
    if instant is None:
        raise NonexistentTime(time=f"{wall:%H:%M}", date=day.isoformat())
    return instant
