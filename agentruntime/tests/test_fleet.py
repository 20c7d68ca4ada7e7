"""What processes know of each other: heartbeats, verdicts, sessions, chores."""

import asyncio
import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from agentruntime.events import ServiceNoticed
from agentruntime.models import Chore, Session, Worker
from agentruntime.operations import chores
from agentruntime.operations.heartbeat import EXIT_HUNG
from agentruntime.operations.host import RuntimeHost
from agentruntime.operations.monitor import Monitor
from agentruntime.persistence import fleet
from agentruntime.persistence.pools import in_db_thread
from agentruntime.testing import QUICK, probe_spec, running_host, until
from agentruntime.tests.conftest import Talk, change, open_thread, sql, view_of


async def worker_row(name):
    return await in_db_thread(lambda: Worker.objects.filter(pk=name).first())


def monitor_of(pool, worker="w1", idle=600.0):
    return Monitor(pool, worker=worker, beat=0.1, idle_seconds=idle)


@pytest.fixture
def gate(talk):
    """Holds the thread's runs at `search` until it is set."""
    gate = asyncio.Event()

    async def hook(node):
        if node == "search":
            await gate.wait()

    talk.host._graphs["probe"] = probe_spec(hook=hook).build_graph().compile()
    return gate


async def test_a_worker_tells_what_it_holds_and_then_that_it_is_idle(talk, gate):
    await talk.say("a room")

    async def processing():
        row = await worker_row(talk.host.worker)
        return row if row and row.status == "processing" and row.step == "search" else None

    row = await until(processing)
    assert row.threads == [talk.id]
    assert len(row.runs) == 1
    assert row.steps == 2
    assert row.memory_mb > 10
    gate.set()
    await talk.settled(1)

    async def idle():
        return (await worker_row(talk.host.worker)).status == "idle"

    await until(idle)


async def test_a_blocked_loop_is_measured_and_told_but_is_not_death(talk, gate):
    await talk.say("a room")
    await until(lambda: worker_row(talk.host.worker))

    time.sleep(1.5)  # noqa: ASYNC251 - the loop is to hang

    row = await worker_row(talk.host.worker)
    assert row.loop_lag_ms > 1000
    gate.set()
    assert (await talk.settled(1)).run_version == 1


async def test_a_host_that_stops_says_so(transactional_db, probe):
    async with running_host() as host:
        await until(lambda: worker_row(host.worker))

    row = await worker_row(host.worker)
    assert (row.status, row.ended_at is not None) == ("ended", True)


async def test_a_process_that_vanished_is_judged_dead_and_its_row_ends(pool):
    await sql(
        "insert into agentruntime_worker (id, host, pid, status, seen_at)"
        " values ('gone', 'h', 1, 'processing', clock_timestamp() - interval '1 minute')"
    )

    await monitor_of(pool).judge_workers()

    row = await worker_row("gone")
    assert (row.health, row.ended_at is not None) == ("dead", True)
    assert "no connection" in row.reason


async def test_who_follows_a_run_on_a_late_worker_is_told_once(talk, gate):
    heard = []
    await talk.host.delivery.follow(
        talk.id, lambda e: heard.append(e) if isinstance(e, ServiceNoticed) else None
    )
    await talk.say("a room")
    await until(lambda: worker_row(talk.host.worker))
    host = talk.host
    host._heart.stop()
    await asyncio.to_thread(host._heart.join)
    await sql("update agentruntime_worker set seen_at = clock_timestamp() - interval '9 s'")

    for _ in range(3):
        await host.delivery.notice_turns(host.pool)

    assert [event.code for event in heard] == ["degraded"]
    gate.set()
    await talk.settled(1)


async def test_a_session_ends_with_its_outcome_and_counts_its_turns(talk):
    await talk.say("a room")
    await talk.settled(1)
    assert await in_db_thread(Session.objects.count) == 0
    await talk.answer({"room": "P01"})
    await talk.settled(2)
    await talk.answer({"approved": True})
    await talk.settled(3)

    session = await in_db_thread(Session.objects.get)
    assert (session.outcome, session.turns, session.phase) == ("success", 3, "BOOKED")
    assert session.started_at < session.ended_at


