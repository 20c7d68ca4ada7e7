"""What is said beside a run: corrected, joined, queued, and never two runs at once."""

import asyncio

import pytest

from agentruntime.events import NoticeGiven, QueueChanged
from agentruntime.exceptions import AlreadyRead, InboxFull
from agentruntime.models import Effect, Message, Run
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread
from agentruntime.testing import probe_spec, running_host, until
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


class Stage:
    """Holds runs at a node until the gate opens; counts who came there."""

    def __init__(self, node):
        self.node = node
        self.gate = asyncio.Event()
        self.came = asyncio.Queue()

    async def hook(self, node):
        if node == self.node:
            self.came.put_nowait(node)
            await self.gate.wait()


@pytest.fixture
async def stage_at(talk):
    def put(node):
        stage = Stage(node)
        talk.host._graphs["probe"] = probe_spec(hook=stage.hook).build_graph().compile()
        return stage

    return put


@pytest.fixture
async def notices(talk):
    heard = []
    await talk.host.delivery.follow(
        talk.id, lambda e: heard.append(e.code) if isinstance(e, NoticeGiven) else None
    )
    return heard


async def runs_of(talk):
    return await in_db_thread(
        lambda: list(
            Run.objects.filter(thread_id=talk.id)
            .order_by("version")
            .values_list("version", "status")
        )
    )


async def decisions_of(talk):
    return await in_db_thread(
        lambda: list(
            Message.objects.filter(thread_id=talk.id, role="user")
            .order_by("id")
            .values_list("classification", "rule", "run_version", "turn")
        )
    )


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


async def test_a_new_wish_waits_its_turn_and_is_told_so(talk, stage_at, notices):
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()

    receipt = await talk.say("P04")
    await asyncio.sleep(0.15)
    stage.gate.set()

    view = await talk.settled(2)
    assert (receipt.action, notices) == ("queued", ["queued"])
    assert view.summary["slots"]["room"] == "P04"


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


async def test_past_the_point_of_no_return_a_cancel_is_for_the_next_turn(talk, stage_at):
    stage = stage_at("book")
    await talk.say("a room")
    await talk.settled(1)
    await talk.answer({"room": "P01"})
    await talk.settled(2)
    await talk.answer({"approved": True})
    await stage.came.get()

    await talk.say("stop it")
    await asyncio.sleep(0.15)
    stage.gate.set()

    view = await talk.settled(4)
    assert [status for _, status in await runs_of(talk)][:3] == ["waiting", "waiting", "done"]
    assert view.turn == 4


async def test_a_run_that_has_acted_is_not_started_again(talk, person, register):
    """The look after the lock sees an effect that was in flight when the correction came."""
    acted, gate = asyncio.Event(), asyncio.Event()

    async def act(context, draft):
        done = await context.effect(
            "book", key=f"k-{talk.id}", arguments={}, call=lambda effect: {"id": effect.pk}
        )
        acted.set()
        await gate.wait()
        return done

    spec = probe_spec(act=act)
    loose = probe_spec(act=act).__class__(**{**spec.__dict__, "point_of_no_return": frozenset()})
    register(loose)
    talk.host._graphs["probe"] = loose.build_graph().compile()
    await talk.say("a room")
    await talk.settled(1)
    await talk.answer({"room": "P01"})
    await talk.settled(2)
    await talk.answer({"approved": True})
    await acted.wait()

    await talk.say("no another")
    await asyncio.sleep(0.15)
    gate.set()

    await talk.settled(4)
    assert [status for _, status in await runs_of(talk)][2] == "done"
    messages = [m.kind for m in await talk.messages() if m.role == "assistant"]
    assert messages.count("complete") == 1


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

    from agentruntime.testing import until

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
    from agentruntime.testing import running_host
    from agentruntime.tests.conftest import Talk, open_thread

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


