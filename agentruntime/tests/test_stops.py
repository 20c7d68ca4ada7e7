"""Stopped by its person: from anywhere, through losses, and nothing but what was meant."""

import asyncio

import pytest

from agentruntime.models import Message, Run
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread
from agentruntime.testing import running_host
from agentruntime.tests.conftest import (
    LEASE,
    Talk,
    claim_by_speaking,
    expire,
    message_to,
    open_thread,
    store_message,
    turn_of,
)
from agentruntime.tests.staging import act, runs_of


async def test_a_stop_reaches_a_run_of_another_process_and_outlives_it(talk, stage_at, pool):
    """The wish is in the database: the owner finds it when it renews, or who takes the run over."""
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()

    async with running_host() as elsewhere:
        assert await elsewhere.stop_run(talk.id)
        view = await talk.settled(1)

    assert (view.status, view.head) == ("idle", "")
    assert [status for _, status in await runs_of(talk)] == ["superseded", "stopped"]


async def test_a_stop_asked_of_a_run_that_is_then_lost_is_kept(pool, person, probe):
    thread = await open_thread(person)
    await claim_by_speaking(pool, thread)
    assert await store.ask_to_stop(pool, thread) == 1
    await expire(thread)

    async with running_host() as host:
        view = await Talk(host, thread).settled(1)

    assert (view.status, view.head) == ("idle", "")
    runs = await in_db_thread(lambda: list(Run.objects.order_by("version").values_list("status")))
    assert runs == [("lost",), ("stopped",)]


async def taken_over(pool, thread):
    """Lose the run and claim its thread for another worker."""
    await expire(thread)
    return await store.claim(pool, thread=thread, worker="w1", lease=LEASE)


async def lost_with_its_worker(pool, claim):
    await store.ask_to_stop(pool, claim.lease.thread)


async def stopped_and_then_lost(pool, claim):
    assert await store.supersede(pool, claim, lease=LEASE, why=store.STOPPED)


@pytest.mark.parametrize("how", [lost_with_its_worker, stopped_and_then_lost])
async def test_a_stop_outlives_one_worker_after_another(pool, person, probe, how):
    """Who takes it over to stop it may be lost as well. What is said meanwhile is another matter."""
    thread = await open_thread(person)
    first = await claim_by_speaking(pool, thread)
    await how(pool, first)
    await store_message(pool, message_to(thread, "a hall"))

    for _ in range(2):
        claim = await taken_over(pool, thread)
        assert claim.notice == store.STOPPED
        assert [m.id for m in claim.pending] == [m.id for m in first.pending]
    committed = await store.commit_turn(pool, turn_of(claim, run_status="stopped"))

    assert committed.pending
    last = await store.claim(pool, thread=thread, worker="w1", lease=LEASE)
    assert ([m.text for m in last.pending], last.notice) == (["a hall"], "")


async def test_a_stop_that_came_too_late_stops_no_later_turn(pool, person, probe):
    thread = await open_thread(person)
    claim = await claim_by_speaking(pool, thread)
    await store_message(pool, message_to(thread, "a hall"))
    assert await store.ask_to_stop(pool, thread) == 1
    await store.commit_turn(pool, turn_of(claim))

    last = await store.claim(pool, thread=thread, worker="w1", lease=LEASE)

    assert ([m.text for m in last.pending], last.notice) == (["a hall"], "")


async def test_a_stop_in_this_process_that_came_too_late_stops_no_later_turn(talk, stage_at):
    """While the driver reads what was said beside the run, the stop comes and the run ends."""
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()
    driver = talk.host._drivers[talk.id]
    heard = driver._heard

    async def slowly(run, known):
        found = await heard(run, known)
        assert driver.stop_turn()
        stage.gate.set()
        await asyncio.wait([driver._work])
        return found

    driver._heard = slowly
    await talk.say("P04", strategy="enqueue")

    await talk.settled(2)
    assert [status for _, status in await runs_of(talk)] == ["waiting", "waiting"]


async def test_what_has_acted_is_not_stopped_by_who_takes_it_over(pool, person, probe):
    thread = await open_thread(person)
    claim = await claim_by_speaking(pool, thread)
    await act(claim)
    await store.ask_to_stop(pool, thread)

    assert (await taken_over(pool, thread)).notice == ""


async def test_what_is_said_after_a_stop_is_read_though_its_worker_was_drained(
    talk, pool, stage_at
):
    """The thread is given back with the stop upon it; whoever speaks next claims it."""
    claim = await claim_by_speaking(pool, talk.id)
    await store.ask_to_stop(pool, talk.id)
    talk.host.draining = True
    await store.release(pool, claim.lease, status="superseded")
    talk.host.draining = False

    await talk.say("a hall")

    view = await talk.settled(2)
    assert view.summary["title"] == "a hall"
    read = await in_db_thread(
        lambda: list(Message.objects.filter(role="user").order_by("id").values_list("text", "turn"))
    )
    assert read == [("a room", 1), ("a hall", 2)]
