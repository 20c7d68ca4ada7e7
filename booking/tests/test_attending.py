"""Checking in by chat: what is due is checked in to, and what is not is explained."""

from datetime import timedelta

import pytest

from agentruntime.models import Effect
from agentruntime.persistence.pools import in_db_thread
from booking.agent import tools
from booking.agent.attending import why_not
from booking.models import Booking, Occurrence, Policy, Status
from booking.services import release_no_shows
from booking.tests import conversing, world
from booking.tests.conversing import outcome
from booking.tests.world import user

DAY = "2027-03-02"
FIXTURE = {
    "bookings": [
        {"id": 1, "room": "B201", "start": f"{DAY}T14:00", "end": f"{DAY}T15:30",
         "organizer": "u1001", "title": "Pitch"},
        {"id": 2, "room": "A301", "start": f"{DAY}T15:30", "end": f"{DAY}T16:30",
         "organizer": "u1001", "title": "Review"},
        {"id": 3, "room": "A302", "start": f"{DAY}T14:00", "end": f"{DAY}T15:30",
         "organizer": "u2002", "title": "Salary talk", "visibility": "private"},
    ],
    "series": [
        {"id": 7, "room": "A302", "start": "2027-03-03T09:00", "minutes": 30, "title": "晨会",
         "rrule": "FREQ=WEEKLY;BYDAY=WE;UNTIL=20270331T150000Z", "organizer": "u1001"},
    ],
}  # fmt: skip


def at(wall, day=DAY):
    return f"{day}T{wall}:00+08:00"


@pytest.fixture
def talk(transactional_db):
    async def say(*texts, now):
        played, found = await conversing.talk(*texts, now=now, fixture=FIXTURE)
        return played, found.bookings

    return say


async def statuses(booking):
    def read():
        found = Occurrence.objects.filter(booking=booking).order_by("during")
        return [each.status for each in found]

    return await in_db_thread(read)


@pytest.mark.parametrize("words", ["我到了", "I'm here", "check me in", "签到"])
async def test_being_here_checks_in_to_the_one_booking_that_is_due(talk, words):
    played, ids = await talk(words, now=at("13:50"))

    assert played.classification == ["check_in"]
    assert (played.phase, outcome(played)) == ("IDLE", "checked_in")
    assert await statuses(ids[1]) == [Status.CHECKED_IN]
    assert await statuses(ids[3]) == [Status.BOOKED]


async def test_being_here_twice_is_once(talk):
    played, ids = await talk("我到了", "我到了", now=at("14:05"))

    assert "已经签到" in played.words[-1]
    effects = await in_db_thread(lambda: list(Effect.objects.values_list("name", flat=True)))
    assert effects == ["check_in"]
    assert await in_db_thread(lambda: Booking.objects.get(pk=ids[1]).version) == 2


async def test_one_date_of_a_series_is_checked_in_to(talk):
    _, ids = await talk("我到了", now=at("08:55", day="2027-03-03"))

    assert await statuses(ids[7]) == [Status.CHECKED_IN, *[Status.BOOKED] * 4]


async def test_too_early_says_what_is_next_and_when_it_opens(talk):
    played, ids = await talk("I'm here", now=at("10:00"))

    assert (played.phase, outcome(played)) == ("IDLE", "answered")
    assert "B201" in played.words[-1]
    assert "13:45" in played.words[-1]
    assert await statuses(ids[1]) == [Status.BOOKED]


async def test_which_of_several_is_asked(talk):
    played, ids = await talk("我到了", "第二个", now=at("15:20"))

    assert played.classification == ["check_in", "select"]
    assert (await statuses(ids[1]), await statuses(ids[2])) == (
        [Status.BOOKED],
        [Status.CHECKED_IN],
    )


async def test_the_named_one_of_several_is_checked_in_to(talk):
    _, ids = await talk("I am in A301", now=at("15:20"))

    assert (await statuses(ids[1]), await statuses(ids[2])) == (
        [Status.BOOKED],
        [Status.CHECKED_IN],
    )


async def test_another_persons_room_is_not_checked_in_to(talk):
    played, ids = await talk("I'm in A302 for the Salary talk, check me in", now=at("14:00"))

    assert "Salary" not in played.words[-1]
    assert await statuses(ids[1]) == [Status.BOOKED]
    assert await statuses(ids[3]) == [Status.BOOKED]


def test_too_late_says_until_when(db):
    world.build()
    occurrence = Occurrence.objects.get(booking__title="Weekly")
    Policy.objects.update(needs_check_in=True)
    released = occurrence.starts_at + timedelta(minutes=10)
    Occurrence.objects.filter(pk=occurrence.pk).update(lapses_at=released)
    later = released + timedelta(minutes=5)

    before_the_chore = tools.attendance(user("lilei").pk, now=later)
    release_no_shows(now=later)
    after_it = tools.attendance(user("lilei").pk, now=later)

    for there in (before_the_chore, after_it):
        assert "15:10" in why_not(there, "en")
        assert "A305" in why_not(there, "zh")


async def test_a_draft_stays_as_it_was(talk):
    played, ids = await talk("明天下午两点订个会议室", "我到了", "8个人，一小时", now=at("13:50"))

    assert await statuses(ids[1]) == [Status.CHECKED_IN]
    assert played.phase == "AWAITING_SELECTION"
    assert played.slots["start_time"] == "14:00"
    assert played.slots["date"] == "2027-03-03"
