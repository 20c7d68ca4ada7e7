"""Leases: kept while the loop lives, lost loudly, taken over from the dead."""

import asyncio
from datetime import timedelta
from typing import TypedDict

import pytest
from django.core.management import CommandError, call_command
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from agentruntime import agents
from agentruntime.execution.context import RunContext
from agentruntime.models import Message, Run, Session, Thread
from agentruntime.operations.host import HostSettings, RuntimeHost
from agentruntime.orchestration.leases import MARGIN_SECONDS, LeaseKeeper
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread, open_pool
from agentruntime.testing import probe_spec, until
from agentruntime.tests.conftest import (
    LEASE,
    Talk,
    change,
    claim_by_speaking,
    expire,
    message_to,
    open_thread,
    row_counts,
    sql,
    store_message,
    view_of,
)


def keeper_of(pool, *, seconds=30.0):
    return LeaseKeeper(pool, worker="w1", seconds=seconds, beat=0.05)


async def test_a_held_lease_is_renewed_every_beat(pool, thread):
    keeper, lost = keeper_of(pool), []
    claimed = await claim_by_speaking(pool, thread, lease=timedelta(seconds=2))
    keeper.hold(claimed.lease, on_lost=lambda: lost.append(thread))

    keeping = asyncio.create_task(keeper.keep())
    left = (
        "select extract(epoch from lease_until - clock_timestamp()) > 20 from agentruntime_thread"
    )
    await until(lambda: row_is_true(left))
    keeping.cancel()

    assert not lost


async def test_a_dropped_lease_is_renewed_no_more(pool, thread):
    keeper = keeper_of(pool)
    claimed = await claim_by_speaking(pool, thread)
    keeper.hold(claimed.lease, on_lost=pytest.fail)
    keeper.drop(claimed.lease)
    await expire(thread)

    await keeper.renew()

    assert await row_is_true("select lease_until < clock_timestamp() from agentruntime_thread")


async def test_a_lease_that_another_worker_took_is_lost_once(pool, person):
    keeper, lost = keeper_of(pool), []
    claims = [await claim_by_speaking(pool, await open_thread(person)) for _ in range(2)]
    for each in claims:
        keeper.hold(each.lease, on_lost=lambda lease=each.lease: lost.append(lease.thread))
    await expire(claims[0].lease.thread)
    await store.claim(pool, thread=claims[0].lease.thread, worker="w2", lease=LEASE)

    await keeper.renew()
    await keeper.renew()

    assert lost == [claims[0].lease.thread]


async def test_renewals_that_fail_stop_the_run_before_the_lease_ends(pool, thread):
    own = await open_pool(worker="w1")
    keeper, lost = keeper_of(own, seconds=MARGIN_SECONDS + 0.4), []
    claimed = await claim_by_speaking(pool, thread)
    keeper.hold(claimed.lease, on_lost=lambda: lost.append(thread))
    await own.close()

    await keeper.renew()
    assert not lost
    await asyncio.sleep(0.5)
    await keeper.renew()

    assert lost == [thread]


class Stage:
    """A probe whose nodes are counted, and wait where they are told to."""

    def __init__(self, wait_at=""):
        self.nodes = []
        self.wait_at = wait_at
        self.gate = asyncio.Event()

    async def hook(self, node):
        self.nodes.append(node)
        if node == self.wait_at:
            await self.gate.wait()

    def spec(self):
        return probe_spec(hook=self.hook)


@pytest.fixture
async def another_host(transactional_db, register):
    """Start further workers in this process, each with its own stage."""
    started = []

    async def start(stage, **settings):
        register(stage.spec())
        names = {"beat_seconds": 0.1, **settings}
        host = RuntimeHost(HostSettings(**names))
        await host.start()
        started.append((host, stage))
        return host

    yield start
    for host, stage in started:
        stage.gate.set()
        await host.stop()


NEVER = 3600.0


async def test_a_worker_that_lost_its_thread_stops_its_run_and_writes_nothing(
    another_host, pool, person
):
    stage = Stage(wait_at="search")
    talk = Talk(await another_host(stage), await open_thread(person))
    await talk.say("a room")
    await until(lambda: "search" in stage.nodes)
    before = await row_counts()
    await change(talk.id, "run_version = run_version + 1, lease_owner = 'w1'")

    await until(lambda: not talk.host._drivers)

    assert not stage.gate.is_set()
    view = await talk.view()
    assert (view.status, view.lease_owner, view.turn) == ("running", "w1", 0)
    assert await row_counts() == before


