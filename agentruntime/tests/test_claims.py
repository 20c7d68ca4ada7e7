"""Who may run a thread: claims, renewals, releases, as statements."""

import asyncio
from datetime import timedelta

import pytest

from agentruntime.models import Run
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread, open_pool
from agentruntime.persistence.records import Renewed
from agentruntime.testing import until
from agentruntime.tests.conftest import (
    LEASE,
    change,
    claim_by_speaking,
    expire,
    message_to,
    open_thread,
    sql,
    store_message,
    turn_of,
    view_of,
)

SHORT = timedelta(seconds=1)


async def claim(pool, thread, *, worker="w2", lease=LEASE):
    return await store.claim(pool, thread=thread, worker=worker, lease=lease)


# --- claim


async def test_a_free_thread_with_unread_messages_is_claimed(pool, thread):
    await store_message(pool, message_to(thread, "read me"))

    found = await claim(pool, thread)

    assert (found.lease.version, found.lease.worker, found.kind, found.attempt) == (
        1,
        "w2",
        "start",
        1,
    )
    assert [message.text for message in found.pending] == ["read me"]


async def test_a_thread_without_unread_messages_is_not_claimed(pool, thread):
    assert await claim(pool, thread) is None
    assert (await view_of(pool, thread)).run_version == 0


async def test_an_archived_thread_is_not_claimed(pool, thread):
    await store_message(pool, message_to(thread))
    await change(thread, "status = 'archived'")

    assert await claim(pool, thread) is None
    assert await store.unattended(pool, agents=["probe"], lease=LEASE) == []


async def test_a_lease_that_a_living_worker_holds_is_not_claimed(pool, thread):
    await claim_by_speaking(pool, thread, worker="w1")

    assert await claim(pool, thread, lease=SHORT) is None
    assert (await view_of(pool, thread)).lease_owner == "w1"


async def test_an_expired_lease_is_claimed_though_its_worker_lives(pool, thread):
    first = await claim_by_speaking(pool, thread, worker="w1")
    await expire(thread)

    found = await claim(pool, thread)

    assert (found.lease.version, found.kind, found.attempt) == (2, "recovery", 2)
    assert [message.id for message in found.pending] == [message.id for message in first.pending]
    runs = await in_db_thread(lambda: dict(Run.objects.values_list("version", "status")))
    assert runs == {1: "lost", 2: "running"}


async def test_a_lease_of_a_worker_without_a_session_is_claimed_at_once(pool, thread):
    await claim_by_speaking(pool, thread, worker="never-connected")

    assert await store.unattended(pool, agents=["probe"], lease=SHORT) == [thread]
    found = await claim(pool, thread, lease=SHORT)

    assert (found.lease.version, found.kind) == (2, "recovery")


async def test_a_worker_whose_sessions_end_is_taken_over_before_its_lease_ends(pool, thread):
    dying = await open_pool(worker="dying")
    await claim_by_speaking(dying, thread, worker="dying")
    assert await claim(pool, thread, lease=SHORT) is None
    await dying.close()

    found = await until(lambda: claim(pool, thread, lease=SHORT), seconds=5)

    assert found.kind == "recovery"


async def test_no_worker_looks_dead_right_after_the_database_started(pool, thread):
    """The hint counts only once the server is up for longer than a lease."""
    await claim_by_speaking(pool, thread, worker="never-connected")
    since_long_ago = timedelta(days=365)

    assert await claim(pool, thread, lease=since_long_ago) is None
    assert await store.unattended(pool, agents=["probe"], lease=since_long_ago) == []


async def test_a_claim_does_not_wait_for_a_fenced_effect_in_flight(pool, thread):
    await claim_by_speaking(pool, thread)
    await expire(thread)

    async with pool.connection() as busy, busy.transaction():
        await busy.execute(
            "select 1 from agentruntime_thread where id = %s for key share", [thread]
        )
        async with asyncio.timeout(2):
            assert await claim(pool, thread) is None
        assert await store.unattended(pool, agents=["probe"], lease=LEASE) == [thread]

    assert (await claim(pool, thread)).kind == "recovery"


async def test_of_many_claims_at_once_one_succeeds(pool, thread):
    await store_message(pool, message_to(thread))

    found = await asyncio.gather(*(claim(pool, thread, worker="w1") for _ in range(12)))

    assert sum(each is not None for each in found) == 1
    assert (await view_of(pool, thread)).run_version == 1


