"""A small company to try Roomwise with: rooms, people, and bookings on the coming working days.

Loading it again changes nothing that is there; on another day it adds that day's bookings.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice

from django.contrib.auth.models import Group, User
from django.db import transaction

from booking import services
from booking.exceptions import RoomUnavailable
from booking.models import (
    Booking,
    Building,
    Feature,
    Floor,
    Grant,
    OpeningHours,
    Policy,
    Profile,
    Room,
    Site,
    Source,
    SpecialDate,
    Visibility,
)

PASSWORD = "roomwise-demo"  # noqa: S105 - printed for everybody, refused outside DEBUG
STAND_UPS = 12

FEATURES = {
    "projector": ("Projector", "投影仪"),
    "whiteboard": ("Whiteboard", "白板"),
    "tv": ("TV screen", "电视屏"),
    "video_conference": ("Video conferencing", "视频会议"),
    "microphone": ("Microphone", "麦克风"),
}


@dataclass(frozen=True)
class DemoRoom:
    code: str
    name_en: str
    name_zh: str
    floor: int
    seats: int
    features: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    needs_approval: bool = False


ROOMS = (
    DemoRoom("A301", "Maple", "枫叶厅", 3, 8, ("projector", "whiteboard"), ("301", "room 301")),
    DemoRoom("A302", "Bamboo", "翠竹厅", 3, 6, ("tv",)),
    DemoRoom("A305", "Cedar", "雪松厅", 3, 12, ("projector", "video_conference")),
    DemoRoom(
        "A501",
        "Banyan",
        "榕树厅",
        5,
        20,
        ("projector", "video_conference", "whiteboard"),
        needs_approval=True,
    ),
    DemoRoom("B201", "Harbour", "港湾厅", 2, 10, ("video_conference",)),
    DemoRoom("B202", "Lantern", "灯笼厅", 2, 4, ("whiteboard",)),
    DemoRoom(
        "B801",
        "Main Hall",
        "大礼堂",
        8,
        60,
        ("projector", "microphone"),
        ("大礼堂",),
        needs_approval=True,
    ),
)


@dataclass(frozen=True)
class DemoPerson:
    username: str
    name: str
    building: str
    language: str


PEOPLE = (
    DemoPerson("lilei", "李雷", "A", "zh-hans"),
    DemoPerson("wangfang", "王芳", "A", "zh-hans"),
    DemoPerson("hanmei", "韩梅", "B", "en"),
    DemoPerson("zhaoqiang", "赵强", "B", "en"),
)


@dataclass(frozen=True)
class DemoBooking:
    """`day` counts working days from today on, or from the next one if today is none."""

    room: str
    day: int
    starts: time
    ends: time
    organizer: str
    title: str
    headcount: int = 6
    visibility: str = Visibility.PUBLIC


BOOKINGS = (
    DemoBooking(
        "A301", 0, time(9, 30), time(11), "wangfang", "季度预算评审", 7, Visibility.PRIVATE
    ),
    DemoBooking("A305", 0, time(15), time(16), "lilei", "周会", 10),
    DemoBooking("B201", 1, time(14), time(15, 30), "lilei", "客户演示", 8),
    DemoBooking("A305", 1, time(15), time(17), "hanmei", "Design review", 9),
    DemoBooking("B201", 1, time(16), time(17), "zhaoqiang", "Supplier call", 5),
    DemoBooking("A305", 4, time(14), time(16), "hanmei", "Interviews", 4),
    DemoBooking("A501", 4, time(14), time(16), "hanmei", "All hands of the product team", 18),
    DemoBooking("B201", 4, time(14), time(16), "hanmei", "Interviews, second panel", 4),
)


@transaction.atomic
def load(*, now: datetime) -> None:
    """Everything: places, people, and bookings relative to `now`."""
    site = load_places(years=(now.year, now.year + 1))
    load_people()
    load_approvers()
    load_bookings(site, now=now)


def load_places(*, years: tuple[int, ...]) -> Site:
    """The site with its buildings, rooms and rules; New Year's Day of each year is closed."""
    site, _ = Site.objects.get_or_create(
        name_en="Headquarters", defaults={"name_zh": "总部", "time_zone": "Asia/Shanghai"}
    )
    new_year = {"name_en": "New Year's Day", "name_zh": "元旦"}
    SpecialDate.objects.bulk_create(
        [SpecialDate(site=site, date=date(year, 1, 1), **new_year) for year in years],
        ignore_conflicts=True,
    )
    _load_rooms(site)
    return site


def load_people() -> None:
    for each in PEOPLE:
        user = _user(each.username, each.name, is_admin=False)
        building = Building.objects.filter(code=each.building).order_by("pk").first()
        Profile.objects.get_or_create(
            user=user, defaults={"building": building, "language": each.language}
        )
    _user("admin", "Administrator", is_admin=True)


def load_approvers() -> None:
    """Wang Fang decides on requests, beside the administrator; a grant that is there stays."""
    group, is_new = Group.objects.get_or_create(name="Facilities")
    if is_new:
        group.user_set.add(User.objects.get(username="wangfang"))
        for policy in Policy.objects.all():
            Grant.objects.create(policy=policy, group=group, right=Grant.Right.APPROVE)