async def test_an_idle_session_times_out_and_its_conversation_stays(talk, pool):
    await talk.say("a room")
    before = await talk.settled(1)
    await change(
        talk.id,
        "session_at = session_at - interval '11 minutes',"
        " updated_at = updated_at - interval '11 minutes'",
    )

    await monitor_of(pool).end_sessions()
    await monitor_of(pool).end_sessions()

    session = await in_db_thread(Session.objects.get)
    assert (session.outcome, session.turns) == ("timeout", 1)
    assert await view_of(pool, talk.id) == before
    await talk.answer({"room": "P01"})
    assert (await talk.settled(2)).interrupt["kind"] == "confirm"


async def test_a_run_that_takes_long_is_no_idle_session(talk, pool, gate):
    await talk.say("a room")
    await change(
        talk.id,
        "session_open = true, session_at = clock_timestamp() - interval '1 hour',"
        " updated_at = clock_timestamp() - interval '1 hour'",
    )

    await monitor_of(pool).end_sessions()

    assert await in_db_thread(Session.objects.count) == 0
    gate.set()
    await talk.settled(1)


@pytest.fixture
def chore(monkeypatch):
    monkeypatch.setattr(chores, "_chores", {})
    return chores.register


async def test_a_due_chore_is_done_by_one_process_of_all(pool, chore):
    done = []
    chore("sweep", 60.0, lambda: done.append(1))
    monitors = [monitor_of(pool, worker=f"w{n}") for n in range(5)]

    for _ in range(2):
        await asyncio.gather(*(each.tick() for each in monitors))
        for each in monitors:
            await each.settle()

    assert done == [1]
    row = await in_db_thread(lambda: Chore.objects.get(pk="sweep"))
    assert (row.every_seconds, row.error) == (60.0, "")
    assert row.worker in {f"w{n}" for n in range(5)}


async def test_a_chore_that_fails_is_noted_and_done_again_when_it_is_due(pool, chore):
    async def fail():
        raise ValueError("no broom")

    chore("sweep", 60.0, fail)
    monitor = monitor_of(pool)
    await monitor.tick()
    await monitor.settle()

    row = await in_db_thread(lambda: Chore.objects.get(pk="sweep"))
    assert row.error == "ValueError: no broom"
    assert "sweep" not in await monitor.tick()
    await sql("update agentruntime_chore set due_at = clock_timestamp()")
    assert "sweep" in await monitor.tick()
    await monitor.settle()


async def test_rows_of_workers_long_gone_are_forgotten(pool):
    await sql(
        "insert into agentruntime_worker (id, host, pid, status, ended_at)"
        " values ('old', 'h', 1, 'ended', clock_timestamp() - interval '8 days')"
    )

    await fleet.judged(pool, [])

    assert await worker_row("old") is None


async def test_a_heartbeat_costs_no_lease_and_no_loop(transactional_db, probe, person):
    """Its thread goes on while the database is away for it, and comes back by itself."""
    async with running_host(replace(QUICK, beat_seconds=0.1)) as host:
        talk = Talk(host, await open_thread(person))
        await until(lambda: worker_row(host.worker))
        cut = await sql(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where pid <> pg_backend_pid() and query like '%%into agentruntime_worker%%'"
        )
        assert cut
        await talk.say("a room")
        await talk.settled(1)
        before = (await worker_row(host.worker)).seen_at

        async def beats():
            return (await worker_row(host.worker)).seen_at > before

        await until(beats)


async def test_a_host_for_evaluations_leaves_the_chores_to_others(transactional_db, probe):
    host = RuntimeHost(replace(QUICK, beat_seconds=0.05), does_chores=False)
    await host.start()
    try:
        await until(lambda: worker_row(host.worker))
        await asyncio.sleep(0.2)

        assert await sql("select name from agentruntime_chore") == []
    finally:
        await host.stop()


HANGS = """
import asyncio, logging, time
import django

django.setup()
from agentruntime.operations.heartbeat import Heartbeat

async def main():
    Heartbeat(
        "w1", conninfo="host=/nowhere", loop=asyncio.get_running_loop(), beat=0.1,
        holds=lambda: [], is_draining=lambda: False, hung_after=0.3, exit_after=0.8,
    ).start()
    await asyncio.sleep(0.3)
    time.sleep(60)

logging.basicConfig()
asyncio.run(main())
"""


def test_a_process_that_hangs_for_good_names_where_and_ends():
    """With or without a database."""
    began = time.monotonic()
    ended = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", HANGS],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )

    assert ended.returncode == EXIT_HUNG
    assert "loop_hung" in ended.stderr
    assert ", in main" in ended.stderr
    assert time.monotonic() - began < 30
