"""The world a case starts from: a fixture's house, people and bookings as rows of a scratch database.

A fixture's ids (`u1001` for a person, 501 for a booking) are how cases name things; `World` knows
which rows they became. What a fixture leaves out is the demo company's.
"""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction

from booking import demo, recurrence
from booking.agent import tools
from booking.evaluation.cases import BadCase, World
from booking.models import (
    Booking,
    Building,
    Feature,
    Floor,
    Occurrence,
    OpeningHours,
    Policy,
    Profile,
    Room,
    Series,
    Site,
    Source,
    SpecialDate,
    Status,
    Visibility,
)

Fixture = Mapping[str, Any]

_DEMO_IDS = ("u1001", "u2002", "u2003", "u2004")
_HEADCOUNT = 4
_OFFICE: Mapping[str, Any] = {"days": [1, 2, 3, 4, 5], "from": "08:00", "to": "21:00"}
# Fields of a policy that fixtures call otherwise.
_RULES = {
    "check_in_before_minutes": "check_in_opens_minutes",
    "buffer_before_minutes": "buffer_minutes",
    "buffer_after_minutes": "buffer_minutes",
}


class Stage:
    """Loads worlds into an empty database, one after the other. Synchronous."""

    def __init__(self) -> None:
        self._house: str | None = None
        self._world = World(zone=ZoneInfo("UTC"), user="")

    def set(self, fixture: Fixture, *, now: datetime) -> World:
        """The fixture's world, exactly; the house is built anew only when it is another.

        Raises BadCase.
        """
        house = json.dumps({k: v for k, v in fixture.items() if k not in _PLAYED}, sort_keys=True)
        try:
            with transaction.atomic():
                _clear(everything=house != self._house)
                if house != self._house:
                    self._world = _build(fixture, now)
                    self._house = house
                self._world.bookings = _book(fixture, self._world)
        except (KeyError, ValueError, TypeError, Room.DoesNotExist) as error:
            self._house = None
            raise BadCase(f"fixture: {type(error).__name__}: {error}") from error
        tools.forget_house()
        tools.knowledge(self._world.owner, now=now)
        return self._world


def happen(changes: Mapping[str, Any], world: World) -> None:
    """What others do between two turns: `book` (bookings as in a fixture), `cancel` (their ids).

    Raises BadCase.
    """
    if unknown := set(changes) - {"book", "cancel"}:
        raise BadCase(f"world: unknown {', '.join(sorted(unknown))}")
    try:
        with transaction.atomic():
            gone = [world.bookings[each] for each in changes.get("cancel", ())]
            Occurrence.objects.filter(booking__in=gone).update(status=Status.CANCELLED)
            world.bookings |= _book({"bookings": changes.get("book", ())}, world)
    except (KeyError, ValueError, TypeError, IntegrityError) as error:
        raise BadCase(f"world: {type(error).__name__}: {error}") from error


_PLAYED = {"bookings", "series"}
_KEPT = {
    "booking_site", "booking_building", "booking_floor", "booking_feature", "booking_room",
    "booking_room_features", "booking_policy", "booking_openinghours", "booking_specialdate",
    "booking_profile",
}  # fmt: skip
# What migrations put there, and what processes say of themselves.
_LASTING = {
    "django_migrations", "django_content_type", "auth_permission", "checkpoint_migrations",
    "agentruntime_worker", "agentruntime_chore",
}  # fmt: skip


def _clear(*, everything: bool) -> None:
    """Delete what was played, and the house with its people if it is another's. The numbers of
    bookings begin at 1 again.

    Row by row: the runtime is at work on the same tables, and an exclusive lock on them would wait
    for it as it waits for us. Foreign keys are checked when the transaction ends.
    """
    played = {f"{Booking._meta.app_label}_", "agentruntime_effect"}
    with connection.cursor() as cursor:
        for name in sorted(connection.introspection.table_names(cursor)):
            is_played = any(name.startswith(each) for each in played) and name not in _KEPT
            if is_played or (everything and name not in _LASTING):
                cursor.execute(f"delete from {connection.ops.quote_name(name)}")  # noqa: S608 - our own table
        cursor.execute("select setval(pg_get_serial_sequence('booking_booking', 'id'), 1, false)")


def _build(fixture: Fixture, now: datetime) -> World:
    """Site, rules, rooms and people."""
    zone = ZoneInfo(fixture.get("zone", "Asia/Shanghai"))
    site = Site.objects.create(name_en="Headquarters", name_zh="总部", time_zone=zone.key)
    rooms = fixture.get("rooms") or [_demo_room(each) for each in demo.ROOMS]
    _close(site, fixture.get("policy"), now)
    _rooms(site, fixture, rooms)
    world = World(zone=zone, user=(fixture.get("user") or {}).get("id", _DEMO_IDS[0]))
    people = fixture.get("people")
    homes: dict[str, str] = {}
    if people is None:
        people = {key: each.name for key, each in zip(_DEMO_IDS, demo.PEOPLE, strict=True)}
        homes = {key: each.building for key, each in zip(_DEMO_IDS, demo.PEOPLE, strict=True)}
    homes[world.user] = (fixture.get("user") or {}).get("building", homes.get(world.user, ""))
    buildings = {each.code: each for each in Building.objects.all()}
    for key, name in people.items():
        person = User(username=key, first_name=name)
        person.set_unusable_password()
        person.save()
        Profile.objects.create(user=person, building=buildings.get(homes.get(key, "")))
        world.people[key] = person.pk
    world.seats = {room["code"]: room["seats"] for room in rooms}
    return world


