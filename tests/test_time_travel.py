"""The booking agent under time travel: replayed after its own booking, edited, and never acting."""

import asyncio
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from agentruntime.access import new_thread
from agentruntime.models import Effect, Thread, uuid7
from agentruntime.persistence import pruning, store
from agentruntime.persistence.pools import in_db_thread
from agentruntime.persistence.records import NewMessage
from agentruntime.testing import running_host, until
from agentruntime.timetravel import forks, history, sandbox
from agentruntime.timetravel.replay import replay
from agentruntime.timetravel.sandbox import Say
from booking import demo
from booking.agent import tools
from booking.models import Booking, Occurrence, SpecialDate

SHANGHAI = ZoneInfo("Asia/Shanghai")


def free_day():
    day = datetime.now(SHANGHAI).date() + timedelta(days=7)
    special = set(SpecialDate.objects.values_list("date", flat=True))
    while day.isoweekday() > 5 or day in special:
        day += timedelta(days=1)
    return day


async def hold(owner, day):
    """A booking made by talking and clicking; its thread's id."""
    thread = await in_db_thread(new_thread, owner, agent="booking", language="en")
    said = [
        f"A meeting room on {day:%B} {day.day} at 10 am, for six people",
        "one hour",
        lambda asked: {"room": asked.data["candidates"][0]["room"]},
        lambda asked: {"approved": True},
    ]
    await say_all(thread.id, said)
    return thread.id


async def say_all(thread, said):
    """Say each after what came of the one before: words, or a click made of the open question."""
    async with running_host() as host:
        for what in said:
            seen, messages = await store.snapshot(host.pool, thread)
            click = None if isinstance(what, str) else what(messages[-1])
            message = NewMessage(
                thread=thread,
                client_id=str(uuid7()),
                kind="answer" if click else "text",
                text="" if click else what,
                data=click or {},
                interrupt_id=seen.interrupt["id"] if click else "",
            )
            await host.accept(message, seen=seen)

            async def settled(turn=seen.turn + 1):
                now, _ = await store.snapshot(host.pool, thread)
                return now.turn >= turn and now.status != "running"

            await until(settled)


@pytest.fixture
def booked(transactional_db):
    demo.load_places(years=(datetime.now(SHANGHAI).year, datetime.now(SHANGHAI).year + 1))
    demo.load_people()
    tools.forget_house()
    history.forget_graphs()
    owner = get_user_model().objects.get(username="lilei")
    thread = Thread.objects.get(pk=asyncio.run(hold(owner, free_day())))
    assert Booking.objects.filter(effect__thread=thread).count() == 1
    return thread


def test_a_conversation_is_replayed_as_if_its_booking_had_not_been_made(booked):
    bookings = list(Booking.objects.order_by("pk").values())
    occurrences = list(Occurrence.objects.order_by("pk").values())
    [first] = pruning.ids(booked.pk, limit=1)

    made = replay(booked, first)

    assert made.stopped == ""
    different = made.divergence
    assert different is None, [change.pointer for change in different.changes]
    assert len(made.steps) > 10
    assert [act.recorded for act in made.acts] == [Effect.objects.get().pk]
    assert list(Booking.objects.order_by("pk").values()) == bookings
    assert list(Occurrence.objects.order_by("pk").values()) == occurrences


def test_a_fork_sees_the_room_taken_and_a_yes_books_nothing(booked):
    asked = next(
        point.id
        for point in history.timeline(booked).points
        if any(question.kind == "select_room" for question in point.questions)
    )
    taken = Booking.objects.get(effect__thread=booked).room.code
    fork, _ = forks.fork(booked, asked)

    sandbox.run(fork, say=[Say(value={"room": taken})])
    fork.refresh_from_db()
    offered = [
        card["room"]
        for card in history.opened(fork, fork.head).values["dialogue"]["candidates"]
        if not card.get("starts_at")
    ]
    assert taken not in offered
    sandbox.run(fork, say=[Say(value={"room": offered[0]})])
    ran = sandbox.run(fork, say=[Say(value={"approved": True})])

    assert [act.recorded for act in ran.acts] == [None]
    assert (
        Booking.objects.filter(effect__thread=booked).count()
        == Booking.objects.filter(source="chat").count()
        == 1
    )
    fork.refresh_from_db()
    assert fork.summary["result"]["simulated"] is True