def load_bookings(site: Site, *, now: datetime) -> None:
    today = now.astimezone(site.zone).date()
    days = list(islice(working_days(site, today), 10))
    people = {user.username: user for user in User.objects.filter(username__in=_usernames())}
    morning = datetime.combine(days[0], time(0), site.zone)
    for number, each in enumerate(BOOKINGS):
        day = days[each.day]
        key = f"demo-{number}-{day.isoformat()}"
        if Booking.objects.filter(idempotency_key=key).exists():
            continue  # made before; whatever became of it since is somebody's decision
        try:
            services.book_room(
                organizer=people[each.organizer],
                room=each.room,
                starts_at=datetime.combine(day, each.starts, site.zone),
                ends_at=datetime.combine(day, each.ends, site.zone),
                headcount=each.headcount,
                title=each.title,
                visibility=each.visibility,
                source=Source.PORTAL,
                idempotency_key=key,
                now=morning,
            )
        except RoomUnavailable:
            continue  # somebody trying the demo was faster
    _stand_up(people["lilei"], site, today)


def working_days(site: Site, first: date) -> Iterator[date]:
    """The days from `first` on that are neither weekend nor closed."""
    closed = set(SpecialDate.objects.filter(site=site).values_list("date", flat=True))
    day = first
    while True:
        if day.isoweekday() <= OpeningHours.Weekday.FRIDAY and day not in closed:
            yield day
        day += timedelta(days=1)


def _usernames() -> list[str]:
    return [each.username for each in PEOPLE]


def _load_rooms(site: Site) -> None:
    """Rooms and what they stand on; rows that are there stay as people made them."""
    features = [
        Feature(code=code, name_en=name_en, name_zh=name_zh)
        for code, (name_en, name_zh) in FEATURES.items()
    ]
    Feature.objects.bulk_create(features, ignore_conflicts=True)
    buildings = [
        Building(site=site, code=code, name_en=f"Building {code}", name_zh=f"{code}座")
        for code in sorted({each.code[0] for each in ROOMS})
    ]
    Building.objects.bulk_create(buildings, ignore_conflicts=True)
    building_of = {building.code: building for building in site.buildings.all()}
    places = sorted({(each.code[0], each.floor) for each in ROOMS})
    Floor.objects.bulk_create(
        [Floor(building=building_of[code], number=number) for code, number in places],
        ignore_conflicts=True,
    )
    floors = Floor.objects.filter(building__in=building_of.values()).select_related("building")
    floor_of = {(floor.building.code, floor.number): floor for floor in floors}
    known = set(Room.objects.values_list("code", flat=True))
    policy = _policy()
    rooms = [
        Room(
            code=each.code,
            name_en=each.name_en,
            name_zh=each.name_zh,
            aliases=list(each.aliases),
            floor=floor_of[each.code[0], each.floor],
            seats=each.seats,
            policy=policy,
            needs_approval=each.needs_approval,
        )
        for each in ROOMS
        if each.code not in known
    ]
    _equip(Room.objects.bulk_create(rooms))


def _equip(rooms: list[Room]) -> None:
    """Give new rooms their features."""
    feature_of = {feature.code: feature for feature in Feature.objects.all()}
    wanted = {each.code: each.features for each in ROOMS}
    through = Room.features.through
    through.objects.bulk_create(
        [
            through(room_id=room.pk, feature_id=feature_of[code].pk)
            for room in rooms
            for code in wanted[room.code]
        ]
    )


def _policy() -> Policy:
    policy, is_new = Policy.objects.get_or_create(name="Office hours")
    if is_new:
        weekdays = range(OpeningHours.Weekday.MONDAY, OpeningHours.Weekday.SATURDAY)
        OpeningHours.objects.bulk_create(
            OpeningHours(policy=policy, weekday=weekday, opens=time(8), closes=time(21))
            for weekday in weekdays
        )
    return policy


def _user(username: str, name: str, *, is_admin: bool) -> User:
    user, is_new = User.objects.get_or_create(
        username=username,
        defaults={"first_name": name, "is_staff": is_admin, "is_superuser": is_admin},
    )
    if is_new:
        user.set_password(PASSWORD)
        user.save(update_fields=["password"])
    return user


def _stand_up(organizer: User, site: Site, today: date) -> None:
    """A weekly series: Wednesdays at nine in A302, made once."""
    key = "demo-stand-up"
    if Booking.objects.filter(organizer=organizer, idempotency_key=key).exists():
        return
    services.book_series(
        organizer=organizer,
        room="A302",
        first=today,
        start=time(9),
        minutes=30,
        recurrence=f"FREQ=WEEKLY;BYDAY=WE;COUNT={STAND_UPS}",
        on_clash=services.OnClash.SKIP,
        headcount=5,
        title="站会",
        source=Source.PORTAL,
        idempotency_key=key,
        now=datetime.combine(today, time(0), site.zone),
    )
