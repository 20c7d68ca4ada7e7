"""Turns that have acted: they end as they were, whatever is said or lost."""

import asyncio

from agentruntime.models import Message
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread
from agentruntime.testing import probe_spec
from agentruntime.tests.conftest import (
    LEASE,
    claim_by_speaking,
    expire,
    message_to,
    open_thread,
    store_message,
    turn_of,
)
from agentruntime.tests.staging import act, runs_of


async def test_past_the_point_of_no_return_a_cancel_is_for_the_next_turn(talk, stage_at):
    stage = stage_at("book")
    await talk.say("a room")
    await talk.settled(1)
    await talk.answer({"room": "P01"})
    await talk.settled(2)
    await talk.answer({"approved": True})
    await stage.came.get()

    await talk.say("stop it")
    await asyncio.sleep(0.15)
    stage.gate.set()

    view = await talk.settled(4)
    assert [status for _, status in await runs_of(talk)][:3] == ["waiting", "waiting", "done"]
    assert view.turn == 4


async def test_a_run_that_has_acted_is_not_started_again(talk, person, register):
    """The look after the lock sees an effect that was in flight when the correction came."""
    acted, gate = asyncio.Event(), asyncio.Event()

    async def acts(context, draft):
        done = await context.effect(
            "book", key=f"k-{talk.id}", arguments={}, call=lambda effect: {"id": effect.pk}
        )
        acted.set()
        await gate.wait()
        return done

    spec = probe_spec(act=acts)
    loose = probe_spec(act=acts).__class__(**{**spec.__dict__, "point_of_no_return": frozenset()})
    register(loose)
    talk.host._graphs["probe"] = loose.build_graph().compile()
    await talk.say("a room")
    await talk.settled(1)
    await talk.answer({"room": "P01"})
    await talk.settled(2)
    await talk.answer({"approved": True})
    await acted.wait()

    await talk.say("no another")
    await asyncio.sleep(0.15)
    gate.set()

    await talk.settled(4)
    assert [status for _, status in await runs_of(talk)][2] == "done"
    messages = [m.kind for m in await talk.messages() if m.role == "assistant"]
    assert messages.count("complete") == 1


async def test_a_turn_that_has_acted_is_ended_as_it_was_whatever_was_said_since(
    pool, person, probe
):
    """Its effect stands: what was said later is the next turn, also for who takes it over."""
    thread = await open_thread(person)
    claim = await claim_by_speaking(pool, thread)
    await act(claim)
    await store_message(pool, message_to(thread, "no, ten"))
    await expire(thread)

    again = await store.claim(pool, thread=thread, worker="w1", lease=LEASE)

    assert [message.id for message in again.pending] == [message.id for message in claim.pending]
    assert await store.supersede(pool, again, lease=LEASE, why="superseded") is None
    committed = await store.commit_turn(pool, turn_of(again))
    assert committed.pending
    last = await store.claim(pool, thread=thread, worker="w1", lease=LEASE)
    assert [message.text for message in last.pending] == ["no, ten"]


async def test_words_after_a_run_that_acted_and_was_given_back_are_the_next_turn(
    talk, pool, person
):
    """By the door of whoever speaks next: it reads no further than the run that acted did."""
    claim = await claim_by_speaking(pool, talk.id)
    await act(claim)
    talk.host.draining = True
    await store.release(pool, claim.lease, status="superseded")
    talk.host.draining = False

    await talk.say("no, ten")

    await talk.settled(2)
    turns = await in_db_thread(
        lambda: list(Message.objects.filter(role="user").order_by("id").values_list("text", "turn"))
    )
    assert turns == [("a room", 1), ("no, ten", 2)]


async def test_a_turn_that_has_acted_takes_in_nothing_before_it_goes_on(pool, person, probe):
    thread = await open_thread(person)
    claim = await claim_by_speaking(pool, thread)
    await act(claim)
    await store.release(pool, claim.lease, status="superseded")
    again = await store.claim(pool, thread=thread, worker="w1", lease=LEASE)
    await store_message(pool, message_to(thread, "no, ten"))

    taken = await store.take_in(pool, again.lease)

    assert [message.id for message in taken] == [message.id for message in claim.pending]
    committed = await store.commit_turn(pool, turn_of(again))
    assert committed.pending


async def test_what_has_been_acted_on_cannot_be_taken_back(pool, person, probe):
    thread = await open_thread(person)
    claim = await claim_by_speaking(pool, thread)
    await act(claim)
    await store.release(pool, claim.lease, status="superseded")
    [message] = claim.pending

    assert not await store.withdraw(pool, thread=thread, client_id=message.client_id)
