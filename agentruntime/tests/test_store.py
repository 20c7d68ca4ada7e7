"""The hot path's statements: what is stored, who may run a thread, what a late run cannot write."""

import asyncio
from datetime import timedelta

import pytest

from agentruntime.exceptions import RunSuperseded, StorageUnavailable, ThreadNotFound
from agentruntime.models import Message, Run
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread, open_pool
from agentruntime.persistence.records import Flushed, Renewed
from agentruntime.persistence.saver import TurnSaver
from agentruntime.testing import until
from agentruntime.tests.conftest import (
    LEASE,
    change,
    claim_by_speaking,
    expire,
    message_to,
    open_thread,
    row_counts,
    sql,
    store_message,
    turn_of,
    view_of,
)
from agentruntime.tests.test_saver import put

SHORT = timedelta(seconds=1)


@pytest.fixture
async def thread(pool, person):
    return await open_thread(person)


async def claim(pool, thread, *, worker="w2", lease=LEASE):
    return await store.claim(pool, thread=thread, worker=worker, lease=lease)


async def rows_for(thread):
    """A checkpoint with a blob and a write, as a turn would have collected them."""
    saver = TurnSaver(None, turn=True)
    config = await put(saver, thread, {"draft": {"n": 1}})
    await saver.aput_writes(config, [("draft", {"n": 2})], "task")
    return saver.take()


# --- accept


async def test_a_message_on_an_idle_thread_is_stored_pending_beside_no_run(pool, thread):
    accepted = await store_message(pool, message_to(thread, "你好", client_id="c1"))

    stored = await in_db_thread(Message.objects.get)
    assert accepted.expected
    assert accepted.claim is None
    assert accepted.message_id == stored.pk
    assert (stored.status, stored.text, stored.rule) == ("pending", "你好", "test")
    assert (stored.run_version, stored.beside) == (None, None)
    assert (await view_of(pool, thread)).status == "idle"


async def test_an_accept_that_claims_brings_all_a_run_needs(pool, thread):
    accepted = await store_message(pool, message_to(thread, "first"), claim_for="w1")

    claimed = accepted.claim
    assert (claimed.lease.version, claimed.lease.worker, claimed.kind) == (1, "w1", "start")
    assert [message.text for message in claimed.pending] == ["first"]
    view = await view_of(pool, thread)
    assert (view.status, view.run_version, view.lease_owner) == ("running", 1, "w1")
    run = await in_db_thread(Run.objects.get)
    assert (run.pk, run.version, run.status, run.turn) == (claimed.lease.run, 1, "running", 1)


@pytest.mark.parametrize("moved", ["turn = turn + 1", "run_version = 5", "status = 'archived'"])
async def test_nothing_is_stored_on_a_thread_that_moved_on(pool, thread, moved):
    seen = await view_of(pool, thread)
    await change(thread, moved)
    before = await row_counts()

    accepted = await store_message(pool, message_to(thread), seen=seen, claim_for="w1")

    assert not accepted.expected
    assert (accepted.message_id, accepted.claim) == (None, None)
    assert accepted.thread == await view_of(pool, thread)
    assert await row_counts() == before


async def test_the_same_client_id_is_stored_once_and_claims_nothing_again(pool, thread):
    await store_message(pool, message_to(thread, client_id="same"))

    again = await store_message(pool, message_to(thread, client_id="same"), claim_for="w1")

    assert again.expected
    assert (again.message_id, again.claim) == (None, None)
    assert (await view_of(pool, thread)).run_version == 0
    known = await store.stored_message(pool, thread=thread, client_id="same")
    assert known["status"] == "pending"


async def test_one_client_id_in_two_threads_is_two_messages(pool, thread, person):
    other = await open_thread(person)

    for each in (thread, other):
        accepted = await store_message(pool, message_to(each, client_id="same"))
        assert accepted.message_id is not None


async def test_thirty_at_once_keep_their_order_and_only_one_claims(pool, thread):
    seen = await view_of(pool, thread)
    order = []

    async def one(n):
        now = seen
        while True:
            accepted = await store_message(
                pool, message_to(thread, str(n)), seen=now, claim_for="w1"
            )
            if accepted.expected:
                order.append((accepted.message_id, str(n)))
                return accepted.claim
            now = accepted.thread

    claims = [found for found in await asyncio.gather(*(one(n) for n in range(30))) if found]

    assert len(claims) == 1
    stored = await in_db_thread(
        lambda: list(Message.objects.order_by("id").values_list("id", "text"))
    )
    assert sorted(order) == stored
    assert len(stored) == 30
    assert (await view_of(pool, thread)).run_version == 1


