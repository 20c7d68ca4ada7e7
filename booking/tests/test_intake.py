"""Bookings that arrive as calendar messages."""

import io
from datetime import timedelta

import pytest
import time_machine
from django.core.management import CommandError, call_command

from booking.calendar import intake, messages
from booking.exceptions import (
    BookingError,
    BookingNotFound,
    InvalidBooking,
    RoomNotFound,
    RoomUnavailable,
    SeriesClash,
)
from booking.models import Booking
from booking.tests import world
from booking.tests.weekly import week
from booking.tests.world import NOW, TOMORROW, at, book, user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _world(db):
    world.build()


def message(*lines, method="REQUEST", **more):
    values = {
        "UID": "abc@elsewhere",
        "DTSTAMP": "20261130T020000Z",
        "DTSTART;TZID=Asia/Shanghai": "20261201T100000",
        "DTEND;TZID=Asia/Shanghai": "20261201T110000",
        "SUMMARY": "Plan",
        "LOCATION": "Headquarters\\, room A302",
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    event = [f"{name}:{value}" for name, value in values.items() if value is not None]
    text = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//x//x//EN",
        f"METHOD:{method}",
        "BEGIN:VEVENT",
        *event,
        *lines,
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return "\r\n".join(text).encode()


def take(content, *, who="lilei", **more):
    return intake.take(content, person=user(who), now=NOW, **more)


def test_a_request_books_the_room_its_location_names():
    [made] = take(message(), headcount=4)
    assert (made.room.code, made.starts_at, made.ends_at) == (
        "A302",
        at(TOMORROW, "10:00"),
        at(TOMORROW, "11:00"),
    )
    assert (made.title, made.source, made.headcount) == ("Plan", "calendar", 4)
    assert made.organizer == user("lilei")


def test_the_same_message_again_changes_nothing():
    [made], [again] = take(message()), take(message())
    assert (again.pk, again.version) == (made.pk, 1)


def test_a_newer_message_of_the_same_identity_changes_it():
    [made] = take(message())
    moved = {
        "DTSTART;TZID=Asia/Shanghai": "20261201T140000",
        "DTEND;TZID=Asia/Shanghai": "20261201T150000",
    }
    [changed] = take(message(**moved, SUMMARY="New plan", CLASS="PRIVATE", LOCATION="B202"))
    assert changed.pk == made.pk
    assert (changed.room.code, changed.starts_at) == ("B202", at(TOMORROW, "14:00"))
    assert (changed.title, changed.visibility) == ("New plan", "private")


def test_a_cancel_cancels_ones_own_only():
    [made] = take(message())
    with pytest.raises(BookingNotFound):
        take(message(method="CANCEL"), who="hanmei")
    [gone] = take(message(method="CANCEL"))
    assert (gone.pk, gone.status) == (made.pk, "cancelled")


def test_a_series_arrives_with_its_rule_and_loses_a_date():
    rule = {
        "RRULE": "FREQ=WEEKLY;COUNT=3",
        "DTSTART;TZID=Asia/Shanghai": "20261203T100000",
        "DTEND;TZID=Asia/Shanghai": "20261203T110000",
    }
    [made] = take(message(**rule))
    days = [each.recurrence_date for each in made.occurrences.all()]
    assert days == [week(0), week(1), week(2)]
    one = {"RECURRENCE_ID;TZID=Asia/Shanghai": "20261210T100000"}
    take(message(method="CANCEL", **one))
    statuses = [each.status for each in Booking.objects.get(pk=made.pk).occurrences.all()]
    assert statuses == ["booked", "cancelled", "booked"]
    with pytest.raises(SeriesClash):
        take(message(**rule, UID="other"), who="hanmei")


def test_a_room_that_is_taken_is_refused_as_at_every_door():
    book("A302", TOMORROW, "10:30", "11:30", organizer=user("hanmei"))
    with pytest.raises(RoomUnavailable):
        take(message())
    assert not Booking.objects.filter(source="calendar").exists()


def test_what_this_system_sends_can_be_brought_back():
    """A person who forwards an invitation of a booking books nothing twice in its room."""
    booking = book("A302", TOMORROW, "10:00", "11:00")
    loaded = Booking.objects.with_occurrences().get(pk=booking.pk)
    _method, content = messages.itip(loaded, booking.organizer, now=NOW)
    with pytest.raises(RoomUnavailable):
        take(content, who="hanmei")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", InvalidBooking),
        (b"\x00\xff\xfe", InvalidBooking),
        (b"BEGIN:VCALENDAR\r\nEND:VCALENDAR", InvalidBooking),
        (b"x" * (intake.MAX_BYTES + 1), InvalidBooking),
        (message(UID=None), InvalidBooking),
        (message(UID="x" * 300), InvalidBooking),
        (message(LOCATION=None), RoomNotFound),
        (message(LOCATION="A302 or B202"), RoomNotFound),
        (message(LOCATION="Z999"), RoomNotFound),
        (message(**{"DTSTART;TZID=Asia/Shanghai": "tomorrow"}), InvalidBooking),
        (message(**{"DTEND;TZID=Asia/Shanghai": None}), InvalidBooking),
        (message(RRULE="FREQ=WEEKLY"), InvalidBooking),
        (message(RRULE="FREQ=SECONDLY;COUNT=5"), InvalidBooking),
        (
            message(
                **{
                    "DTSTART;TZID=Asia/Shanghai": None,
                    "DTEND;TZID=Asia/Shanghai": None,
                    "DTSTART;VALUE=DATE": "20261201",
                    "DTEND;VALUE=DATE": "20261202",
                }
            ),
            InvalidBooking,
        ),
        (message(SUMMARY="x" * 300), InvalidBooking),
        (message(method="CANCEL"), BookingNotFound),
    ],
)
def test_what_makes_no_sense_is_said_and_nothing_is_written(content, error):
    count = Booking.objects.count()
    with pytest.raises(error) as caught:
        take(content)
    assert isinstance(caught.value, BookingError)
    assert caught.value.message("zh-hans")
    assert Booking.objects.count() == count


def test_a_time_without_a_zone_is_the_rooms():
    bare = {
        "DTSTART;TZID=Asia/Shanghai": None,
        "DTEND;TZID=Asia/Shanghai": None,
        "DTSTART": "20261201T100000",
        "DURATION": "PT45M",
    }
    [made] = take(message(**bare))
    assert (made.starts_at, made.ends_at - made.starts_at) == (
        at(TOMORROW, "10:00"),
        timedelta(minutes=45),
    )


def test_the_command_takes_a_message_from_a_mail_server(monkeypatch):
    class Piped:
        buffer = io.BytesIO(message())

    out = io.StringIO()
    monkeypatch.setattr("sys.stdin", Piped())
    with time_machine.travel(NOW, tick=False):
        call_command("take_calendar", "lilei", stdout=out)
        assert "A302 booked" in out.getvalue()
        Piped.buffer = io.BytesIO(message(UID="other"))
        with pytest.raises(CommandError, match="taken"):
            call_command("take_calendar", "hanmei")
        with pytest.raises(CommandError, match="not one user"):
            call_command("take_calendar", "nobody")