async def test_attempts_count_lost_runs_of_this_turn_only(pool, thread):
    await claim_by_speaking(pool, thread)
    for attempt in (2, 3):
        await expire(thread)
        assert (await claim(pool, thread)).attempt == attempt
    await expire(thread)
    last = await claim(pool, thread)
    assert last.attempt == 4
    await store.commit_turn(pool, turn_of(last))

    await store_message(pool, message_to(thread))
    assert (await claim(pool, thread)).attempt == 1


async def test_unattended_names_every_thread_nobody_reads(pool, person):
    threads = [await open_thread(person) for _ in range(5)]
    held, free, expired, orphaned, _ = threads
    await claim_by_speaking(pool, held, worker="w1")
    await store_message(pool, message_to(free))
    await claim_by_speaking(pool, expired, worker="w1")
    await expire(expired)
    await claim_by_speaking(pool, orphaned, worker="never-connected")

    assert await store.unattended(pool, agents=["probe"], lease=SHORT) == sorted(
        [free, expired, orphaned]
    )
    assert await store.unattended(pool, agents=["another"], lease=SHORT) == []
    assert await store.unattended(pool, agents=["probe"], lease=SHORT, limit=1) == [
        min(free, expired, orphaned)
    ]


@pytest.mark.parametrize("how", ["taken over", "started again"])
async def test_a_run_begins_when_the_run_before_it_ends(pool, thread, how):
    first = await claim_by_speaking(pool, thread)

    if how == "taken over":
        await expire(thread)
        assert await claim(pool, thread)
    else:
        assert await store.supersede(pool, first, lease=LEASE, why="superseded")

    before, after = await in_db_thread(lambda: list(Run.objects.order_by("version")))
    assert before.started_at < before.ended_at == after.started_at


# --- renew and release


async def test_leases_are_renewed_in_one_statement_and_the_lost_ones_are_left_out(pool, person):
    claims = [await claim_by_speaking(pool, await open_thread(person)) for _ in range(3)]
    kept, stolen, released = claims
    await expire(stolen.lease.thread)
    await claim(pool, stolen.lease.thread)
    await store.release(pool, released.lease, status="superseded")
    await expire(kept.lease.thread)

    held = await store.renew(
        pool, worker="w1", held=[each.lease for each in claims], lease=timedelta(seconds=60)
    )

    assert held == {(kept.lease.thread, 1): Renewed(unread=0, is_stopped=False)}
    rows = await sql(
        "select id, extract(epoch from lease_until - clock_timestamp())::float"
        " from agentruntime_thread"
    )
    left = dict(rows)
    assert 55 < left[kept.lease.thread] <= 60
    assert 20 < left[stolen.lease.thread] <= 30
    assert left[released.lease.thread] is None
    assert await store.renew(pool, worker="w1", held=[], lease=LEASE) == {}


async def test_a_renewal_is_not_blocked_by_a_fenced_effect_in_flight(pool, thread):
    claimed = await claim_by_speaking(pool, thread)

    async with pool.connection() as busy, busy.transaction():
        await busy.execute(
            "select 1 from agentruntime_thread where id = %s for key share", [thread]
        )
        async with asyncio.timeout(2):
            held = await store.renew(pool, worker="w1", held=[claimed.lease], lease=LEASE)

    assert held == {(thread, 1): Renewed(unread=0, is_stopped=False)}


@pytest.mark.parametrize(("interrupt", "status"), [(None, "idle"), ('\'{"id": "q"}\'', "waiting")])
async def test_a_release_gives_the_thread_back_with_its_messages_unread(
    pool, thread, interrupt, status
):
    if interrupt:
        await change(thread, f"interrupt = {interrupt}")
    claimed = await claim_by_speaking(pool, thread)

    await store.release(pool, claimed.lease, status="lost", error="why" * 1000)

    view = await view_of(pool, thread)
    assert (view.status, view.lease_owner, view.turn) == (status, None, 0)
    run = await in_db_thread(Run.objects.get)
    assert (run.status, len(run.error)) == ("lost", 500)
    again = await claim(pool, thread)
    assert [message.id for message in again.pending] == [message.id for message in claimed.pending]
    assert again.kind == ("resume" if interrupt else "start")


async def test_a_lost_lease_cannot_be_released(pool, thread):
    first = await claim_by_speaking(pool, thread)
    await expire(thread)
    await claim(pool, thread)

    await store.release(pool, first.lease, status="lost")

    view = await view_of(pool, thread)
    assert (view.status, view.lease_owner) == ("running", "w2")
