"""Pruning keeps what somebody may still need, and says beforehand what it will do."""

import asyncio
from dataclasses import replace

import pytest
from django.db import connection
from django.utils import timezone

from agentruntime.agents import get_agent
from agentruntime.models import Effect, Message, Thread
from agentruntime.persistence import pruning
from agentruntime.persistence.pools import in_db_thread
from agentruntime.tests.conftest import change
from agentruntime.tests.timetravel.held import booked, confirming, heads
from agentruntime.timetravel import forks, history, retention, sandbox
from agentruntime.timetravel.promote import promote
from agentruntime.timetravel.sandbox import Say


def ids(thread):
    return [point.id for point in history.timeline(thread).points]


def prune(thread, **rule):
    names = {"keep_last": 1, "before": None, **rule}
    return retention.prune_thread(thread.pk, **names)


async def test_a_dry_run_and_a_real_run_say_the_same(talk):
    thread = await booked(talk)

    dry = await in_db_thread(prune, thread, dry=True)
    unchanged = await in_db_thread(ids, thread)
    real = await in_db_thread(prune, thread, verify=True)

    assert dry.planned.checkpoints > 3
    assert len(unchanged) == 7
    assert (real.planned, real.finished, real.verified) == (dry.planned, True, True)
    assert real.gone == real.planned
    assert (await in_db_thread(prune, thread, dry=True)).planned == pruning.Tally()


async def test_the_head_and_what_an_effect_came_from_stay(talk):
    thread = await booked(talk)
    effect = await in_db_thread(Effect.objects.get)

    await in_db_thread(prune, thread, keep_last=0)

    assert set(await in_db_thread(ids, thread)) == {thread.head, effect.checkpoint}


async def test_pins_keep_their_whole_turn(talk):
    thread = await booked(talk)
    page = await in_db_thread(history.timeline, thread)
    first_turn = [point for point in page.points if point.version == page.points[-1].version]

    await in_db_thread(prune, thread, pinned=[first_turn[0].id])

    left = set(await in_db_thread(ids, thread))
    assert {point.id for point in first_turn} <= left
    assert len(left) < 7


async def test_what_is_younger_than_the_limit_stays(talk):
    thread = await booked(talk)
    day = timezone.timedelta(days=1)

    kept = await in_db_thread(prune, thread, before=timezone.now() - day, dry=True)
    gone = await in_db_thread(prune, thread, before=timezone.now() + day, dry=True)

    assert kept.planned == pruning.Tally()
    assert gone.planned.checkpoints > 3


async def test_everything_somebody_needs_is_kept_at_once(talk):
    """A promoted branch, an open question on both, a pin, an effect, forks: all there afterwards."""
    await booked(talk)
    await talk.say("another")
    await talk.settled(4)
    await talk.answer({"room": "P02"})
    await talk.settled(5)
    await talk.answer({"approved": True})
    await talk.settled(6)
    thread = await in_db_thread(Thread.objects.get, pk=talk.id)
    asked = await heads(thread)
    fork, _ = await in_db_thread(forks.fork, thread, asked["select_room"])
    await in_db_thread(sandbox.run, fork, say=[Say(value={"room": "P05"})])
    fork = await in_db_thread(Thread.objects.get, pk=fork.pk)
    await in_db_thread(promote, fork, expected_head=thread.head, notice="n")
    other, _ = await in_db_thread(forks.fork, thread, asked["confirm"])
    thread = await in_db_thread(Thread.objects.get, pk=thread.pk)
    page = await in_db_thread(history.timeline, thread)
    pinned = page.points[-1].id
    effects = await in_db_thread(lambda: set(Effect.objects.values_list("checkpoint", flat=True)))

    planned = await in_db_thread(prune, thread, pinned=[pinned], dry=True)
    done = await in_db_thread(prune, thread, pinned=[pinned], verify=True)

    left = set(await in_db_thread(ids, thread))
    tips = set(page.branches.tips)
    assert len(tips) == 2
    assert tips | effects | {thread.head, pinned, fork.forked_at, other.forked_at} <= left
    assert done.gone.checkpoints > 0
    assert (planned.planned, done.verified) == (done.gone, True)
    await talk.answer({"approved": True})
    settled = await talk.settled(thread.turn + 1)
    assert settled.summary["phase"] == "BOOKED"
    await in_db_thread(sandbox.run, other, say=[Say(value={"approved": False})])