def _demo_room(room: demo.DemoRoom) -> dict[str, Any]:
    return {
        "code": room.code,
        "name_en": room.name_en,
        "name_zh": room.name_zh,
        "building": room.code[0],
        "floor": room.floor,
        "seats": room.seats,
        "features": room.features,
        "aliases": room.aliases,
        "needs_approval": room.needs_approval,
    }


def _close(site: Site, rules: Mapping[str, Any] | None, now: datetime) -> None:
    """The days on which nothing opens: the fixture's, or New Year's Day."""
    new_years = [date(year, 1, 1).isoformat() for year in (now.year, now.year + 1)]
    closed = new_years if rules is None else rules.get("closed_dates", ())
    SpecialDate.objects.bulk_create(
        SpecialDate(site=site, date=date.fromisoformat(day), name_en="Holiday", name_zh="假日")
        for day in closed
    )


def _policy(rules: Mapping[str, Any]) -> Policy:
    """A policy by its fields' names, with the fixtures' own for some of them."""
    fields = {field.name for field in Policy._meta.fields} - {"id", "name"}
    values = {name: rules[name] for name in fields if name in rules}
    values |= {ours: rules[theirs] for ours, theirs in _RULES.items() if theirs in rules}
    policy = Policy.objects.create(name=f"Rules {Policy.objects.count() + 1}", **values)
    hours = rules.get("open") or _OFFICE
    OpeningHours.objects.bulk_create(
        OpeningHours(
            policy=policy,
            weekday=day,
            opens=time.fromisoformat(each["from"]),
            closes=time.fromisoformat(each["to"]),
        )
        for each in (hours if isinstance(hours, list) else [hours])
        for day in each["days"]
    )
    return policy


def _rooms(site: Site, fixture: Fixture, rooms: list[dict[str, Any]]) -> None:
    """Rooms, each under the fixture's policy or its own."""
    policies: dict[str, Policy] = {}
    for room in rooms:
        rules = room.get("policy") or fixture.get("policy") or {}
        key = json.dumps(rules, sort_keys=True)
        if key not in policies:
            policies[key] = _policy(rules)
        code = room["building"]
        names = (fixture.get("buildings") or {}).get(code) or {}
        building, _ = Building.objects.get_or_create(
            site=site,
            code=code,
            defaults={
                "name_en": names.get("en", f"Building {code}"),
                "name_zh": names.get("zh", f"{code}座"),
            },
        )
        floor, _ = Floor.objects.get_or_create(building=building, number=room["floor"])
        aliases = [a for a, c in (fixture.get("aliases") or {}).items() if c == room["code"]]
        made = Room.objects.create(
            code=room["code"],
            name_en=room.get("name_en", room["code"]),
            name_zh=room.get("name_zh", room["code"]),
            aliases=[*room.get("aliases", ()), *aliases],
            floor=floor,
            seats=room["seats"],
            policy=policies[key],
            needs_approval=room.get("needs_approval", False),
        )
        known = fixture.get("features") or {}
        made.features.set([_feature(code, known) for code in room.get("features", ())])


def _feature(code: str, known: Mapping[str, Mapping[str, str]]) -> Feature:
    name_en, name_zh = demo.FEATURES.get(code, (code, code))
    names = known.get(code) or {"en": name_en, "zh": name_zh}
    feature, _ = Feature.objects.get_or_create(
        code=code, defaults={"name_en": names["en"], "name_zh": names["zh"]}
    )
    return feature


def _book(fixture: Fixture, world: World) -> dict[int, int]:
    """The bookings and series; their rows by the fixture's ids."""
    rooms = {room.code: room for room in Room.objects.all()}
    ids, occurrences = {}, []
    for each in fixture.get("bookings", ()):
        booking = _booking(each, world)
        ids[each["id"]] = booking.pk
        during = tuple(
            datetime.fromisoformat(each[key]).replace(tzinfo=world.zone) for key in ("start", "end")
        )
        occurrences.append(
            _occurrence(booking, rooms[each["room"]], during, each.get("status", Status.BOOKED))
        )
    for each in fixture.get("series", ()):
        booking, dated = _series(each, rooms[each["room"]], world)
        ids[each["id"]] = booking.pk
        occurrences += dated
    Occurrence.objects.bulk_create(occurrences)
    return ids


def _booking(each: Mapping[str, Any], world: World, *, rule: str = "") -> Booking:
    return Booking.objects.create(
        organizer_id=world.people[each["organizer"]],
        title=each.get("title", ""),
        visibility=each.get("visibility", Visibility.PUBLIC),
        headcount=each.get("headcount", _HEADCOUNT),
        recurrence=rule,
        source=Source.API,
        idempotency_key=f"fixture-{each['id']}",
    )


def _occurrence(
    booking: Booking,
    room: Room,
    during: tuple[datetime, ...],
    status: str,
    *,
    on: date | None = None,
) -> Occurrence:
    span = tuple(instant.astimezone(UTC) for instant in during)
    return Occurrence(
        booking=booking, room=room, during=span, blocked=span, status=status, recurrence_date=on
    )


def _series(each: Mapping[str, Any], room: Room, world: World) -> tuple[Booking, list[Occurrence]]:
    rule = recurrence.normalised(each["rrule"], zone=world.zone)
    start = datetime.fromisoformat(each["start"]).replace(tzinfo=world.zone)
    booking = _booking(each, world, rule=rule)
    Series.objects.create(
        booking=booking,
        room=room,
        zone=world.zone.key,
        first=start.date(),
        start=start.time(),
        minutes=each["minutes"],
    )
    length = timedelta(minutes=each["minutes"])
    dated = []
    for day in recurrence.dates(rule, start.date()):
        first = datetime.combine(day, start.time(), world.zone)
        dated.append(_occurrence(booking, room, (first, first + length), Status.BOOKED, on=day))
    return booking, dated
