"""The hot path's statements: what is stored, what a turn writes, and what a late run cannot."""

import asyncio
from datetime import timedelta

import pytest

from agentruntime.exceptions import RunSuperseded, StorageUnavailable, ThreadNotFound
from agentruntime.models import Message, Run
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread, open_pool
from agentruntime.persistence.records import Flushed
from agentruntime.persistence.saver import TurnSaver
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


async def claim(pool, thread, *, worker="w2", lease=LEASE):
    return await store.claim(pool, thread=thread, worker=worker, lease=lease)


async def rows_for(thread):
    """A checkpoint with a blob and a write, as a turn would have collected them."""
    saver = TurnSaver(None, turn=True)
    config = await put(saver, thread, {"draft": {"n": 1}})
    await saver.aput_writes(config, [("draft", {"n": 2})], "task")
    return saver.take()


async def contents():
    """Every row of the tables a run writes, as text."""
    tables = ("thread", "run", "message", "effect")
    names = [f"agentruntime_{name}" for name in tables]
    names += ["checkpoints", "checkpoint_blobs", "checkpoint_writes"]
    rows = "select x::text from {} as x order by 1"
    return {name: await sql(rows.format(name)) for name in names}


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