async def test_what_waits_is_told_and_may_be_taken_back(talk, stage_at):
    told = []
    await talk.host.delivery.follow(
        talk.id, lambda e: told.append(e.waiting) if isinstance(e, QueueChanged) else None
    )
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()
    await talk.say("P04", client_id="q1")
    await until(lambda: told)
    await talk.say("P05", client_id="q2")
    await until(lambda: len(told) == 2)

    await talk.host.withdraw(await talk.view(), "q1")
    await until(lambda: len(told) == 3)
    stage.gate.set()

    view = await talk.settled(2)
    assert told[:3] == [["q1"], ["q1", "q2"], ["q2"]]
    await until(lambda: told[-1] == [])
    assert view.summary["slots"]["room"] == "P05"
    assert [m.text for m in await talk.messages() if m.role == "user"] == ["a room", "P05"]
    gone = await in_db_thread(lambda: Message.objects.get(client_id="q1"))
    assert (gone.status, gone.beside, gone.run_version) == ("withdrawn", 1, None)


@pytest.mark.parametrize("client_id", ["c1", "never said"])
async def test_what_is_being_read_cannot_be_taken_back(talk, stage_at, client_id):
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()

    with pytest.raises(AlreadyRead):
        await talk.host.withdraw(await talk.view(), client_id)

    stage.gate.set()
    assert (await talk.settled(1)).summary["title"] == "a room"


async def test_a_resend_of_what_was_taken_back_stays_taken_back(talk, stage_at):
    stage = stage_at("search")
    await talk.say("a room")
    await stage.came.get()
    await talk.say("P04", client_id="q1")
    await talk.host.withdraw(await talk.view(), "q1")

    receipt = await talk.say("P04", client_id="q1")

    assert receipt.repeated
    stage.gate.set()
    assert (await talk.settled(1)).turn == 1
    assert [m.text for m in await talk.messages() if m.role == "user"] == ["a room"]


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


async def test_a_turn_that_has_acted_is_ended_as_it_was_whatever_was_said_since(
    pool, person, probe
):
    """Its effect stands: what was said later is the next turn, also for who takes it over."""
    thread = await open_thread(person)
    claim = await claim_by_speaking(pool, thread)
    await in_db_thread(
        lambda: Effect.objects.create(
            thread_id=thread,
            run_id=claim.lease.run,
            run_version=claim.lease.version,
            name="book",
            task="t",
            intent="i",
            checkpoint="",
            message_id=claim.pending[-1].id,
        )
    )
    await store_message(pool, message_to(thread, "no, ten"))
    await expire(thread)

    again = await store.claim(pool, thread=thread, worker="w1", lease=LEASE)

    assert [message.id for message in again.pending] == [message.id for message in claim.pending]
    assert await store.supersede(pool, again, lease=LEASE, why="superseded") is None
    committed = await store.commit_turn(pool, turn_of(again))
    assert committed.pending
    last = await store.claim(pool, thread=thread, worker="w1", lease=LEASE)
    assert [message.text for message in last.pending] == ["no, ten"]


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


async def test_words_after_a_run_that_acted_and_was_given_back_are_the_next_turn(
    talk, pool, person
):
    """By the door of whoever speaks next: it reads no further than the run that acted did."""
    claim = await claim_by_speaking(pool, talk.id)
    await in_db_thread(
        lambda: Effect.objects.create(
            thread_id=talk.id,
            run_id=claim.lease.run,
            run_version=claim.lease.version,
            name="book",
            task="t",
            intent="i",
            checkpoint="",
            message_id=claim.pending[-1].id,
        )
    )
    talk.host.draining = True
    await store.release(pool, claim.lease, status="superseded")
    talk.host.draining = False

    await talk.say("no, ten")

    await talk.settled(2)
    turns = await in_db_thread(
        lambda: list(Message.objects.filter(role="user").order_by("id").values_list("text", "turn"))
    )
    assert turns == [("a room", 1), ("no, ten", 2)]
