"""Putting an occurrence into a room: what is checked while the room's row is held."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser

from booking import closures, diary, policies
from booking.exceptions import PolicyViolation, RoomNotFound
from booking.intervals import Interval
from booking.models import Occurrence, Policy, Room, Status
from booking.policies import Access, Refusal, Rules

PLACED = ("room", "during", "blocked", "status", "lapses_at", "checked_in_at")
"""The columns `place` decides."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Terms:
    """On which terms somebody may have a room: the rules in force for them."""

    place: Room
    rules: Rules
    access: Access
    has_quotas: bool

    @property
    def is_exempt(self) -> bool:
        return self.access is Access.OVERRIDE


def terms_of(place: Room, *, person: AbstractBaseUser, headcount: int, now: datetime) -> Terms:
    """Raises RoomNotFound for a room that is inactive or hidden, PolicyViolation (not_bookable, capacity)."""
    regime = diary.regimes({place.policy_id}, user=person, now=now)[place.policy_id]
    if not place.is_active or regime.access is Access.NONE:
        raise RoomNotFound(room=place.code)
    if regime.access is Access.SEE:
        raise PolicyViolation(Refusal("not_bookable", {"room": place.code}))
    check_seats(place, headcount)
    site = place.floor.building.site
    rules = regime.rules(site.pk, site.zone)
    if regime.access is Access.OVERRIDE:
        rules = policies.relaxed(rules)
    return Terms(place=place, rules=rules, access=regime.access, has_quotas=regime.has_quotas)


def check_seats(room: Room, headcount: int) -> None:
    if room.seats < headcount:
        params = {"headcount": headcount, "room": room.code, "seats": room.seats}
        raise PolicyViolation(Refusal("capacity", params))


def check_rules(terms: Terms, starts_at: datetime, ends_at: datetime, *, now: datetime) -> None:
    """Raises PolicyViolation with the rule and the nearest legal slot."""
    refusal = policies.check(terms.rules, starts_at=starts_at, ends_at=ends_at, now=now)
    if refusal is not None:
        raise PolicyViolation(refusal)


def check_open(terms: Terms, during: Interval, *, now: datetime) -> None:
    """Raises PolicyViolation (blackout) if the room is shut in that time. Its row is held."""
    rules = terms.rules
    around = rules.blocked(during)
    reach = timedelta(days=policies.SEARCH_DAYS)
    shut = closures.blackouts_of(terms.place, around.padded(reach, reach))
    hit = next((each for each in shut if closures.interval_of(each).overlaps(around)), None)
    if hit is None:
        return
    nearest = policies.nearest_slot(
        rules,
        starts_at=during.starts_at,
        ends_at=during.ends_at,
        now=now,
        avoiding=[closures.interval_of(each) for each in shut],
    )
    raise PolicyViolation(closures.refusal_of(hit, rules.zone, nearest))


def place(
    occurrence: Occurrence,
    terms: Terms,
    during: Interval,
    *,
    now: datetime,
    is_series: bool = False,
) -> Occurrence:
    """The occurrence in that room at that time, not saved; what needed approval needs it again."""
    blocked = terms.rules.blocked(during)
    if occurrence.room_id != terms.place.pk or occurrence.status != Status.CHECKED_IN:
        is_request = diary.asks_approval(
            terms.place.needs_approval,
            terms.rules,
            terms.access,
            during.duration,
            is_series=is_series,
        )
        occurrence.status = Status.PENDING if is_request else Status.BOOKED
        occurrence.checked_in_at = None
    occurrence.lapses_at = lapses_at(occurrence.status, terms.place.policy, during, now=now)
    occurrence.room = terms.place
    occurrence.during = (during.starts_at, during.ends_at)
    occurrence.blocked = (blocked.starts_at, blocked.ends_at)
    return occurrence


def lapses_at(status: str, policy: Policy, during: Interval, *, now: datetime) -> datetime | None:
    """When an occurrence stops to count by itself.

    A request, when its time to wait is over, at the latest when the slot could not be booked any
    more; a booking that needs a check-in, when the grace after its start is over.
    """
    if status == Status.PENDING:
        latest = during.starts_at + timedelta(minutes=policy.grace_minutes)
        waits_until = now + timedelta(hours=policy.request_hours)
        return min(waits_until, latest if latest > now else during.ends_at)
    if status == Status.BOOKED and policy.needs_check_in:
        grace = timedelta(minutes=policy.check_in_grace_minutes)
        return min(max(during.starts_at, now) + grace, during.ends_at)
    return None


def span(occurrence: Occurrence) -> Interval:
    return Interval(occurrence.starts_at, occurrence.ends_at)
