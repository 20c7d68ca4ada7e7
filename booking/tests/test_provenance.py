"""Whatever the assistant does to a booking leads to its effect, and to the words behind it."""

import importlib
from datetime import date

import pytest
from django.db import connection

from agentruntime.models import Effect
from agentruntime.persistence.pools import in_db_thread
from booking.models import Booking, BookingChange, Source
from booking.tests import conversing, world

DAY = "2027-03-02"
MEETING = {
    "id": 1, "room": "B201", "start": f"{DAY}T14:00", "end": f"{DAY}T15:30",
    "organizer": "u1001", "title": "Pitch",
}  # fmt: skip
WEEKLY = {
    "id": 7, "room": "A302", "start": "2027-03-03T09:00", "minutes": 30, "title": "晨会",
    "rrule": "FREQ=WEEKLY;BYDAY=WE;UNTIL=20270331T150000Z", "organizer": "u1001",
}  # fmt: skip


def by_chat():
    """`(action, effect's name, what was said)` of each act of the assistant's, oldest first."""
    found = BookingChange.objects.filter(source=Source.CHAT).select_related("effect__message")
    return [
        (each.action, each.effect.name, each.effect.message.text) for each in found.order_by("pk")
    ]


@pytest.mark.parametrize(
    ("texts", "at", "acts"),
    [
        (["cancel my pitch", "yes"], "09:00", [("cancelled", "cancel_booking", "yes")]),
        (["move my pitch to 4pm", "yes"], "09:00", [("moved", "move_booking", "yes")]),
        (["I'm here"], "13:50", [("checked_in", "check_in", "I'm here")]),
        (
            ["a room for 4 on Thursday at 3pm for an hour", "the first one", "yes"],
            "09:00",
            [("booked", "book_room", "yes")],
        ),
        (
            ["把明天的晨会改到10点", "只改这一次", "确认"],
            "09:00",
            [("moved", "move_booking", "确认")],
        ),
    ],
)
async def test_every_act_of_the_assistant_bears_its_effect(transactional_db, texts, at, acts):
    fixture = {"bookings": [MEETING], "series": [WEEKLY]}
    await conversing.talk(*texts, now=f"{DAY}T{at}:00+08:00", fixture=fixture)

    assert await in_db_thread(by_chat) == acts


def test_what_is_done_by_hand_bears_none(db):
    world.build()
    booking = world.book("A301", date(2026, 12, 15), "14:00", "15:00")
    assert [each.effect for each in booking.changes.all()] == [None]


async def test_old_acts_find_their_effects(transactional_db):
    """The migration finds the effect before them that names their booking."""
    fixture = {"bookings": [MEETING]}
    await conversing.talk("cancel my pitch", "yes", now=f"{DAY}T09:00:00+08:00", fixture=fixture)
    migration = importlib.import_module("booking.migrations.0008_change_effect")

    def forgotten_and_found():
        BookingChange.objects.update(effect=None)
        with connection.cursor() as cursor:
            cursor.execute(migration.FIND)
        return dict(BookingChange.objects.values_list("action", "effect"))

    found = await in_db_thread(forgotten_and_found)
    effect = await in_db_thread(Effect.objects.get)
    assert found["cancelled"] == effect.pk
    assert [action for action, pk in found.items() if pk] == ["cancelled"]
    assert await in_db_thread(lambda: Booking.objects.count()) == 1