async def test_a_late_worker_changes_nothing_after_another_ended_the_turn(another_host, person):
    late, quick = Stage(wait_at="search"), Stage()
    sleeping = await another_host(late, beat_seconds=NEVER)
    talk = Talk(sleeping, await open_thread(person))
    await talk.say("a room")
    await until(lambda: "search" in late.nodes)
    await expire(talk.id)
    await another_host(quick)
    view = await talk.settled(1)
    rows = await row_counts()

    late.gate.set()
    await until(lambda: not sleeping._drivers)

    assert late.nodes == ["understand", "search"]
    assert quick.nodes == ["understand", "search"]
    assert await talk.view() == view
    assert await row_counts() == rows
    runs = await in_db_thread(lambda: dict(Run.objects.values_list("version", "status")))
    assert runs == {1: "lost", 2: "waiting"}


async def test_a_long_run_goes_on_where_it_was_saved(another_host, person):
    dying, rescuer = Stage(wait_at="search"), Stage()
    host = await another_host(dying, beat_seconds=NEVER, flush_after_seconds=0)
    talk = Talk(host, await open_thread(person))
    await talk.say("a room")
    await until(lambda: "search" in dying.nodes)
    saved = await until(lambda: in_db_thread(lambda: Run.objects.get().flushed))
    await talk.say("and meanwhile")

    await expire(talk.id)
    await another_host(rescuer)
    view = await talk.settled(1)

    assert rescuer.nodes[0] == "search"
    assert saved["said"] == []
    assert view.run_version >= 2
    view = await talk.settled(2)
    assert view.interrupt["kind"] == "confirm"
    assert view.summary["title"] == "a room"
    assert view.summary["slots"] == {"room": "and meanwhile"}
    dying.gate.set()
    await until(lambda: not host._drivers)
    assert await talk.view() == view


async def test_what_was_said_before_a_long_run_died_is_said_once(another_host, register, person):
    """Two nodes of one step: the one that had not finished speaks again, and only it."""
    gate, spoken = asyncio.Event(), []

    def speaking(*, wait):
        class State(TypedDict, total=False):
            said: dict

        async def first(state, runtime: Runtime[RunContext]):
            runtime.context.say("first")

        async def quick(state, runtime: Runtime[RunContext]):
            runtime.context.say("quick")

        async def slow(state, runtime: Runtime[RunContext]):
            runtime.context.say("slow")
            spoken.append("slow")
            if wait:
                await gate.wait()

        graph = StateGraph(State, context_schema=RunContext)
        for node in (first, quick, slow):
            graph.add_node(node.__name__, node)
        graph.add_edge(START, "first")
        graph.add_edge("first", "quick")
        graph.add_edge("first", "slow")
        return graph

    host = await another_host(Stage(), beat_seconds=NEVER, flush_after_seconds=0)
    host._graphs["probe"] = speaking(wait=True).compile()
    talk = Talk(host, await open_thread(person))
    await talk.say("a room")
    await until(lambda: spoken)
    await until(lambda: in_db_thread(lambda: (Run.objects.get().flushed or {}).get("said")))
    await asyncio.sleep(0.1)
    await expire(talk.id)
    rescuer = await another_host(Stage(), beat_seconds=NEVER)
    rescuer._graphs["probe"] = speaking(wait=False).compile()
    await rescuer.attend()
    await talk.settled(1)
    gate.set()

    words = [message.text for message in await talk.messages() if message.role == "assistant"]
    assert sorted(words) == ["first", "quick", "slow"]


async def test_a_message_nobody_reads_is_taken_at_the_next_look(another_host, pool, person):
    thread = await open_thread(person)
    await another_host(Stage())
    await store_message(pool, message_to(thread))

    await until(lambda: is_waiting(pool, thread))


async def test_a_host_that_starts_takes_what_a_killed_one_left(another_host, pool, person):
    thread = await open_thread(person)
    await claim_by_speaking(pool, thread, worker="never-connected", lease=LEASE)

    await another_host(Stage(), lease_seconds=1)

    await until(lambda: is_waiting(pool, thread))
    assert (await view_of(pool, thread)).run_version == 2


async def test_a_turn_that_is_lost_three_times_is_given_up_and_frees_its_thread(
    another_host, pool, person
):
    thread = await open_thread(person)
    await claim_by_speaking(pool, thread)
    for _ in range(2):
        await expire(thread)
        assert await store.claim(pool, thread=thread, worker="w1", lease=LEASE)
    await expire(thread)
    stage = Stage()
    host = await another_host(stage)
    talk = Talk(host, thread)

    view = await talk.settled(1)

    assert stage.nodes == []
    assert (view.status, view.lease_owner, view.run_version) == ("idle", None, 4)
    last = (await talk.messages())[-1]
    assert (last.role, last.kind, last.data) == ("assistant", "error", {"code": "quarantined"})
    assert await in_db_thread(Message.objects.filter(status="pending").count) == 0
    run = await in_db_thread(lambda: Run.objects.get(version=4))
    assert (run.status, run.attempt) == ("quarantined", 4)
    assert await in_db_thread(Message.objects.filter(status="quarantined").count) == 1
    assert await in_db_thread(Thread.objects.filter(quarantined_at__isnull=False).count) == 1
    assert await in_db_thread(lambda: Session.objects.get().outcome) == "failed"
    await talk.say("again")
    assert (await talk.settled(2)).interrupt["kind"] == "select_room"


