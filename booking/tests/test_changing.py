"""Changes of stored bookings by chat, from the words to what stands in the database."""

from datetime import date, time, timedelta

import pytest

from agentruntime.persistence.pools import in_db_thread
from booking.models import Booking
from booking.tests import conversing
from booking.tests.conversing import outcome, rows, stands

NOW = "2027-03-01T09:00:00+08:00"  # a Monday
FIXTURE = {
    "bookings": [
        {"id": 1, "room": "B201", "start": "2027-03-02T14:00", "end": "2027-03-02T15:30",
         "organizer": "u1001", "title": "Pitch", "headcount": 8},
        {"id": 2, "room": "B201", "start": "2027-03-02T16:00", "end": "2027-03-02T17:00",
         "organizer": "u2002", "title": "Salary talk", "visibility": "private"},
        {"id": 3, "room": "A302", "start": "2027-03-17T10:00", "end": "2027-03-17T11:00",
         "organizer": "u2003", "title": "Audit"},
    ],
    "series": [
        {"id": 7, "room": "A302", "start": "2027-03-03T09:00", "minutes": 30, "title": "晨会",
         "rrule": "FREQ=WEEKLY;BYDAY=WE;UNTIL=20270331T150000Z", "organizer": "u1001"},
    ],
}  # fmt: skip
WEDNESDAYS = [date(2027, 3, 3) + timedelta(weeks=week) for week in range(5)]
NINE, TEN = time(9), time(10)


@pytest.fixture
def talk(transactional_db):
    """Say these one after the other; what came of it, and our booking ids by the fixture's."""

    async def say(*texts):
        played, world = await conversing.talk(*texts, now=NOW, fixture=FIXTURE)
        return played, world.bookings

    return say


async def test_one_date_of_a_series_moves_and_the_others_stay(talk):
    played, ids = await talk("把下周三的晨会改到10点", "确认")

    assert played.phase == "IDLE"
    assert await stands(ids[7]) == [
        (day, "A302", TEN if day == WEDNESDAYS[1] else NINE) for day in WEDNESDAYS
    ]


async def test_what_is_said_before_the_yes_changes_what_the_yes_does(talk):
    played, ids = await talk("move the 晨会 of next Wednesday to 10", "no, 11 am", "yes")

    assert played.classification == ["modify_booking", "correction", "confirm"]
    assert (WEDNESDAYS[1], "A302", time(11)) in await stands(ids[7])


@pytest.mark.parametrize(
    ("scope", "kept"),
    [
        ("only this one", WEDNESDAYS[1:]),
        ("这次及以后", []),
        ("the whole series", []),
    ],
)
async def test_how_much_of_a_series_is_cancelled_is_asked_and_confirmed(talk, scope, kept):
    played, ids = await talk("cancel my 晨会", scope, "yes")

    assert played.phase == "IDLE"
    assert await stands(ids[7]) == [(day, "A302", NINE) for day in kept]


async def test_nothing_is_cancelled_before_it_is_known_how_much(talk):
    played, ids = await talk("cancel my 晨会", "yes")

    assert (played.phase, outcome(played)) == ("CONFIRMING", "asked")
    assert played.dialogue["question"]["data"]["missing"] == ["scope"]
    assert len(await stands(ids[7])) == 5


async def test_a_no_keeps_the_series(talk):
    played, ids = await talk("晨会从下周开始取消", "不用了")

    assert played.phase == "IDLE"
    assert len(await stands(ids[7])) == 5


async def test_dates_that_cannot_be_had_are_named_before_the_yes_and_given_up_by_it(talk):
    asked, _ = await talk("晨会以后都改到10点")
    assert "3月17日" in rows(asked)["left_out"]
    assert rows(asked)["dates"].startswith("4 ")


async def test_the_yes_to_a_change_of_all_dates_moves_those_that_were_promised(talk):
    played, ids = await talk("晨会从下周开始改到10点", "确认")

    assert await stands(ids[7]) == [(WEDNESDAYS[0], "A302", NINE)]
    assert await stands(played.result["booking_id"]) == [
        (day, "A302", TEN) for day in (WEDNESDAYS[1], WEDNESDAYS[3], WEDNESDAYS[4])
    ]
    assert played.result["dates"] == 3


async def test_a_series_moves_to_another_weekday(talk):
    played, _ = await talk("把晨会都改到每周四", "确认")

    thursdays = [day + timedelta(days=1) for day in WEDNESDAYS[:4]]
    assert await stands(played.result["booking_id"]) == [(day, "A302", NINE) for day in thursdays]


