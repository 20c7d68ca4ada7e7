"""Forks: copies that go on elsewhere, cannot act, and leave the original as it is."""

import pytest
from django.db import IntegrityError, transaction

from agentruntime.access import thread_for
from agentruntime.agents import get_agent
from agentruntime.exceptions import CheckpointNotFound, SandboxBusy, SandboxFailed, ThreadNotFound
from agentruntime.models import Effect, Message, Run, Thread, uuid7
from agentruntime.persistence.pools import in_db_thread
from agentruntime.tests.conftest import row_counts, sql
from agentruntime.tests.timetravel import held
from agentruntime.tests.timetravel.held import CALLED, booked, confirming, heads, snapshot, waiting
from agentruntime.timetravel import forks, history, sandbox
from agentruntime.timetravel.sandbox import Say


async def test_a_fork_of_an_open_question_asks_it_again_with_its_own_thread(talk):
    thread = await waiting(talk)
    before = await in_db_thread(snapshot, thread)

    fork, _ = await in_db_thread(forks.fork, thread, thread.head)

    assert fork.sandbox
    assert (fork.forked_from_id, fork.forked_at) == (thread.pk, thread.head)
    assert fork.interrupt == thread.interrupt
    texts = await in_db_thread(
        lambda: list(fork.messages.order_by("pk").values_list("text", flat=True))
    )
    assert texts == ["a room for six", "Which room?"]
    assert await in_db_thread(snapshot, thread) == before


async def test_an_answered_question_takes_another_answer_in_a_fork(talk):
    thread = await booked(talk)
    asked = (await heads(thread))["select_room"]
    fork, _ = await in_db_thread(forks.fork, thread, asked)
    assert fork.interrupt["kind"] == "select_room"

    await in_db_thread(sandbox.run, fork, say=[Say(value={"room": "P02"})])

    opened = await in_db_thread(history.opened, *(await _stands(fork)))
    assert opened.values["draft"]["room"] == "P02"
    assert opened.point.next == ["confirm"]


async def _stands(fork):
    fresh = await in_db_thread(Thread.objects.get, pk=fork.pk)
    return fresh, fresh.head


async def test_a_fork_is_answered_what_its_original_did(talk):
    thread = await booked(talk)
    asked = (await heads(thread))["confirm"]
    fork, _ = await in_db_thread(forks.fork, thread, asked)

    ran = await in_db_thread(sandbox.run, fork, say=[Say(value={"approved": True})])

    [effect] = await in_db_thread(lambda: list(Effect.objects.all()))
    assert [(act.name, act.recorded) for act in ran.acts] == [("book_room", effect.pk)]
    assert [effect.pk] == CALLED


async def test_a_fork_before_the_act_simulates_it(talk):
    thread = await confirming(talk)
    fork, _ = await in_db_thread(forks.fork, thread, thread.head)

    ran = await in_db_thread(sandbox.run, fork, say=[Say(value={"approved": True})])

    assert not await in_db_thread(fork.sessions.exists)
    fork = await in_db_thread(Thread.objects.get, pk=fork.pk)
    assert not fork.session_open
    assert [(act.recorded, act.result["simulated"]) for act in ran.acts] == [(None, True)]
    assert CALLED == []
    assert not await in_db_thread(Effect.objects.exists)


async def test_changed_fields_are_searched_for_anew(talk):
    thread = await confirming(talk)

    fork, ran = await in_db_thread(
        forks.fork, thread, thread.head, changes={"draft.wish": "a hall", "draft.seats": 30}
    )

    assert [step["node"] for step in ran.steps] == ["search", "choose"]
    opened = await in_db_thread(history.opened, fork, fork.head)
    assert (opened.values["draft"]["wish"], opened.values["draft"]["seats"]) == ("a hall", 30)
    assert fork.interrupt["kind"] == "select_room"


async def test_a_fork_from_the_middle_of_a_run_finishes_it(talk):
    thread = await booked(talk)
    page = await in_db_thread(history.timeline, thread)
    middle = next(each for each in page.points if list(each.nodes) == ["understand"])

    fork, ran = await in_db_thread(forks.fork, thread, middle.id)

    assert [step["node"] for step in ran.steps] == ["search", "choose"]
    assert fork.interrupt["kind"] == "select_room"


async def test_a_fork_of_the_first_checkpoint_begins_at_the_beginning(talk):
    thread = await booked(talk)
    page = await in_db_thread(history.timeline, thread)

    fork, ran = await in_db_thread(forks.fork, thread, page.points[-1].id)

    assert [step["node"] for step in ran.steps][-3:] == ["understand", "search", "choose"]
    assert fork.interrupt["kind"] == "select_room"


