"""What is said beside a run: corrected, joined, and never two runs at once."""

import asyncio

import pytest

from agentruntime.exceptions import InboxFull
from agentruntime.models import Message
from agentruntime.persistence.pools import in_db_thread
from agentruntime.testing import running_host, until
from agentruntime.tests.conftest import Talk, open_thread
from agentruntime.tests.staging import decisions_of, runs_of


async def test_a_correction_stops_the_run_and_starts_it_again_with_all_words(
    talk, stage_at, notices
):
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()

    receipt = await talk.say("no for ten")
    await stage.came.get()
    stage.gate.set()

    view = await talk.settled(1)
    assert receipt.action == "supersede"
    assert view.summary["title"] == "a room no for ten"
    assert await runs_of(talk) == [(1, "superseded"), (2, "waiting")]
    assert notices == ["superseded"]
    asked = [m for m in await talk.messages() if m.kind == "select_room"]
    assert len(asked) == 1
    assert [d[1:] for d in await decisions_of(talk)] == [
        ("text_on_idle_thread", 2, 1),
        ("correction_while_running", 2, 1),
    ]


async def test_a_supplement_joins_after_a_moment(talk, stage_at, notices):
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()

    receipt = await talk.say("and a projector")
    await stage.came.get()
    stage.gate.set()

    view = await talk.settled(1)
    assert (receipt.action, notices) == ("join", ["adjusting"])
    assert view.summary["title"] == "a room and a projector"
    assert [status for _, status in await runs_of(talk)] == ["superseded", "waiting"]


async def test_fragments_said_at_once_are_one_run(talk):
    for words in ("tomorrow...", "at three...", "eight people...", "one hour"):
        await talk.say(words)

    view = await talk.settled(1)

    assert view.summary["title"] == "tomorrow... at three... eight people... one hour"[:40]
    assert await runs_of(talk) == [(1, "waiting")]
    await asyncio.sleep(0.2)
    assert (await talk.view()).turn == 1


async def test_words_that_never_end_are_answered_after_the_ceiling(talk):
    loop = asyncio.get_running_loop()
    began = loop.time()
    while (await talk.view()).turn == 0:
        await talk.say("more...")
        await asyncio.sleep(0.02)

    assert loop.time() - began < 2


@pytest.mark.parametrize(
    ("strategy", "action"), [("enqueue", "queued"), ("interrupt", "supersede")]
)
async def test_a_strategy_rules_over_the_class(talk, stage_at, strategy, action):
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()

    receipt = await talk.say("no for ten", strategy=strategy)
    stage.gate.set()

    assert receipt.action == action
    await talk.settled(1)


async def test_a_message_may_be_refused_while_the_agent_works(talk, stage_at):
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()

    with pytest.raises(InboxFull):
        await talk.say("another", strategy="reject")

    stage.gate.set()
    view = await talk.settled(1)
    assert view.summary["title"] == "a room"


async def test_many_messages_from_many_sides_are_all_read_in_order(talk):
    async def side(number):
        for count in range(10):
            await talk.say(f"and {number}.{count}", client_id=f"{number}-{count}")

    await talk.say("a room")
    await asyncio.gather(*(side(number) for number in range(5)))

    async def read():
        view = await talk.view()
        left = await in_db_thread(
            lambda: Message.objects.filter(thread_id=talk.id, status="pending").count()
        )
        return view.status != "running" and left == 0

    await until(read, seconds=20)
    stored = await in_db_thread(
        lambda: list(
            Message.objects.filter(thread_id=talk.id, role="user")
            .order_by("id")
            .values_list("client_id", "status", "turn")
        )
    )
    assert len(stored) == 51
    assert {status for _, status, _ in stored} == {"consumed"}
    turns = [turn for _, _, turn in stored]
    assert turns == sorted(turns)
    for number in range(5):
        mine = [each for each, _, _ in stored if each.startswith(f"{number}-")]
        assert mine == [f"{number}-{count}" for count in range(10)]
    running = [version for version, status in await runs_of(talk) if status == "running"]
    assert running == []


async def test_a_renewal_at_any_moment_of_a_turn_stops_nothing(transactional_db, probe, person):
    """A commit frees the lease and a supersede renames it while the keeper may be renewing."""
    from agentruntime.operations.host import HostSettings

    settings = HostSettings(beat_seconds=0.001, watch_seconds=0.05, debounce_seconds=0.01)
    async with running_host(settings) as host:
        talk = Talk(host, await open_thread(person))
        for turn in range(1, 40):
            seen = await talk.view()
            if seen.interrupt is None:
                await talk.say("a room", seen=seen)
                await talk.say("and more", seen=seen)
            else:
                await talk.say("yes", seen=seen)

            async def read():
                view = await talk.view()
                left = await in_db_thread(
                    lambda: Message.objects.filter(thread_id=talk.id, status="pending").count()
                )
                return view.status != "running" and not left

            from agentruntime.testing import until

            await until(read, seconds=3)
            assert turn

    statuses = {status for _, status in await runs_of(talk)}
    assert "lost" not in statuses
    assert "running" not in statuses


async def test_a_lost_last_event_is_noticed_by_the_turn(talk):
    from agentruntime.events import TurnNoticed

    heard = []
    await talk.host.delivery.follow(talk.id, heard.append)
    await talk.say("a room")
    await talk.settled(1)
    await talk.host.delivery.notice_turns(talk.host.pool)
    assert not [each for each in heard if isinstance(each, TurnNoticed)]

    talk.host.delivery._told[talk.id].turn = 0
    await talk.host.delivery.notice_turns(talk.host.pool)

    noticed = [each for each in heard if isinstance(each, TurnNoticed)]
    assert [each.turn for each in noticed] == [1]


async def test_what_rolls_back_is_read_instead_of_what_was_said(talk, stage_at, notices):
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()

    receipt = await talk.say("a hall", strategy="rollback")
    await stage.came.get()
    stage.gate.set()

    view = await talk.settled(1)
    assert (receipt.action, notices) == ("supersede", ["superseded"])
    assert view.summary["title"] == "a hall"
    said = await in_db_thread(
        lambda: list(
            Message.objects.filter(role="user").order_by("id").values_list("status", "rule")
        )
    )
    assert said == [("refused", "rolled_back"), ("consumed", "rollback_as_asked")]


async def test_a_click_that_is_corrected_before_it_is_carried_out_is_one_turn(talk, stage_at):
    await talk.say("a room")
    await talk.settled(1)
    stage = stage_at("choose")
    await talk.answer({"room": "P01"})
    await stage.came.get()

    await talk.say("no P02")
    await stage.came.get()
    stage.gate.set()

    await talk.settled(2)
    answered = await decisions_of(talk)
    assert [(rule, version, turn) for _, rule, version, turn in answered[1:]] == [
        ("answers_open_question", 3, 2),
        ("correction_while_running", 3, 2),
    ]


async def test_what_was_refused_beside_a_run_is_taken_when_it_is_sent_again(talk, stage_at):
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()
    with pytest.raises(InboxFull):
        await talk.say("a hall", client_id="r1", strategy="reject")
    stage.gate.set()
    await talk.settled(1)

    await talk.say("P04", client_id="r1", strategy="reject")

    assert (await talk.settled(2)).summary["slots"]["room"] == "P04"
