"""The world most booking tests start from: Monday 30 November 2026, ten in Shanghai."""

from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User

from booking import demo, services
from booking.models import Booking, Occurrence, Room, Source, Status
from booking.selectors import RoomRequest

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 11, 30, 10, 0, tzinfo=SHANGHAI)
MIDNIGHT = datetime(2026, 11, 30, tzinfo=SHANGHAI)
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
    for each in demo.PEOPLE:
        User.objects.create(username=each.username, first_name=each.name)
    User.objects.create(username="admin", is_staff=True, is_superuser=True)
    demo.load_people()


def build() -> None:
    demo.load_places(years=(2026, 2027))
    people()
    for number, (room, day, starts, ends, who, title) in enumerate(DIARY):
        book(
            room,
            day,
            starts,
            ends,
            organizer=user(who),
            title=title,
            now=MIDNIGHT,
            idempotency_key=f"world-{number}",
            headcount=4,
            visibility="private" if "Secret" in title else "public",
        )
    stand_up()


def stand_up() -> Booking:
    """lilei's Wednesdays at nine in A302, four of them."""
    series = Booking.objects.create(
        organizer=user("lilei"),
        title="Stand-up",
        headcount=5,
        source=Source.PORTAL,
        recurrence="FREQ=WEEKLY;BYDAY=WE;COUNT=4",
        idempotency_key="stand-up",
        request_digest="-",
    )
    for week in range(4):
        day = WEDNESDAY + timedelta(weeks=week)
        occurrence(series, "A302", at(day, "09:00"), at(day, "09:30"), recurrence_date=day)
    return series


def occurrence(
    booking: Booking, room: str, starts: datetime, ends: datetime, **more: Any
) -> Occurrence:
    values = {
        "booking": booking,
        "room": Room.objects.get(code=room),
        "during": (starts, ends),
        "blocked": (starts, ends),
        "status": Status.BOOKED,
    }
    return Occurrence.objects.create(**{**values, **more})


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
