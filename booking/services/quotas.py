"""How much one person may have: quotas of each period, and one room at a time.

Checked after the write and before the commit, while the row is held at which all bookings of that
person queue; a refusal takes the write back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth import get_user_model
from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, Sum

from booking import policies
from booking.exceptions import PolicyViolation
from booking.intervals import Interval
from booking.models import ACTIVE_STATUSES, Booking, Occurrence, Quota, QuotaCounter, Status
from booking.policies import Refusal
from booking.services.placing import Terms

COUNTED = (*ACTIVE_STATUSES, Status.COMPLETED, Status.RELEASED)
"""What uses up a quota: a room that was kept and not used does, a cancelled one does not."""


@dataclass(frozen=True, kw_only=True)
class Use:
    """What of a quota one occurrence uses: its start and its length."""

    starts_at: datetime
    minutes: int

    @classmethod
    def of(cls, occurrence: Occurrence) -> "Use":
        length = occurrence.ends_at - occurrence.starts_at
        return cls(starts_at=occurrence.starts_at, minutes=int(length / timedelta(minutes=1)))


def check_quotas(
    booking: Booking,
    terms: Terms,
    *,
    before: Iterable[Use] = (),
    after: Sequence[Use],
    now: datetime,
) -> None:
    """Raises PolicyViolation if what was just written exceeds a quota of the organizer by growing.

    `before` and `after` are what the change took and put under the policy of the room.
    """
    if terms.is_exempt or not terms.has_quotas:
        return
    zone = terms.rules.zone
    grown = list(before)
    for quota in Quota.objects.filter(policy=terms.place.policy_id).order_by("pk"):
        firsts = sorted({first_day(quota.period, each.starts_at, zone) for each in after})
        for first in firsts:
            counter = _counted(quota, booking.organizer_id, first, zone, now=now)
            mine = [
                [each for each in uses if first_day(quota.period, each.starts_at, zone) == first]
                for uses in (grown, after)
            ]
            refusal = _exceeded(quota, counter, was=mine[0], is_now=mine[1])
            if refusal is not None:
                raise PolicyViolation(_with_nearest(refusal, quota, terms, mine[1][0], now=now))


def check_one_room(
    booking: Booking, terms: Terms, written: Iterable[Occurrence], *, now: datetime
) -> None:
    """Raises PolicyViolation if the organizer has another room at one of these times."""
    if terms.is_exempt or not terms.place.policy.one_room_at_a_time:
        return
    people = get_user_model()._default_manager
    people.select_for_update(no_key=True).get(pk=booking.organizer_id)
    for each in written:
        other = (
            Occurrence.objects.blocking(now)
            .filter(booking__organizer=booking.organizer_id)
            .within(each.starts_at, each.ends_at)
            .exclude(pk=each.pk)
            .select_related("room")
            .first()
        )
        if other is None:
            continue
        nearest = policies.nearest_slot(
            terms.rules,
            starts_at=each.starts_at,
            ends_at=each.ends_at,
            now=now,
            avoiding=[Interval(other.starts_at, other.ends_at)],
        )
        raise PolicyViolation(Refusal("one_room", {"room": other.room.code}, nearest))


def first_day(period: str, instant: datetime, zone: ZoneInfo) -> date:
    """The first local day of the period an instant is in."""
    day = instant.astimezone(zone).date()
    if period == Quota.Period.WEEK:
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if period == Quota.Period.MONTH else day


def next_first_day(period: str, first: date) -> date:
    """The first local day of the period after."""
    if period == Quota.Period.MONTH:
        return (first + timedelta(days=31)).replace(day=1)
    return first + timedelta(days=7 if period == Quota.Period.WEEK else 1)


def _counted(
    quota: Quota, person: int, first: date, zone: ZoneInfo, *, now: datetime
) -> QuotaCounter:
    """The counter, held until the transaction ends, with what is used now."""
    QuotaCounter.objects.bulk_create(
        [QuotaCounter(quota=quota, person_id=person, starts_on=first)], ignore_conflicts=True
    )
    counter = QuotaCounter.objects.select_for_update().get(
        quota=quota, person=person, starts_on=first
    )
    last = next_first_day(quota.period, first)
    is_undecided = Q(status__in=[Status.HELD, Status.PENDING], lapses_at__lte=now)
    length = ExpressionWrapper(F("ends_at") - F("starts_at"), output_field=DurationField())
    used: dict[str, Any] = (
        Occurrence.objects.filter(
            booking__organizer=person,
            room__policy=quota.policy_id,
            status__in=COUNTED,
            starts_at__gte=datetime.combine(first, time(0), zone),
            starts_at__lt=datetime.combine(last, time(0), zone),
        )
        .exclude(is_undecided)
        .aggregate(bookings=Count("pk"), length=Sum(length))
    )
    counter.bookings = used["bookings"]
    counter.minutes = int((used["length"] or timedelta(0)) / timedelta(minutes=1))
    counter.save(update_fields=["bookings", "minutes"])
    return counter


def _exceeded(
    quota: Quota, counter: QuotaCounter, *, was: Sequence[Use], is_now: Sequence[Use]
) -> Refusal | None:
    used = counter.bookings, counter.minutes
    limits = quota.max_bookings, quota.max_minutes
    growth = len(is_now) - len(was), _minutes(is_now) - _minutes(was)
    rules = "quota_bookings", "quota_minutes"
    for rule, have, limit, grown in zip(rules, used, limits, growth, strict=True):
        if limit is not None and grown > 0 and have > limit:
            return Refusal(rule, {"period": quota.period, "limit": limit})
    return None


def _minutes(uses: Iterable[Use]) -> int:
    return sum(each.minutes for each in uses)


def _with_nearest(
    refusal: Refusal, quota: Quota, terms: Terms, use: Use, *, now: datetime
) -> Refusal:
    """The same wall time on the first day of the next period, or what is legal near it."""
    zone = terms.rules.zone
    first = next_first_day(quota.period, first_day(quota.period, use.starts_at, zone))
    starts_at = datetime.combine(first, use.starts_at.astimezone(zone).time(), zone)
    nearest = policies.nearest_slot(
        terms.rules,
        starts_at=starts_at,
        ends_at=starts_at + timedelta(minutes=use.minutes),
        now=datetime.combine(first, time(0), zone),
    )
    # Asked as of that day, so that nothing before it is found; it has to be legal today.
    if nearest and policies.check(terms.rules, starts_at=nearest[0], ends_at=nearest[1], now=now):
        nearest = None
    return Refusal(refusal.rule, refusal.params, nearest)
