"""The ledger: an effect happens once, in the transaction that records it, under the fence."""

import asyncio
import threading
from dataclasses import replace

import pytest
from django.contrib.auth.models import Group
from django.db import DatabaseError

from agentruntime.exceptions import RunSuperseded
from agentruntime.execution import effects
from agentruntime.execution.effects import EffectRequest
from agentruntime.models import Effect
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread
from agentruntime.testing import probe_spec, until
from agentruntime.tests.conftest import (
    LEASE,
    claim_by_speaking,
    expire,
    open_thread,
    row_counts,
    turn_of,
)


@pytest.fixture
async def claimed(pool, person):
    return await claim_by_speaking(pool, await open_thread(person))


def request_of(**changes):
    names = {
        "name": "book_room",
        "intent": "intent-1",
        "task": "task-1",
        "checkpoint": "checkpoint-1",
        "message": None,
        "arguments": {"room": "A301"},
    }
    return EffectRequest(**{**names, **changes})


def book(effect):
    """Writes a row through the ORM, as a service would."""
    group = Group.objects.create(name=f"booking of {effect.pk}")
    return {"booking": group.pk}


async def perform(claim, request, call=book):
    return await in_db_thread(effects.perform, request, lease=claim.lease, call=call)


async def count(model):
    return await in_db_thread(model.objects.count)


async def test_an_effect_is_recorded_in_the_transaction_that_does_it(claimed):
    message = claimed.pending[0].id

    result = await perform(claimed, request_of(message=message))

    effect = await in_db_thread(Effect.objects.get)
    assert result == effect.result == {"booking": (await in_db_thread(Group.objects.get)).pk}
    assert (effect.thread_id, effect.run_id, effect.run_version) == (
        claimed.lease.thread,
        claimed.lease.run,
        claimed.lease.version,
    )
    assert (effect.message_id, effect.arguments) == (message, {"room": "A301"})
    assert (effect.name, effect.task, effect.checkpoint, effect.intent) == (
        "book_room",
        "task-1",
        "checkpoint-1",
        "intent-1",
    )


@pytest.mark.parametrize(
    "again",
    [
        {},
        {"task": "task-2", "checkpoint": "checkpoint-2"},
        {"intent": "intent-2"},
    ],
    ids=["the_same", "a_second_path_to_the_same_intent", "a_retry_of_the_same_step"],
)
async def test_it_is_done_once_and_answered_again(claimed, again):
    first = await perform(claimed, request_of())

    second = await perform(claimed, request_of(**again), call=never)

    assert second == first
    assert (await count(Effect), await count(Group)) == (1, 1)


async def test_another_run_of_the_turn_is_answered_what_the_lost_one_did(pool, claimed):
    first = await perform(claimed, request_of())
    await expire(claimed.lease.thread)
    rescue = await store.claim(pool, thread=claimed.lease.thread, worker="w1", lease=LEASE)

    second = await perform(rescue, request_of(task="task-2"), call=never)

    assert second == first


@pytest.mark.parametrize(
    "another",
    [{"name": "cancel_booking"}, {"task": "task-2"}],
    ids=["another_effect_of_the_step", "another_step"],
)
async def test_another_wish_is_another_effect(claimed, another):
    await perform(claimed, request_of())

    await perform(claimed, request_of(intent="intent-2", **another))

    assert (await count(Effect), await count(Group)) == (2, 2)


async def test_a_call_that_raises_undoes_everything_and_may_be_tried_again(claimed):
    before = await row_counts()

    def fail(effect):
        book(effect)
        raise ValueError("taken")

    with pytest.raises(ValueError, match="taken"):
        await perform(claimed, request_of(), call=fail)

    assert await row_counts() == before
    assert await perform(claimed, request_of())


async def test_a_result_that_is_no_json_undoes_everything(claimed):
    before = await row_counts()

    with pytest.raises(TypeError):
        await perform(claimed, request_of(), call=lambda effect: book(effect) and {"x": object()})

    assert await row_counts() == before


async def take_over(pool, claim):
    await expire(claim.lease.thread)
    await store.claim(pool, thread=claim.lease.thread, worker="w1", lease=LEASE)


async def give_back(pool, claim):
    await store.release(pool, claim.lease, status="superseded")


async def end(pool, claim):
    await store.commit_turn(pool, turn_of(claim))


@pytest.mark.parametrize("lose", [take_over, give_back, end])
async def test_a_run_that_lost_its_thread_does_nothing(pool, claimed, lose):
    await lose(pool, claimed)
    before = await row_counts()

    with pytest.raises(RunSuperseded):
        await perform(claimed, request_of(), call=never)

    assert await row_counts() == before


async def test_nobody_takes_the_thread_while_an_effect_is_in_flight(pool, claimed):
    """The claim comes after the effect, and the run that follows is answered its result."""
    thread, going, go_on = claimed.lease.thread, threading.Event(), threading.Event()

    def slowly(effect):
        going.set()
        go_on.wait(5)
        return book(effect)

    slow = asyncio.create_task(perform(claimed, request_of(), call=slowly))
    await until(going.is_set)
    await expire(thread)
    assert await store.claim(pool, thread=thread, worker="w1", lease=LEASE) is None
    go_on.set()
    first = await slow

    rescue = await store.claim(pool, thread=thread, worker="w1", lease=LEASE)
    assert rescue.lease.version == 2
    assert await perform(rescue, request_of(task="task-2"), call=never) == first


