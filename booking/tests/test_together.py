"""One meeting in several rooms by chat: offered where no room seats everybody, booked whole or not."""

from agentruntime.persistence.pools import in_db_thread
from booking.models import Booking
from booking.tests import conversing

NOW = "2027-03-01T09:00:00+08:00"
HELD = {"id": 1, "room": "B201", "start": "2027-03-02T10:00", "end": "2027-03-02T11:00",
        "organizer": "u2002", "title": "Salary talk", "visibility": "private"}  # fmt: skip


async def booked():
    def read():
        return sorted((each.room.code, each.headcount) for each in Booking.objects.all())

    return await in_db_thread(read)


async def talk(*texts, bookings=()):
    played, _world = await conversing.talk(*texts, now=NOW, fixture={"bookings": list(bookings)})
    return played


async def test_more_people_than_any_room_seats_are_offered_several(transactional_db):
    played = await talk("tomorrow 10am, one hour, 70 people")

    assert played.phase == "AWAITING_SELECTION"
    assert "B801 seats 60" in played.words[-1]
    [card] = played.dialogue["candidates"]
    assert (card["kind"], card["room"].count("+")) == ("split", 1)
    assert await booked() == []


async def test_a_yes_books_every_room_with_its_people(transactional_db):
    played = await talk("明天上午10点，1小时，70个人", "第一个", "确认")

    assert played.phase == "BOOKED"
    made = await booked()
    assert sum(people for _room, people in made) == 70
    assert played.result["room_id"] == "+".join(room for room, _ in sorted(made, reverse=True))


async def test_a_no_books_none(transactional_db):
    await talk("tomorrow 10am, one hour, 70 people", "the first one", "no")

    assert await booked() == []


async def test_a_room_that_is_taken_is_not_among_them(transactional_db):
    played = await talk("tomorrow 10am, one hour, 70 people", bookings=[HELD])

    [card] = played.dialogue["candidates"]
    assert "B201" not in card["room"]
    assert "Salary" not in str(played.frames)


async def test_several_rooms_are_offered_to_who_asks_for_them(transactional_db):
    played = await talk("tomorrow 10am, one hour, 14 people", "we could sit in two rooms")

    cards = played.dialogue["candidates"]
    assert [card.get("kind") for card in cards].count("split") == 1
    assert any(card.get("kind") != "split" for card in cards)
    assert await booked() == []
