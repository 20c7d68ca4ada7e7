"""Series booked by chat: rooms date by date, and exactly the dates that the yes was asked for."""

from datetime import date, timedelta

import pytest

from agentruntime.persistence.pools import in_db_thread
from booking.agent.repeating import rule_of
from booking.models import Booking, SeriesException
from booking.tests import conversing
from booking.tests.conversing import rows, stands

NOW = "2027-03-01T09:00:00+08:00"  # a Monday
TUESDAYS = [date(2027, 3, 2) + timedelta(weeks=week) for week in range(4)]
FIXTURE = {
    "bookings": [
        {"id": number, "room": room, "start": f"2027-03-09T{start}", "end": "2027-03-09T16:00",
         "organizer": "u2002", "title": "Salary talk", "visibility": "private"}
        for number, (room, start) in enumerate(
            [("A301", "15:00"), ("A305", "14:00")], start=1
        )
    ],
    "series": [],
}  # fmt: skip


@pytest.fixture
def talk(transactional_db):
    return conversing.talker(FIXTURE, now=NOW)


async def dates(booking):
    return [day for day, _room, _start in await stands(booking)]


async def test_rooms_that_are_free_on_every_date_come_first(talk):
    played = await talk("every Tuesday 3pm for 4 weeks, one hour, 8 people")

    assert played.candidates == ["B201", "A501", "A301"]
    reasons = [card["reason"] for card in played.dialogue["candidates"]]
    assert reasons[0].startswith("free on all 4 dates")
    assert reasons[2].startswith("free on 3 of 4 dates, not on Tue 9 Mar")


async def test_rooms_that_lack_fewer_dates_come_before_better_fitting_ones(transactional_db):
    lacking = {"A301": (9, 16), "A305": (9,), "B201": (9, 16, 23)}
    held = [(room, day) for room, days in lacking.items() for day in days]
    fixture = {
        "bookings": [
            {"id": number, "room": room, "start": f"2027-03-{day:02}T15:00",
             "end": f"2027-03-{day:02}T16:00", "organizer": "u2003", "title": "Audit"}
            for number, (room, day) in enumerate(held, start=1)
        ],
        "series": [],
    }  # fmt: skip
    words = "every Tuesday 3pm for 4 weeks, one hour, 8 people"
    played, _world = await conversing.talk(words, now=NOW, fixture=fixture)

    assert played.candidates == ["A501", "A305", "A301"]


async def test_a_series_is_booked_as_it_was_confirmed(talk):
    played = await talk("每周二下午3点，1小时，8个人，连续4次", "B201", "确认")

    assert played.phase == "BOOKED"
    assert await dates(played.result["booking_id"]) == TUESDAYS
    booking = await in_db_thread(lambda: Booking.objects.get(pk=played.result["booking_id"]))
    assert booking.recurrence == "FREQ=WEEKLY;COUNT=4;BYDAY=TU"
    assert booking.effect_id


async def test_dates_that_cannot_be_had_are_named_and_then_left_out(talk):
    played = await talk("every Tuesday 3pm for 4 weeks, one hour, 8 people, A301", "yes")

    made = played.result["booking_id"]
    assert await dates(made) == [day for day in TUESDAYS if day != TUESDAYS[1]]
    skipped = await in_db_thread(
        lambda: list(SeriesException.objects.filter(booking=made).values_list("date", flat=True))
    )
    assert skipped == [TUESDAYS[1]]


async def test_what_is_left_out_says_no_more_than_taken(talk):
    played = await talk("every Tuesday 3pm for 4 weeks, one hour, 8 people, A301")

    assert rows(played)["left_out"] == "Tue 9 Mar: taken"
    assert rows(played)["dates"].startswith("3: Tue 2 Mar")
    assert "Salary" not in str(played.dialogue)


async def test_a_no_books_nothing(talk):
    played = await talk("every Tuesday 3pm for 4 weeks, one hour, 8 people, B201", "no")

    assert played.writes == []


async def test_a_series_without_an_end_goes_as_far_as_can_be_booked_and_says_so(talk):
    played = await talk("每周二下午3点，1小时，8个人")

    assert played.phase == "AWAITING_SELECTION"
    assert played.slots["recurrence"]["until"] == "2027-05-30"  # ninety days on
    assert "recurrence" in played.dialogue["assumed"]
    assert "5月30日" in played.words[-1]


async def test_a_series_beyond_what_can_be_booked_is_asked_for_its_end(talk):
    played = await talk("every Tuesday 3pm until the end of June, 8 people, one hour", "May 4")

    assert "2027-05-30" in played.words[0]
    assert played.slots["date"] == "2027-03-02"
    assert played.slots["recurrence"]["until"] == "2027-05-04"
    assert played.phase == "AWAITING_SELECTION"


@pytest.mark.parametrize(
    ("recurrence", "rule"),
    [
        ({"freq": "WEEKLY", "byday": ["MO", "TH"], "count": 6}, "FREQ=WEEKLY;COUNT=6;BYDAY=MO,TH"),
        (
            {"freq": "WEEKLY", "byday": ["MO"], "interval": 2, "until": "2026-12-31"},
            "FREQ=WEEKLY;INTERVAL=2;UNTIL=20261231;BYDAY=MO",
        ),
        ({"freq": "DAILY", "byday": [], "count": 3}, "FREQ=DAILY;COUNT=3"),
        (
            {"freq": "DAILY", "byday": [], "count": 3, "until": "2026-12-31"},
            "FREQ=DAILY;UNTIL=20261231",
        ),
    ],
)
def test_a_recurrence_is_a_rule_that_series_have(recurrence, rule):
    assert rule_of(recurrence) == rule


def test_a_month_by_its_day_or_by_its_weekday_is_a_rule():
    monthly = {"freq": "MONTHLY", "interval": None, "count": 3, "until": None}
    assert rule_of({**monthly, "byday": [], "bymonthday": [1]}) == (
        "FREQ=MONTHLY;COUNT=3;BYMONTHDAY=1"
    )
    assert rule_of({**monthly, "byday": ["1MO"]}) == "FREQ=MONTHLY;COUNT=3;BYDAY=1MO"