@pytest.mark.parametrize("bad", ["", "nonsense", str(uuid7())])
async def test_what_is_no_checkpoint_of_the_thread_creates_nothing(talk, bad):
    thread = await waiting(talk)
    before = await row_counts()

    with pytest.raises(CheckpointNotFound):
        await in_db_thread(forks.fork, thread, bad)

    assert await row_counts() == before


async def test_ten_forks_from_two_desks_book_nothing_while_the_owner_goes_on(talk):
    thread = await booked(talk)
    asked = (await heads(thread))["confirm"]
    await talk.say("another room")
    await talk.settled(4)
    before = await in_db_thread(snapshot, thread)

    def five():
        for _ in range(5):
            fork, _ran = forks.fork(thread, asked)
            sandbox.run(fork, say=[Say(value={"approved": True})])

    import asyncio

    both = [asyncio.create_task(in_db_thread(five)) for _ in range(2)]
    await talk.answer({"room": "P03"})
    after_answer = await talk.settled(5)
    await asyncio.gather(*both)

    assert len(CALLED) == 1
    assert await in_db_thread(Effect.objects.count) == 1
    assert after_answer.interrupt["kind"] == "confirm"
    now = await talk.view()
    assert (now.head, now.interrupt, now.turn) == (after_answer.head, after_answer.interrupt, 5)
    await talk.answer({"approved": True})
    await talk.settled(6)
    assert len(CALLED) == 2
    assert before[0]["id"] == thread.pk


async def test_the_database_takes_no_effect_of_a_sandbox(talk):
    thread = await confirming(talk)
    fork, _ = await in_db_thread(forks.fork, thread, thread.head)

    def write():
        run = Run.objects.filter(thread=fork).first()
        with transaction.atomic():
            Effect.objects.create(
                thread=fork, run=run, run_version=1, name="x", task="t", intent="i", checkpoint="c"
            )

    with pytest.raises(IntegrityError, match="sandbox"):
        await in_db_thread(write)


async def test_a_read_that_writes_is_refused_by_the_database(talk, monkeypatch):
    thread = await confirming(talk)
    fork, _ = await in_db_thread(forks.fork, thread, thread.head)
    monkeypatch.setattr(held, "look", lambda: Thread.objects.update(title="written"))

    with pytest.raises(SandboxFailed, match="read-only"):
        await in_db_thread(sandbox.run, fork, say=[Say(value={"approved": True})])

    assert not await in_db_thread(Thread.objects.filter(title="written").exists)
    status, interrupt = await in_db_thread(
        lambda: Thread.objects.values_list("status", "interrupt").get(pk=fork.pk)
    )
    assert (status, interrupt) == ("waiting", fork.interrupt)


async def test_one_run_at_a_time(talk):
    thread = await confirming(talk)
    fork, _ = await in_db_thread(forks.fork, thread, thread.head)
    await sql(
        "update agentruntime_thread set lease_owner = 'x', lease_until = now() + interval '1 minute' where id = %s",
        fork.pk,
    )

    with pytest.raises(SandboxBusy):
        await in_db_thread(sandbox.run, fork, say=[Say(text="hello")])


async def test_a_live_thread_is_never_run_as_a_sandbox(talk):
    thread = await confirming(talk)

    with pytest.raises(SandboxBusy):
        await in_db_thread(sandbox.run, thread, say=[Say(text="hello")])
    with pytest.raises(ValueError, match="sandbox"):
        await in_db_thread(forks.drop, thread)


async def test_no_edge_and_no_worker_gets_a_sandbox_thread(talk, person, host):
    thread = await confirming(talk)
    fork, _ = await in_db_thread(forks.fork, thread, thread.head)
    with pytest.raises(ThreadNotFound):
        await in_db_thread(thread_for, person, fork.pk)
    await in_db_thread(
        lambda: Message.objects.create(thread=fork, role="user", status="pending", text="hi")
    )

    await host.attend()

    assert await in_db_thread(lambda: fork.messages.filter(status="pending").count()) == 1


async def test_a_dropped_fork_leaves_no_rows(talk):
    thread = await booked(talk)
    before = await row_counts()
    fork, _ = await in_db_thread(forks.fork, thread, thread.head)

    await in_db_thread(forks.drop, fork)

    assert await row_counts() == before
    assert get_agent("probe").editable_fields
