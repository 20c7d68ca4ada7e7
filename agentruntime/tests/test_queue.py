"""What waits behind a run: told, in order, and taken back while it waits."""

import asyncio

import pytest

from agentruntime.events import QueueChanged
from agentruntime.exceptions import AlreadyRead
from agentruntime.models import Message
from agentruntime.persistence.pools import in_db_thread
from agentruntime.testing import until


async def test_a_new_wish_waits_its_turn_and_is_told_so(talk, stage_at, notices):
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()

    receipt = await talk.say("P04")
    await asyncio.sleep(0.15)
    stage.gate.set()

    view = await talk.settled(2)
    assert (receipt.action, notices) == ("queued", ["queued"])
    assert view.summary["slots"]["room"] == "P04"


async def test_what_waits_is_told_and_may_be_taken_back(talk, stage_at):
    told = []
    await talk.host.delivery.follow(
        talk.id, lambda e: told.append(e.waiting) if isinstance(e, QueueChanged) else None
    )
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()
    await talk.say("P04", client_id="q1")
    await until(lambda: told)
    await talk.say("P05", client_id="q2")
    await until(lambda: len(told) == 2)

    await talk.host.withdraw(await talk.view(), "q1")
    await until(lambda: len(told) == 3)
    stage.gate.set()

    view = await talk.settled(2)
    assert told[:3] == [["q1"], ["q1", "q2"], ["q2"]]
    await until(lambda: told[-1] == [])
    assert view.summary["slots"]["room"] == "P05"
    assert [m.text for m in await talk.messages() if m.role == "user"] == ["a room", "P05"]
    gone = await in_db_thread(lambda: Message.objects.get(client_id="q1"))
    assert (gone.status, gone.beside, gone.run_version) == ("withdrawn", 1, None)


@pytest.mark.parametrize("client_id", ["c1", "never said"])
async def test_what_is_being_read_cannot_be_taken_back(talk, stage_at, client_id):
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()

    with pytest.raises(AlreadyRead):
        await talk.host.withdraw(await talk.view(), client_id)

    stage.gate.set()
    assert (await talk.settled(1)).summary["title"] == "a room"


async def test_a_resend_of_what_was_taken_back_stays_taken_back(talk, stage_at):
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()
    await talk.say("P04", client_id="q1")
    await talk.host.withdraw(await talk.view(), "q1")

    receipt = await talk.say("P04", client_id="q1")

    assert receipt.repeated
    stage.gate.set()
    assert (await talk.settled(1)).turn == 1
    assert [m.text for m in await talk.messages() if m.role == "user"] == ["a room"]


async def test_words_beside_a_run_are_read_though_it_replaces_their_question(talk, stage_at):
    """Several things written under one question: the first of them brings another."""
    await talk.say("a room")
    asked = (await talk.settled(1)).interrupt["id"]
    stage = stage_at("choose")
    await talk.say("P02", interrupt_id=asked)
    await stage.came.get()
    await talk.say("yes", interrupt_id=asked)
    stage.gate.set()

    view = await talk.settled(3)

    assert (view.summary["phase"], view.summary["slots"]["room"]) == ("BOOKED", "P02")
    statuses = await in_db_thread(
        lambda: list(Message.objects.filter(role="user").order_by("id").values_list("status"))
    )
    assert statuses == [("consumed",)] * 3
