from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import Permission, User

from booking import selectors, services
from booking.intervals import Interval
from booking.models import Building, Grant, Policy, Room, Site
from booking.tests import world
from booking.tests.world import NOW, TODAY, TOMORROW, at, book, user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _world(db):
    world.build()


def grid(viewer="lilei", day=TOMORROW, **more):
    found = selectors.day_grid(viewer=user(viewer), day=day, now=NOW, **more)
    return {each.facts.code: each for each in found}


def test_a_day_shows_what_is_in_each_room_and_what_is_free():
    rooms = grid()
    assert list(rooms) == ["A301", "A302", "A305", "A501", "B201", "B202", "B801"]
    harbour = rooms["B201"]
    assert [(each.title, each.organizer, each.is_mine) for each in harbour.uses] == [
        ("Demo", "李雷", True),
        ("Call", "赵强", False),
    ]
    assert harbour.free == (
        Interval(at(TOMORROW, "08:00"), at(TOMORROW, "14:00")),
        Interval(at(TOMORROW, "15:30"), at(TOMORROW, "16:00")),
        Interval(at(TOMORROW, "17:00"), at(TOMORROW, "21:00")),
    )
    assert rooms["A302"].free == rooms["A302"].hours


def test_rooms_are_chosen_by_building_seats_features_and_code():
    assert list(grid(building="B")) == ["B201", "B202", "B801"]
    assert list(grid(seats=20)) == ["A501", "B801"]
    assert list(grid(features=["projector", "whiteboard"])) == ["A301", "A501"]
    assert list(grid(room="A302")) == ["A302"]
    assert list(grid(site=Site.objects.get().pk)) == list(grid())
    assert grid(building="Z") == {}


def test_a_private_booking_is_a_busy_room_to_others():
    [masked] = grid("lilei", day=TODAY)["A301"].uses
    assert (masked.is_masked, masked.booking, masked.title, masked.organizer) == (
        True,
        None,
        None,
        None,
    )
    assert masked.kind == "booked"
    [own] = grid("wangfang", day=TODAY)["A301"].uses
    assert (own.title, own.is_mine) == ("Secret budget", True)
    [all_seeing] = grid("admin", day=TODAY)["A301"].uses
    assert all_seeing.title == "Secret budget"
    warden = User.objects.create(username="warden")
    warden.user_permissions.add(Permission.objects.get(codename="view_private_booking"))
    assert grid("warden", day=TODAY)["A301"].uses[0].title == "Secret budget"


def test_blackouts_of_a_building_are_in_all_its_rooms():
    building = Building.objects.get(code="A")
    services.close_rooms(
        place=building,
        starts_at=at(TOMORROW, "08:00"),
        ends_at=at(TOMORROW, "12:00"),
        reason="Power cut",
        settlements={},
        by=user("admin"),
        now=NOW,
        source="admin",
    )
    rooms = grid()
    assert [each.title for each in rooms["A302"].uses] == ["Power cut"]
    assert rooms["A302"].uses[0].kind == "blackout"
    assert rooms["A302"].free == (Interval(at(TOMORROW, "12:00"), at(TOMORROW, "21:00")),)
    assert rooms["B202"].uses == ()


def test_buffers_are_not_free_and_lapsed_bookings_are():
    Policy.objects.update(buffer_after_minutes=30, request_hours=1)
    book("A302", TOMORROW, "10:00", "11:00")
    book("A501", TOMORROW, "10:00", "11:00")
    free = grid()["A302"].free
    assert free[1].starts_at == at(TOMORROW, "11:30")
    later = selectors.day_grid(
        viewer=user("lilei"), day=TOMORROW, now=NOW + timedelta(hours=1), room="A501"
    )
    assert later[0].uses == ()


def test_a_hidden_room_is_not_in_the_grid(django_user_model):
    from django.contrib.auth.models import Group

    Grant.objects.create(
        policy=Policy.objects.get(), group=Group.objects.create(name="x"), right="see"
    )
    assert grid() == {}


@pytest.mark.parametrize("viewer", ["lilei", "admin"])
def test_any_number_of_rooms_takes_three_queries(django_assert_num_queries, viewer):
    policy, floor = Policy.objects.get(), Room.objects.first().floor
    Room.objects.bulk_create(
        Room(code=f"X{n:03}", name_en="x", name_zh="x", seats=4, floor=floor, policy=policy)
        for n in range(100)
    )
    person = User.objects.get(username=viewer)
    with django_assert_num_queries(3):
        found = selectors.day_grid(viewer=person, day=TODAY, now=NOW)
    assert len(found) == 107


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2027, 3, 28), 23), (date(2026, 12, 1), 24), (date(2026, 10, 25), 25)]
)
def test_a_day_is_as_long_as_it_is(day, hours):
    Site.objects.update(time_zone="Europe/Berlin")
    now = datetime(2026, 10, 20, tzinfo=ZoneInfo("UTC"))
    found = selectors.day_grid(viewer=user("lilei"), day=day, now=now)
    assert {each.day.duration for each in found} == {timedelta(hours=hours)}


def test_rooms_of_sites_in_other_zones_have_their_own_day():
    other = Site.objects.create(name_en="Pune", name_zh="浦那", time_zone="Asia/Kolkata")
    building = Building.objects.create(site=other, code="P", name_en="P", name_zh="P")
    floor = building.floors.create(number=1)
    Room.objects.create(
        code="P101", name_en="x", name_zh="x", seats=4, floor=floor, policy=Policy.objects.get()
    )
    rooms = grid()
    assert rooms["P101"].day.starts_at - rooms["A302"].day.starts_at == timedelta(hours=2.5)
    assert rooms["P101"].hours[0].starts_at.astimezone(ZoneInfo("Asia/Kolkata")).hour == 8
