from datetime import date, datetime, timedelta
from io import StringIO

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from booking import demo, selectors, services
from booking.models import Booking, Occurrence, OpeningHours, Room, Source
from booking.tests.world import NOW, SHANGHAI, at

pytestmark = pytest.mark.django_db
SATURDAY = datetime(2027, 1, 2, 12, tzinfo=SHANGHAI)


@pytest.fixture(autouse=True)
def _cheap_passwords(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.DEBUG = True


def test_the_command_prints_how_to_sign_in(client):
    out = StringIO()
    with time_machine.travel(NOW, tick=False):
        call_command("load_demo", stdout=out)
    for username in ("lilei", "wangfang", "hanmei", "zhaoqiang", "admin"):
        assert username in out.getvalue()
        assert client.login(username=username, password="roomwise-demo")
    assert "roomwise-demo" in out.getvalue()
    assert list(User.objects.filter(is_staff=True).values_list("username", flat=True)) == ["admin"]


def test_outside_debug_the_command_refuses_and_writes_nothing(settings):
    settings.DEBUG = False
    with pytest.raises(CommandError, match="DEBUG"):
        call_command("load_demo")
    assert not User.objects.exists()


def test_loading_twice_changes_nothing():
    demo.load(now=NOW)
    rows = [
        list(model.objects.order_by("pk").values()) for model in (Booking, Occurrence, Room, User)
    ]
    demo.load(now=NOW + timedelta(hours=3))
    assert rows == [
        list(model.objects.order_by("pk").values()) for model in (Booking, Occurrence, Room, User)
    ]


def test_somebody_decides_on_the_demos_requests():
    demo.load(now=NOW)
    [request] = selectors.requests_for(User.objects.get(username="wangfang"), now=NOW)
    assert request.room.code == "A501"
    assert not selectors.requests_for(User.objects.get(username="lilei"), now=NOW)


def test_the_first_working_day_looks_alive_on_a_weekend_too():
    demo.load(now=SATURDAY)
    monday = date(2027, 1, 4)
    [weekly] = selectors.bookings_of(
        User.objects.get(username="lilei"),
        starts_at=at(monday, "00:00"),
        ends_at=at(monday + timedelta(days=1), "00:00"),
    )
    assert weekly.room.code == "A305"
    days = set(Occurrence.objects.values_list("starts_at__iso_week_day", flat=True))
    assert max(days) <= OpeningHours.Weekday.FRIDAY


def test_what_people_did_with_the_demo_stays():
    demo.load(now=NOW)
    lilei = User.objects.get(username="lilei")
    weekly = selectors.bookings_of(lilei)[0]
    services.cancel_booking(weekly.pk, by=lilei, now=NOW, source=Source.PORTAL)
    demo.load(now=NOW)
    assert Booking.objects.get(pk=weekly.pk).status == "cancelled"


def test_a_demo_slot_somebody_took_is_left_to_them():
    demo.load_places(years=(2026,))
    demo.load_people()
    other = User.objects.get(username="zhaoqiang")
    services.book_room(
        organizer=other,
        room="A305",
        starts_at=at(NOW.date(), "15:30"),
        ends_at=at(NOW.date(), "16:30"),
        headcount=2,
        source=Source.PORTAL,
        idempotency_key="k",
        now=NOW,
    )
    wednesday = NOW.date() + timedelta(days=2)
    services.book_room(
        organizer=other,
        room="A302",
        starts_at=at(wednesday, "09:15"),
        ends_at=at(wednesday, "10:00"),
        headcount=2,
        source=Source.PORTAL,
        idempotency_key="w",
        now=NOW,
    )
    demo.load(now=NOW)
    assert Occurrence.objects.filter(booking__title="站会").count() == demo.STAND_UPS - 1
    assert not Booking.objects.filter(title="周会").exists()
    assert Booking.objects.filter(title="客户演示").exists()


def test_the_stand_up_keeps_its_wall_time_and_skips_closed_days():
    demo.load(now=datetime(2030, 12, 20, 12, tzinfo=SHANGHAI))
    [series] = Booking.objects.filter(recurrence__gt="")
    walls = {
        each.starts_at.astimezone(SHANGHAI).strftime("%a %H:%M")
        for each in series.occurrences.all()
    }
    assert walls == {"Wed 09:00"}
    days = {each.recurrence_date for each in series.occurrences.all()}
    assert len(days) == demo.STAND_UPS - 1
    assert date(2031, 1, 1) not in days  # a Wednesday
    demo.load(now=NOW)
    assert Booking.objects.filter(recurrence__gt="").count() == 1