async def test_a_message_to_a_thread_that_is_gone_is_not_stored(pool, thread):
    seen = await view_of(pool, thread)
    await sql("delete from agentruntime_thread where id = %s", thread)

    with pytest.raises(ThreadNotFound):
        await store_message(pool, message_to(thread), seen=seen)


async def test_a_refused_message_is_kept_and_never_read(pool, thread):
    message = message_to(thread)
    await store.refuse(pool, message, classification="", rule="rejected_while_running")

    stored = await in_db_thread(Message.objects.get)
    assert (stored.status, stored.rule) == ("refused", "rejected_while_running")
    assert await claim(pool, thread) is None
    assert (await store_message(pool, message)).message_id != stored.pk


async def test_a_closed_pool_is_storage_that_is_unavailable(person, pool, thread):
    seen = await view_of(pool, thread)
    closed = await open_pool(worker="gone")
    await closed.close()

    with pytest.raises(StorageUnavailable):
        await store_message(closed, message_to(thread), seen=seen)


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


# --- commit and flush


async def test_a_turn_is_written_whole_and_frees_the_thread(pool, thread):
    answer = await store_message(pool, message_to(thread, interrupt_id="gone"))
    claimed = await claim_by_speaking(pool, thread)
    question = {"id": "q", "kind": "clarify", "message": "When?", "data": {}}
    said = {"kind": "clarify", "text": "When?", "data": {"missing": ["date"]}, "interrupt_id": "q"}
    turn = turn_of(
        claimed,
        rows=await rows_for(thread),
        status="waiting",
        run_status="waiting",
        head="h1",
        interrupt=question,
        summary={"phase": "COLLECTING"},
        title="t" * 300,
        language="zh",
        consumed={claimed.pending[1].id: "new_request"},
        aside={answer.message_id: ("refused", "stale_answer")},
        said=[{"kind": "text", "text": "Well.", "data": {}, "interrupt_id": ""}, said],
        steps=[{"node": "understand"}],
    )

    committed = await store.commit_turn(pool, turn)

    assert (committed.turn, committed.pending) == (1, False)
    assert [(each["kind"], each["text"]) for each in committed.said] == [
        ("text", "Well."),
        ("clarify", "When?"),
    ]
    view = await view_of(pool, thread)
    assert (view.status, view.lease_owner, view.turn, view.head) == ("waiting", None, 1, "h1")
    assert (view.interrupt, view.summary) == (question, {"phase": "COLLECTING"})
    assert (len(view.title), view.language) == (120, "zh")
    messages = await in_db_thread(
        lambda: list(
            Message.objects.order_by("id").values_list("role", "status", "classification", "turn")
        )
    )
    assert messages == [
        ("user", "refused", "", 1),
        ("user", "consumed", "new_request", 1),
        ("assistant", "said", "", 1),
        ("assistant", "said", "", 1),
    ]
    run = await in_db_thread(Run.objects.get)
    assert (run.status, run.head, run.steps) == ("waiting", "h1", [{"node": "understand"}])
    assert run.ended_at is not None
    counts = await row_counts()
    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    assert [counts[table] for table in tables] == [1, 1, 1]


async def test_a_commit_tells_that_more_is_unread(pool, thread):
    claimed = await claim_by_speaking(pool, thread)
    await store_message(pool, message_to(thread, "meanwhile"))

    assert (await store.commit_turn(pool, turn_of(claimed))).pending


async def taken_over(pool, thread, claimed):
    await expire(thread)
    assert await claim(pool, thread) is not None


async def given_back(pool, thread, claimed):
    await store.release(pool, claimed.lease, status="superseded")


async def ended(pool, thread, claimed):
    await store.commit_turn(pool, turn_of(claimed))