async def test_a_running_thread_is_left_alone(talk):
    thread = await booked(talk)
    await change(
        thread.pk,
        "status = 'running', lease_owner = 'w', lease_until = now() + interval '1 minute'",
    )

    done = await in_db_thread(prune, thread)

    assert (done.skipped, done.gone) == ("running", pruning.Tally())
    assert len(await in_db_thread(ids, thread)) == 7
    assert await in_db_thread(retention.remove_thread, thread.pk) == "running"


async def test_pruning_goes_on_where_it_was_stopped(talk):
    thread = await booked(talk)

    stopped = await in_db_thread(prune, thread, batch=1, deadline=0.0)
    assert (stopped.finished, stopped.gone) == (False, pruning.Tally())
    done = await in_db_thread(prune, thread, batch=1)

    assert done.gone == done.planned
    assert done.finished


async def test_a_message_beside_the_pruning_is_answered(talk):
    thread = await confirming(talk)

    pruned = asyncio.create_task(in_db_thread(prune, thread, batch=1))
    await talk.answer({"approved": True})
    settled = await talk.settled(3)
    await pruned

    assert settled.summary["phase"] == "BOOKED"


async def test_a_gap_is_no_root(talk):
    thread = await booked(talk)
    await in_db_thread(prune, thread)

    page = await in_db_thread(history.timeline, thread)

    assert [point.is_gap for point in page.points] == [False, True]
    assert all(point.parent for point in page.points)


async def test_nothing_points_to_nothing_afterwards(talk):
    thread = await booked(talk)

    def spoil():
        with connection.cursor() as cursor:
            cursor.execute(
                "delete from checkpoints where thread_id = %s and checkpoint_id = %s",
                [thread.pk, ids(thread)[2]],
            )

    assert not any((await in_db_thread(pruning.orphans)).values())
    await in_db_thread(spoil)
    assert (await in_db_thread(pruning.orphans))["writes_without_checkpoint"] > 0
    await in_db_thread(prune, thread)

    assert not any((await in_db_thread(pruning.orphans)).values())


async def test_a_thread_that_did_something_leaves_what_it_did(talk):
    thread = await booked(talk)

    assert await in_db_thread(retention.remove_thread, thread.pk) == "emptied"

    left = await in_db_thread(Thread.objects.get, pk=thread.pk)
    assert (left.status, left.head, left.interrupt, left.title) == ("archived", "", None, "")
    assert not await in_db_thread(Message.objects.filter(thread=thread).exists)
    effect = await in_db_thread(Effect.objects.get)
    assert effect.result == {"room": "P01"}
    assert not any((await in_db_thread(pruning.orphans)).values())


async def test_a_thread_that_did_nothing_is_gone(talk):
    thread = await confirming(talk)

    assert await in_db_thread(retention.remove_thread, thread.pk) == "deleted"

    assert not await in_db_thread(Thread.objects.filter(pk=thread.pk).exists)
    assert not any((await in_db_thread(pruning.orphans)).values())


@pytest.mark.parametrize(("erase", "arguments"), [(True, {}), (False, {"room": "P01"})])
async def test_erasing_masks_what_was_done(talk, register, erase, arguments):
    thread = await booked(talk)
    register(replace(get_agent("probe"), personal=frozenset({"room"})))

    await in_db_thread(retention.remove_thread, thread.pk, erase=erase)

    assert (await in_db_thread(Effect.objects.get)).arguments == arguments