def test_edited_slots_lead_to_another_search(booked):
    asked = next(
        point.id
        for point in history.timeline(booked).points
        if any(question.kind == "confirm" for question in point.questions)
    )

    fork, ran = forks.fork(
        booked, asked, changes={"slots.capacity": 2, "slots.start_time": "15:00"}
    )

    assert [step["node"] for step in ran.steps] == ["search", "ask"]
    state = history.opened(fork, fork.head).values
    assert (state["slots"]["capacity"], state["slots"]["start_time"]) == (2, "15:00")
    assert state["dialogue"]["phase"] == "AWAITING_SELECTION"
    missing, _ = forks.fork(booked, asked, changes={"slots.date": None})
    assert missing.interrupt["kind"] == "clarify"


def test_from_a_booking_to_its_message_and_back_is_a_click_each(booked, client):
    client.force_login(get_user_model().objects.get(username="admin"))
    effect = Effect.objects.get()
    booking = Booking.objects.get(effect=effect)
    pages = {
        "booking": reverse("admin:booking_booking_change", args=[booking.pk]),
        "effect": reverse("admin:agentruntime_effect_change", args=[effect.pk]),
        "checkpoint": reverse("admin:audit_checkpoint", args=[booked.pk, effect.checkpoint]),
        "message": reverse("admin:agentruntime_message_change", args=[effect.message_id]),
    }
    text = {name: client.get(address).content.decode() for name, address in pages.items()}

    assert pages["effect"] in text["booking"]
    assert pages["booking"] in text["effect"]
    assert pages["checkpoint"] in text["effect"]
    assert pages["message"] in text["effect"]
    assert pages["effect"] in text["checkpoint"]
    assert pages["booking"] in text["checkpoint"]
    assert pages["message"] in text["checkpoint"]
    assert pages["effect"] in text["message"]


def test_from_a_cancelled_booking_to_the_words_that_cancelled_it(booked, client):
    """What was done to a booking by chat leads to its effect like the booking itself."""
    asyncio.run(say_all(booked.pk, ["cancel it", "yes"]))
    client.force_login(get_user_model().objects.get(username="admin"))
    effect = Effect.objects.get(name="cancel_booking")
    booking = Booking.objects.get(effect__thread=booked)
    pages = {
        "booking": reverse("admin:booking_booking_change", args=[booking.pk]),
        "effect": reverse("admin:agentruntime_effect_change", args=[effect.pk]),
    }
    text = {name: client.get(address).content.decode() for name, address in pages.items()}

    assert pages["effect"] in text["booking"]
    assert pages["booking"] in text["effect"]
    assert effect.message.text == "yes"


def test_variants_are_headed_by_what_was_changed(booked, client):
    client.force_login(get_user_model().objects.get(username="admin"))
    checkpoint = next(
        point.id
        for point in history.timeline(booked).points
        if any(question.kind == "confirm" for question in point.questions)
    )
    address = reverse("admin:audit_what_if", args=[booked.pk, checkpoint])
    form = client.get(address).context["columns"]
    columns = {
        f"{column.prefix}-{name}": field.initial
        for column in form
        for name, field in column.fields.items()
        if field.initial is not None
    }
    tried = {**columns, "v1-slots.capacity": "2", "v2-slots.start_time": "15:00", "reason": "r"}

    text = client.post(address, tried, follow=True).content.decode()

    assert "<h2>People: 2</h2>" in text
    assert "<h2>Start time: 15:00</h2>" in text