async def test_a_thread_of_an_unknown_agent_keeps_nobody_else_waiting(
    another_host, register, pool, person
):
    register(probe_spec("gone"))
    lost = await open_thread(person, agent="gone")
    thread = await open_thread(person)
    del agents._agents["gone"]
    await another_host(Stage())
    for each in (lost, thread):
        await store_message(pool, message_to(each))

    await until(lambda: is_waiting(pool, thread))
    await store_message(pool, message_to(thread, "the second"))
    await until(lambda: has_turn(pool, thread, 2))
    view = await view_of(pool, lost)
    assert (view.status, view.turn) == ("idle", 0)


async def test_a_database_that_misbehaves_for_a_while_stops_no_loop(another_host, pool, person):
    """Not even with an error nobody thought of: a table that is not there."""
    stage = Stage(wait_at="search")
    talk = Talk(await another_host(stage, beat_seconds=0.05), await open_thread(person))
    await talk.say("a room")
    await until(lambda: "search" in stage.nodes)

    await sql("alter table agentruntime_thread rename to gone_for_a_while")
    await asyncio.sleep(0.3)
    await sql("alter table gone_for_a_while rename to agentruntime_thread")

    await change(talk.id, "lease_until = clock_timestamp() + interval '1 second'")
    left = "select lease_until > clock_timestamp() + interval '5 seconds' from agentruntime_thread"
    await until(lambda: row_is_true(left))
    stage.gate.set()
    await talk.settled(1)
    thread = await open_thread(person)
    await store_message(pool, message_to(thread))
    await until(lambda: is_waiting(pool, thread))


async def test_a_drained_host_gives_its_threads_back_unread_and_claims_no_more(
    another_host, person
):
    stage = Stage(wait_at="search")
    host = await another_host(stage, drain_seconds=0.4)
    talk = Talk(host, await open_thread(person))
    await talk.say("a room")
    await until(lambda: "search" in stage.nodes)

    await host.drain()
    receipt = await talk.say("stored while it drains")

    assert (receipt.claim, host._drivers) == (None, {})
    view = await talk.view()
    assert (view.status, view.lease_owner, view.turn) == ("idle", None, 0)
    await another_host(Stage())
    view = await talk.settled(1)
    assert view.summary["title"] == "a room stored while it drains"


async def test_a_run_that_may_end_soon_ends_within_the_drain(another_host, person):
    stage = Stage(wait_at="search")
    host = await another_host(stage, drain_seconds=10)
    talk = Talk(host, await open_thread(person))
    await talk.say("a room")
    await until(lambda: "search" in stage.nodes)

    draining = asyncio.create_task(host.drain())
    await asyncio.sleep(0)
    stage.gate.set()
    await draining

    assert (await talk.view()).interrupt["kind"] == "select_room"


async def row_is_true(statement):
    ((found,),) = await sql(statement)
    return found


async def is_waiting(pool, thread):
    return (await view_of(pool, thread)).status == "waiting"


async def has_turn(pool, thread, turn):
    return (await view_of(pool, thread)).turn >= turn


async def quarantined(pool, person):
    """A thread whose only message ended three workers, and was set aside."""
    thread = await open_thread(person)
    await claim_by_speaking(pool, thread)
    for _ in range(2):
        await expire(thread)
        assert await store.claim(pool, thread=thread, worker="w1", lease=LEASE)
    await expire(thread)
    return thread


async def test_what_was_set_aside_may_be_read_again(another_host, pool, person, capsys):
    thread = await quarantined(pool, person)
    talk = Talk(await another_host(Stage()), thread)
    await talk.settled(1)
    await in_db_thread(call_command, "quarantine")
    assert thread in capsys.readouterr().out

    await in_db_thread(call_command, "quarantine", retry=thread)

    assert (await talk.settled(2)).interrupt["kind"] == "select_room"
    assert await in_db_thread(Thread.objects.filter(quarantined_at=None).count) == 1
    capsys.readouterr()
    await in_db_thread(call_command, "quarantine")
    assert "0 thread(s)" in capsys.readouterr().out


async def test_what_was_set_aside_may_be_left_so(another_host, pool, person):
    thread = await quarantined(pool, person)
    await Talk(await another_host(Stage()), thread).settled(1)

    await in_db_thread(call_command, "quarantine", dismiss=thread)

    assert await in_db_thread(Thread.objects.filter(quarantined_at=None).count) == 1
    with pytest.raises(CommandError):
        await in_db_thread(call_command, "quarantine", dismiss=thread)