async def test_a_day_on_which_a_series_is_not_is_said_with_the_next_one(talk):
    played, ids = await talk("cancel the 晨会 on Friday")

    assert played.phase == "IDLE"
    assert "Wed 3 Mar" in played.words[-1]
    assert len(await stands(ids[7])) == 5


async def test_a_change_that_cannot_be_is_answered_with_what_can(talk):
    played, ids = await talk("move the Pitch to 4pm in B201", "the first one", "yes")

    assert played.classification == ["modify_booking", "select", "confirm"]
    assert await stands(ids[1]) == [(date(2027, 3, 2), "B201", time(17))]


async def test_a_time_at_which_the_room_is_taken_is_offered_in_other_rooms_first(talk):
    asked, _ = await talk("move the Pitch to 4pm")
    cards = asked.dialogue["candidates"]
    rooms = [card for card in cards if card.get("starts_at") is None]
    assert rooms
    assert cards[: len(rooms)] == rooms
    assert not any(card["needs_approval"] for card in rooms)
    other = cards[len(rooms)]
    assert (other["room"], other["starts_at"][11:16]) == ("B201", "17:00")

    _, ids = await talk("move the Pitch to 4pm", "the first one", "yes")
    assert await stands(ids[1]) == [(date(2027, 3, 2), cards[0]["room"], time(16))]


async def test_who_has_the_room_is_not_said_when_a_change_is_refused(talk):
    played, _ = await talk("move the Pitch to 4pm")

    told = str(played.dialogue["question"]) + played.words[-1]
    assert "B201 is taken then." in told
    assert "Salary" not in told
    assert "王芳" not in told


async def test_a_change_against_a_rule_names_it_and_the_nearest_slot(talk):
    played, ids = await talk("把Pitch改到晚上11点", "晚上7点", "好的")

    assert "08:00" in played.words[0]
    assert "20:00" in played.words[0] or "19:30" in played.words[0]
    assert await stands(ids[1]) == [(date(2027, 3, 2), "B201", time(19))]


async def test_which_of_several_bookings_is_asked_with_a_card_each(talk):
    played, ids = await talk("cancel my meeting", "the first one", "yes")

    assert played.classification == ["cancel_booking", "select", "confirm"]
    assert await stands(ids[1]) == []
    assert len(await stands(ids[7])) == 5


async def test_a_booking_of_another_person_is_not_found_by_its_number(talk):
    played, ids = await talk("cancel booking 2")

    assert played.phase == "IDLE"
    assert await in_db_thread(lambda: Booking.objects.get(pk=ids[2]).version) == 1


async def test_what_a_day_does_not_have_is_not_taken_for_something_else(talk):
    played, _ = await talk("cancel my meeting on Friday")

    assert (played.phase, outcome(played)) == ("IDLE", "no_booking")


async def test_a_change_without_a_new_value_is_asked_about(talk):
    played, ids = await talk("I want to change the Pitch", "Thursday", "yes")

    assert played.classification[1:] == ["correction", "confirm"]
    assert await stands(ids[1]) == [(date(2027, 3, 4), "B201", time(14))]


async def test_a_time_that_cannot_be_is_asked_about_and_not_guessed(talk):
    played, _ = await talk("把Pitch改到25点")

    assert (played.phase, outcome(played)) == ("CONFIRMING", "asked")
    assert played.dialogue["question"]["data"]["missing"] == ["start_time"]
    assert "25" in played.words[-1]


async def test_what_is_said_after_a_change_is_about_the_changed_booking(talk):
    _, ids = await talk("move the Pitch to Thursday", "yes", "actually 3pm", "yes")

    assert await stands(ids[1]) == [(date(2027, 3, 4), "B201", time(15))]


async def test_a_bigger_room_than_the_one_that_was_booked_is_proposed(talk):
    played, _ = await talk("订A302，明天上午10点，1小时，4个人", "确认", "换一间大一点的")

    after = rows(played)["after"]
    assert played.phase == "CONFIRMING"
    assert after.startswith(("A301", "A305", "B201"))


@pytest.mark.parametrize("answer", ["yes", "no"])
async def test_a_draft_waits_while_a_stored_booking_is_changed(talk, answer):
    played, ids = await talk("Thursday 2pm, one hour, 6 people", "cancel the Pitch", answer)

    assert played.phase == "AWAITING_SELECTION"
    assert (played.slots["date"], played.slots["capacity"]) == ("2027-03-04", 6)
    assert bool(await stands(ids[1])) == (answer == "no")


async def test_only_the_change_is_confirmed_while_a_draft_waits(talk):
    played, _ = await talk("Thursday 2pm, one hour, 6 people", "cancel the Pitch")

    assert (played.phase, played.slots) == ("CONFIRMING", {})
