"""The world about as it stood at an instant, as the fixture of a case. Reads; everything is masked.

Rooms, rules and bookings of the coming days are in it; quotas, grants, closures of rooms and make-up
working days are not.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth import get_user_model
from django.db.models import Q

from booking.evaluation.masking import Masks
from booking.models import (
    ACTIVE_STATUSES,
    BookingChange,
    Building,
    Feature,
    Occurrence,
    Policy,
    Profile,
    Room,
    SpecialDate,
)

AHEAD = timedelta(days=15)
_RULES = (
    "min_minutes", "max_minutes", "grid_minutes", "horizon_days", "grace_minutes",
    "buffer_before_minutes", "buffer_after_minutes", "notice_minutes", "one_room_at_a_time",
    "needs_approval", "approval_over_minutes", "series_need_approval", "request_hours",
    "needs_check_in", "check_in_before_minutes", "check_in_grace_minutes",
)  # fmt: skip


def fixture_at(
    now: datetime,
    *,
    owner: int,
    zone: ZoneInfo,
    days: Iterable[date],
    named: Iterable[int],
    masks: Masks,
) -> tuple[dict[str, Any], dict[int, str], dict[int, int]]:
    """`(fixture, people's ids in it, bookings' ids in it)`; days: further ones that matter; named:
    people the conversation names. Raises masking.TooManyPeople.
    """
    uses = _uses(now, owner=owner, zone=zone, days=days)
    organizers = [booking.organizer_id for booking, *_ in uses]
    people = {owner: "u1"}
    for pk in (*named, *organizers):
        people.setdefault(pk, f"u{len(people) + 1}")
    bookings: list[dict[str, Any]] = []
    ids: dict[int, int] = {}
    for number, (booking, room, starts_at, ends_at, status) in enumerate(uses, start=1):
        ids.setdefault(booking.pk, number)
        bookings.append(
            {
                "id": number,
                "room": room,
                "start": f"{starts_at.astimezone(zone):%Y-%m-%dT%H:%M}",
                "end": f"{ends_at.astimezone(zone):%Y-%m-%dT%H:%M}",
                "organizer": people[booking.organizer_id],
                "title": (masks.own_title if booking.organizer_id == owner else masks.title)(
                    booking.title
                ),
                "visibility": booking.visibility,
                "headcount": booking.headcount,
                "status": status,
            }
        )
    home = Profile.objects.filter(user=owner).values_list("building__code", flat=True).first()
    users = get_user_model()._default_manager.in_bulk(list(people))
    fixture = {
        "zone": zone.key,
        "user": {"id": "u1", "building": home or ""},
        "people": {key: masks.person(names_of(users[pk])) for pk, key in people.items()},
        "features": {
            each.code: {"en": each.name_en, "zh": each.name_zh} for each in Feature.objects.all()
        },
        "buildings": {
            each.code: {"en": each.name_en, "zh": each.name_zh} for each in Building.objects.all()
        },
        **_rooms(now, zone),
        "bookings": bookings,
        "series": [],
    }
    return fixture, people, ids


def names_of(user: Any) -> tuple[str, ...]:
    """The ways to write a person's name, family name first and last."""
    first, last = user.first_name, user.last_name
    return tuple(
        name
        for name in (f"{last}{first}", f"{first} {last}".strip(), f"{last} {first}".strip())
        if name
    )


def _uses(
    now: datetime, *, owner: int, zone: ZoneInfo, days: Iterable[date]
) -> list[tuple[Any, str, datetime, datetime, str]]:
    """`(booking, room, start, end, status)` of what blocked rooms at `now`, in the days that matter;
    what was changed since is as it was.
    """
    today = datetime.combine(now.astimezone(zone).date(), time(0), zone)
    spans = Q(during__overlap=(today, today + AHEAD))
    for day in days:
        first = datetime.combine(day, time(0), zone)
        spans |= Q(during__overlap=(first, first + timedelta(days=1)))
    own = Q(booking__organizer=owner, during__overlap=(now, None))
    found = (
        Occurrence.objects.filter(spans | own, booking__created_at__lte=now)
        .select_related("booking", "room")
        .order_by("booking_id", "starts_at")
    )
    changed = _changed_since(now, {each.booking_id for each in found})
    uses = []
    for each in found:
        was = changed.get(each.pk)
        if was is None:
            was = {
                "room": each.room.code, "starts_at": each.starts_at.isoformat(),
                "ends_at": each.ends_at.isoformat(), "status": str(each.status),
            }  # fmt: skip
        if was["status"] in ACTIVE_STATUSES:
            instants = (datetime.fromisoformat(was[key]) for key in ("starts_at", "ends_at"))
            uses.append((each.booking, str(was["room"]), *instants, str(was["status"])))
    return uses  # type: ignore[return-value]


def _changed_since(now: datetime, bookings: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    """How occurrences were before the first change after `now`, by their key."""
    changes = BookingChange.objects.filter(booking__in=list(bookings), at__gt=now).order_by("pk")
    found: dict[int, Mapping[str, Any]] = {}
    for change in changes:
        for picture in change.before if isinstance(change.before, list) else [change.before]:
            if isinstance(picture, Mapping) and "occurrence" in picture:
                found.setdefault(picture["occurrence"], picture)
    return found


def _rooms(now: datetime, zone: ZoneInfo) -> dict[str, Any]:
    """The active rooms with their rules; rules most of them have stand once."""
    rooms = list(
        Room.objects.filter(is_active=True)
        .select_related("floor__building", "policy")
        .prefetch_related("features", "policy__opening_hours")
        .order_by("code")
    )
    usual = Counter(room.policy_id for room in rooms).most_common(1)
    common = usual[0][0] if usual else 0
    rules = {room.policy_id: _rules(room.policy, now, zone) for room in rooms}
    return {
        "policy": rules.get(common, {}),
        "rooms": [
            {
                "code": room.code,
                "name_en": room.name_en,
                "name_zh": room.name_zh,
                "aliases": list(room.aliases),
                "building": room.floor.building.code,
                "floor": room.floor.number,
                "seats": room.seats,
                "features": sorted(each.code for each in room.features.all()),
                "needs_approval": room.needs_approval,
                **({} if room.policy_id == common else {"policy": rules[room.policy_id]}),
            }
            for room in rooms
        ],
    }


def _rules(policy: Policy, now: datetime, zone: ZoneInfo) -> dict[str, Any]:
    today = now.astimezone(zone).date()
    horizon = today + timedelta(days=policy.horizon_days)
    closed = SpecialDate.objects.filter(date__gte=today, date__lte=horizon, follows_weekday=None)
    return {
        **{name: getattr(policy, name) for name in _RULES},
        "open": [
            {"days": [each.weekday], "from": f"{each.opens:%H:%M}", "to": f"{each.closes:%H:%M}"}
            for each in policy.opening_hours.all()
            if (each.valid_from is None or each.valid_from <= horizon)
            and (each.valid_until is None or each.valid_until >= today)
        ],
        "closed_dates": sorted({day.isoformat() for day in closed.values_list("date", flat=True)}),
    }
