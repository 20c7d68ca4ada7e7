"""The world most booking tests start from: Monday 30 November 2026, ten in Shanghai."""

from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User

from agentruntime.models import Effect, Run, Thread
from booking import demo, services
from booking.models import Booking, Building, Occurrence, Profile, Room, Series, Source, Status
from booking.selectors import RoomRequest

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 11, 30, 10, 0, tzinfo=SHANGHAI)
TODAY, TOMORROW, WEDNESDAY = date(2026, 11, 30), date(2026, 12, 1), date(2026, 12, 2)

DIARY = (
    ("A305", TODAY, "15:00", "16:00", "lilei", "Weekly"),
    ("A301", TODAY, "09:30", "11:00", "wangfang", "Secret budget"),
    ("B201", TOMORROW, "14:00", "15:30", "lilei", "Demo"),
    ("A305", TOMORROW, "15:00", "17:00", "hanmei", "Review"),
    ("B201", TOMORROW, "16:00", "17:00", "zhaoqiang", "Call"),
)


def at(day: date, wall: str) -> datetime:
    return datetime.combine(day, time.fromisoformat(wall), SHANGHAI)


def user(username: str) -> User:
    return User.objects.get(username=username)


def people() -> None:
    """Everybody, without the cost of hashing a password."""
    users = [User(username=each.username, first_name=each.name) for each in demo.PEOPLE]
    admin = User(username="admin", is_staff=True, is_superuser=True)
    User.objects.bulk_create([*users, admin])
    buildings = {building.code: building for building in Building.objects.all()}
    Profile.objects.bulk_create(
        Profile(user=user, building=buildings[each.building], language=each.language)
        for user, each in zip(users, demo.PEOPLE, strict=True)
    )


def build() -> None:
    """Places, people and a diary, in few statements: most tests begin here."""
    demo.load_places(years=(2026, 2027))
    people()
    users = {user.username: user for user in User.objects.all()}
    rooms = {room.code: room for room in Room.objects.all()}
    bookings = Booking.objects.bulk_create(
        Booking(
            organizer=users[who],
            title=title,
            headcount=4,
            source=Source.PORTAL,
            visibility="private" if "Secret" in title else "public",
            idempotency_key=f"world-{title}",
            request_digest="-",
        )
        for _room, _day, _starts, _ends, who, title in DIARY
    )
    slots = [
        (booking, rooms[room], at(day, starts), at(day, ends), None)
        for booking, (room, day, starts, ends, _who, _title) in zip(bookings, DIARY, strict=True)
    ]
    series = Booking.objects.create(
        organizer=users["lilei"],
        title="Stand-up",
        headcount=5,
        source=Source.PORTAL,
        recurrence="FREQ=WEEKLY;BYDAY=WE;COUNT=4",
        idempotency_key="stand-up",
        request_digest="-",
    )
    Series.objects.create(
        booking=series,
        room=rooms["A302"],
        zone="Asia/Shanghai",
        first=WEDNESDAY,
        start=time(9),
        minutes=30,
    )
    for day in (WEDNESDAY + timedelta(weeks=week) for week in range(4)):
        slots.append((series, rooms["A302"], at(day, "09:00"), at(day, "09:30"), day))
    Occurrence.objects.bulk_create(
        Occurrence(
            booking=booking,
            room=room,
            during=(starts, ends),
            blocked=(starts, ends),
            status=Status.BOOKED,
            recurrence_date=day,
        )
        for booking, room, starts, ends, day in slots
    )


def book(room: str, day: date, starts: str, ends: str, **more: Any) -> Booking:
    values = {
        "room": room,
        "starts_at": at(day, starts),
        "ends_at": at(day, ends),
        "headcount": 2,
        "source": Source.PORTAL,
        "idempotency_key": f"{room} {day} {starts}",
        "now": NOW,
    }
    if "organizer" not in more:
        values["organizer"] = user("lilei")
    return services.book_room(**{**values, **more})


def wish(day: date, starts: str, minutes: int, headcount: int, **more: Any) -> RoomRequest:
    starts_at = at(day, starts)
    ends_at = starts_at + timedelta(minutes=minutes)
    return RoomRequest(starts_at=starts_at, ends_at=ends_at, headcount=headcount, **more)


def effect() -> Effect:
    """What the assistant leaves behind when it books for lilei."""
    thread = Thread.objects.create(id="booking-1-x", agent="booking", owner=user("lilei"))
    run = Run.objects.create(thread=thread, version=1, kind=Run.Kind.RESUME, worker="w")
    return Effect.objects.create(
        thread=thread,
        run=run,
        run_version=1,
        name="book_room",
        task="t",
        intent="i",
        checkpoint="c",
    )