async def test_an_effect_that_stops_in_its_middle_does_not_keep_its_thread(
    pool, claimed, monkeypatch
):
    """As a stopped process would: its transaction stays open and silent until the server ends it."""
    monkeypatch.setattr(effects, "TRANSACTION_TIMEOUT", 1)
    thread, going, go_on = claimed.lease.thread, threading.Event(), threading.Event()

    def hang(effect):
        book(effect)
        going.set()
        go_on.wait(5)
        return book(effect)

    hanging = asyncio.create_task(perform(claimed, request_of(), call=hang))
    await until(going.is_set)
    await expire(thread)
    assert await store.claim(pool, thread=thread, worker="w1", lease=LEASE) is None

    rescue = await until(
        lambda: store.claim(pool, thread=thread, worker="w1", lease=LEASE), seconds=3
    )
    go_on.set()
    with pytest.raises(DatabaseError):
        await hanging
    assert await count(Group) == 0
    assert await perform(rescue, request_of(task="task-2"))


@pytest.mark.parametrize("same_thread", [True, False])
async def test_two_at_once_with_one_intent_do_it_once(pool, person, claimed, same_thread):
    other = claimed
    if not same_thread:
        other = await claim_by_speaking(pool, await open_thread(person))
    both = threading.Barrier(2, timeout=5)
    done = []

    def together(effect):
        done.append(effect.pk)
        return book(effect)

    def arrive(claim, request):
        both.wait()
        return effects.perform(request, lease=claim.lease, call=together)

    results = await asyncio.gather(
        in_db_thread(arrive, claimed, request_of()),
        in_db_thread(arrive, other, request_of(task="task-2")),
    )

    assert len(done) == 1
    assert results[0] == results[1]
    assert (await count(Effect), await count(Group)) == (1, 1)


async def test_the_second_does_it_when_the_first_fails(claimed):
    inside, go_on = threading.Event(), threading.Event()

    def fail(effect):
        inside.set()
        go_on.wait(5)
        raise ValueError("taken")

    first = asyncio.create_task(perform(claimed, request_of(), call=fail))
    await until(inside.is_set)
    second = asyncio.create_task(perform(claimed, request_of(task="task-2")))
    await asyncio.sleep(0.1)
    go_on.set()

    with pytest.raises(ValueError, match="taken"):
        await first
    assert await second
    assert (await count(Effect), await count(Group)) == (1, 1)


async def test_a_node_names_its_step_its_intent_and_the_message_that_confirmed(talk):
    async def act(context, draft):
        return await context.effect(
            "book_room", key="wish-7", arguments={"room": draft["room"]}, call=book
        )

    talk.host._graphs["probe"] = probe_spec(act=act).build_graph().compile()
    await talk.say("a room")
    await talk.settled(1)
    await talk.answer({"room": "P01"})
    await talk.settled(2)
    receipt = await talk.answer({"approved": True})
    view = await talk.settled(3)

    effect = await in_db_thread(Effect.objects.get)
    assert (effect.intent, effect.message_id) == ("wish-7", receipt.message_id)
    assert effect.arguments == {"room": "P01"}
    assert len(effect.task) == 36
    assert effect.checkpoint < view.head
    assert (await talk.messages())[-1].data == effect.result


async def test_a_turn_that_dies_after_its_effect_runs_again_without_a_second_one(talk):
    died = asyncio.Event()

    async def act(context, draft):
        result = await context.effect("book_room", key="wish-7", arguments={}, call=book)
        if not died.is_set():
            died.set()
            await asyncio.Event().wait()
        return result

    talk.host._graphs["probe"] = probe_spec(act=act).build_graph().compile()
    await talk.say("a room")
    await talk.settled(1)
    await talk.answer({"room": "P01"})
    await talk.settled(2)
    await talk.answer({"approved": True})
    await died.wait()
    driver = talk.host._drivers[talk.id]
    driver._lose(driver._claim.lease)
    await asyncio.wait([driver.task])
    await expire(talk.id)

    view = await talk.settled(3)

    assert view.summary["phase"] == "BOOKED"
    assert (await count(Effect), await count(Group)) == (1, 1)
    effect = await in_db_thread(Effect.objects.get)
    assert (await talk.messages())[-1].data == effect.result
    assert effect.run_version < view.run_version


async def test_a_superseded_run_does_not_begin_an_effect(talk):
    reached = asyncio.Event()

    async def act(context, draft):
        context.superseded = True
        reached.set()
        return await context.effect("book_room", key="wish-7", arguments={}, call=never)

    talk.host._graphs["probe"] = probe_spec(act=act).build_graph().compile()
    await talk.say("a room")
    await talk.settled(1)
    await talk.answer({"room": "P01"})
    await talk.settled(2)
    await talk.answer({"approved": True})
    await reached.wait()
    await until(lambda: not talk.host._drivers)

    assert await count(Effect) == 0


async def test_a_fence_of_another_thread_does_not_hold(pool, person, claimed):
    other = await open_thread(person)
    stranger = replace(claimed.lease, thread=other)

    with pytest.raises(RunSuperseded):
        await in_db_thread(effects.perform, request_of(), lease=stranger, call=never)


def never(effect):
    raise AssertionError("done a second time")