async def commit_late(pool, claimed, rows):
    said = [{"kind": "text", "text": "late", "data": {}, "interrupt_id": ""}]
    turn = turn_of(
        claimed,
        rows=rows,
        said=said,
        aside=dict.fromkeys(range(100), ("refused", "stale_answer")),
        title="late",
    )
    await store.commit_turn(pool, turn)


async def flush_late(pool, claimed, rows):
    await store.flush(pool, claimed.lease, rows, Flushed(head="h", consumed=[1], said=[]))


@pytest.mark.parametrize("lose", [taken_over, given_back, ended])
@pytest.mark.parametrize("write", [commit_late, flush_late])
async def test_a_run_that_lost_its_thread_writes_not_one_row(pool, thread, lose, write):
    claimed = await claim_by_speaking(pool, thread)
    await lose(pool, thread, claimed)
    rows = await rows_for(thread)
    before, view = await row_counts(), await view_of(pool, thread)
    everything = await contents()

    with pytest.raises(RunSuperseded):
        await write(pool, claimed, rows)

    assert await row_counts() == before
    assert await view_of(pool, thread) == view
    assert await contents() == everything


async def test_a_commit_that_fails_half_way_leaves_everything_as_it_was(pool, thread):
    claimed = await claim_by_speaking(pool, thread)
    before = await contents()
    broken = [{"kind": "k" * 21, "text": "too long a kind", "data": {}, "interrupt_id": ""}]

    with pytest.raises(Exception, match="too long"):
        await store.commit_turn(pool, turn_of(claimed, rows=await rows_for(thread), said=broken))

    assert await contents() == before


async def test_a_flush_keeps_the_lease_and_says_where_to_go_on(pool, thread):
    claimed = await claim_by_speaking(pool, thread)
    rows = await rows_for(thread)
    ((_, _, checkpoint),) = rows.encoded
    flushed = Flushed(
        head=checkpoint,
        consumed=[claimed.pending[0].id],
        said=[{"kind": "text", "text": "so far", "data": {}, "interrupt_id": ""}],
    )

    await store.flush(pool, claimed.lease, rows, flushed)

    view = await view_of(pool, thread)
    assert (view.status, view.turn, view.head, view.lease_owner) == ("running", 0, "", "w1")
    await expire(thread)
    again = await claim(pool, thread)
    assert again.flushed == flushed
    assert again.head["checkpoint_id"] == checkpoint
    await store.commit_turn(pool, turn_of(again, head=checkpoint))
    await store_message(pool, message_to(thread))
    assert (await claim(pool, thread)).flushed is None


async def test_what_a_turn_leaves_unread_is_read_by_the_next_claim(pool, thread):
    claimed = await claim_by_speaking(pool, thread)

    committed = await store.commit_turn(pool, turn_of(claimed, consumed={}, left=1))

    assert (committed.turn, committed.said, committed.pending) == (1, [], True)
    accepted = await store_message(pool, message_to(thread, "second"), claim_for="w1")
    assert accepted.claim is None
    assert [each.text for each in (await claim(pool, thread)).pending] == ["a room", "second"]


async def test_a_given_back_message_is_read_together_with_the_next(pool, thread):
    claimed = await claim_by_speaking(pool, thread)
    await store.release(pool, claimed.lease, status="superseded")

    accepted = await store_message(pool, message_to(thread, "second"), claim_for="w1")

    assert accepted.claim is None
    assert [each.text for each in (await claim(pool, thread)).pending] == ["a room", "second"]


# --- snapshot


async def test_a_snapshot_has_the_newest_messages_in_order_without_refused_ones(pool, thread):
    for n in range(5):
        await store_message(pool, message_to(thread, str(n)))
    await store.refuse(pool, message_to(thread, "no"), classification="", rule="r")

    view, messages = await store.snapshot(pool, thread, limit=3)

    assert view == await view_of(pool, thread)
    assert [message.text for message in messages] == ["2", "3", "4"]
    assert messages[0].created_at.tzinfo is not None
    assert await store.snapshot(pool, "nobody") is None


async def contents():
    """Every row of the tables a run writes, as text."""
    tables = ("thread", "run", "message", "effect")
    names = [f"agentruntime_{name}" for name in tables]
    names += ["checkpoints", "checkpoint_blobs", "checkpoint_writes"]
    rows = "select x::text from {} as x order by 1"
    return {name: await sql(rows.format(name)) for name in names}


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
