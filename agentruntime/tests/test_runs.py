"""A thread from its first word to its effect, through the host."""

import asyncio
from dataclasses import replace

import pytest
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from agentruntime.exceptions import StaleAnswer, StorageUnavailable
from agentruntime.models import Message, Run
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread
from agentruntime.testing import probe_spec, until


async def test_a_message_on_an_idle_thread_starts_a_run_that_asks(talk):
    await talk.say("a room for six")

    view = await talk.settled(1)

    assert (view.status, view.interrupt["kind"], view.run_version) == ("waiting", "select_room", 1)
    assert view.lease_owner is None


async def test_answers_by_interrupt_id_lead_to_the_end(talk):
    await talk.say("a room for six")
    await talk.settled(1)
    await talk.answer({"room": "P01"})
    await talk.settled(2)
    await talk.answer({"approved": True})

    view = await talk.settled(3)

    assert (view.status, view.interrupt, view.summary["phase"]) == ("idle", None, "BOOKED")
    said = [(m.role, m.kind) for m in await talk.messages()]
    assert said == [
        ("user", "text"),
        ("assistant", "select_room"),
        ("user", "answer"),
        ("assistant", "confirm"),
        ("user", "answer"),
        ("assistant", "complete"),
    ]


async def test_words_answer_the_open_question(talk):
    await talk.say("a room")
    await talk.settled(1)
    await talk.say("P02")

    view = await talk.settled(2)

    assert (view.interrupt["kind"], view.summary["slots"]["room"]) == ("confirm", "P02")


async def test_an_answer_to_another_question_is_refused_and_kept(talk):
    await talk.say("a room")
    first = await talk.settled(1)
    await talk.answer({"room": "P01"})
    await talk.settled(2)

    with pytest.raises(StaleAnswer):
        await talk.answer({"room": "P02"}, interrupt_id=first.interrupt["id"])

    view = await talk.view()
    assert (view.turn, view.summary["slots"]["room"]) == (2, "P01")
    refused = await in_db_thread(Message.objects.filter(status="refused").count)
    assert refused == 1


async def test_the_same_answer_twice_at_once_counts_once(talk):
    await talk.say("a room")
    seen = await talk.settled(1)

    results = await asyncio.gather(
        *(talk.answer({"room": "P01"}, client_id=f"tab{n}", seen=seen) for n in range(8)),
        return_exceptions=True,
    )

    assert sum(isinstance(result, StaleAnswer) for result in results) == 7
    view = await talk.settled(2)
    assert (view.turn, view.interrupt["kind"]) == (2, "confirm")


async def test_a_resend_with_the_same_client_id_is_one_message(talk):
    await talk.say("a room", client_id="same")
    await talk.settled(1)

    again = await talk.say("a room", client_id="same")

    assert again.repeated
    assert (await talk.view()).turn == 1


async def test_a_resent_answer_whose_question_is_gone_is_acknowledged_again(talk):
    await talk.say("a room")
    first = await talk.settled(1)
    await talk.answer({"room": "P01"}, client_id="a1")
    await talk.settled(2)

    again = await talk.answer(
        {"room": "P01"}, client_id="a1", interrupt_id=first.interrupt["id"], seen=await talk.view()
    )

    assert again.repeated


async def test_every_super_step_is_in_the_history_and_the_stock_saver_reads_it(talk):
    await talk.say("a room")
    view = await talk.settled(1)

    stock = AsyncPostgresSaver(talk.host.pool)
    found = [item async for item in stock.alist({"configurable": {"thread_id": talk.id}})]

    assert [item.metadata["step"] for item in found] == [2, 1, 0, -1]
    assert found[0].config["configurable"]["checkpoint_id"] == view.head
    assert found[0].checkpoint["channel_values"]["draft"]["phase"] == "CHOOSING"


async def test_two_messages_during_a_run_are_taken_in_the_next_turn(talk):
    gate = asyncio.Event()

    async def hook(node):
        if node == "search":
            await gate.wait()

    talk.host._graphs["probe"] = probe_spec(hook=hook).build_graph().compile()
    await talk.say("a room")
    second, third = await talk.say("P03"), await talk.say("yes")
    gate.set()
    view = await talk.settled(2)

    assert (second.action, third.action) == ("queued", "queued")
    assert view.summary["slots"]["room"] == "P03\nyes"
    runs = await in_db_thread(lambda: list(Run.objects.values_list("version", "status")))
    assert sorted(runs) == [(1, "waiting"), (2, "waiting")]


async def test_a_node_that_raises_ends_the_run_with_an_error_and_keeps_the_question(talk):
    await talk.say("a room")
    before = await talk.settled(1)

    async def hook(node):
        if node == "choose":
            raise ValueError("broken node")

    talk.host._graphs["probe"] = probe_spec(hook=hook).build_graph().compile()
    await talk.answer({"room": "P01"})
    view = await talk.settled(2)

    assert (view.status, view.interrupt) == ("waiting", before.interrupt)
    assert view.head == before.head
    run = await in_db_thread(lambda: Run.objects.get(version=2))
    assert (run.status, run.error) == ("failed", "ValueError: broken node")

    talk.host._graphs["probe"] = probe_spec().build_graph().compile()
    await talk.answer({"room": "P01"})
    assert (await talk.settled(3)).interrupt["kind"] == "confirm"


@pytest.mark.parametrize(
    "words", ["a\0b", "a\ud800b", "x" * 5000], ids=["nul", "surrogate", "long"]
)
async def test_an_error_whose_words_cannot_be_stored_still_ends_the_run(talk, words):
    async def hook(node):
        raise ValueError(words)

    talk.host._graphs["probe"] = probe_spec(hook=hook).build_graph().compile()
    await talk.say("a room")

    view = await talk.settled(1)

    assert (view.status, view.lease_owner) == ("idle", None)
    run = await in_db_thread(Run.objects.get)
    assert (run.status, run.error[:13]) == ("failed", "ValueError: " + words[:1])


@pytest.mark.parametrize("words", ["a\0b", "a\ud800b"], ids=["nul", "surrogate"])
async def test_speech_that_cannot_be_stored_ends_the_run_with_an_error(talk, words):
    async def act(context, draft):
        context.say(words)
        return {}

    talk.host._graphs["probe"] = probe_spec(act=act).build_graph().compile()
    await talk.say("a room")
    await talk.settled(1)
    await talk.say("P01")
    question = (await talk.settled(2)).interrupt
    await talk.answer({"approved": True})

    view = await talk.settled(3)

    assert (view.status, view.interrupt) == ("waiting", question)
    assert (await talk.messages())[-1].kind == "error"


class Gate:
    """A probe that waits in one node until it is opened."""

    def __init__(self, host, node):
        self.node = node
        self.reached, self.open = asyncio.Event(), asyncio.Event()
        spec = probe_spec(hook=self.hook)
        host._graphs["probe"] = spec.build_graph().compile()

    async def hook(self, node):
        if node == self.node:
            self.reached.set()
            await self.open.wait()


async def test_a_stopped_run_is_dropped_for_good(talk):
    gate = Gate(talk.host, "search")
    await talk.say("a room")
    await gate.reached.wait()

    assert await talk.host.stop_run(talk.id)

    view = await talk.settled(1)
    assert (view.status, view.lease_owner, view.head) == ("idle", None, "")
    runs = await in_db_thread(
        lambda: list(Run.objects.order_by("version").values_list("status", flat=True))
    )
    assert runs == ["superseded", "stopped"]
    assert [(m.kind, m.data) for m in await talk.messages()][1:] == [
        ("notice", {"code": "stopped"})
    ]
    await talk.host.attend()
    assert await talk.view() == view
    gate.open.set()
    await talk.say("another")
    assert (await talk.settled(2)).summary["title"] == "another"


async def test_a_stopped_answer_leaves_its_question_open(talk):
    await talk.say("a room")
    before = await talk.settled(1)
    gate = Gate(talk.host, "choose")
    await talk.answer({"room": "P01"})
    await gate.reached.wait()

    assert await talk.host.stop_run(talk.id)

    view = await talk.settled(2)
    assert (view.status, view.interrupt, view.head) == ("waiting", before.interrupt, before.head)
    assert not await talk.host.stop_run(talk.id)
    gate.open.set()
    await talk.answer({"room": "P02"})
    assert (await talk.settled(3)).summary["slots"] == {"room": "P02"}


async def test_what_was_said_during_a_stopped_run_is_read_next(talk):
    gate = Gate(talk.host, "search")
    await talk.say("a room")
    await gate.reached.wait()
    await talk.say("a hall")

    gate.open.set()
    assert await talk.host.stop_run(talk.id)

    view = await talk.settled(2)
    assert (view.status, view.summary["title"]) == ("waiting", "a hall")


async def test_a_run_past_its_point_of_no_return_is_not_stopped(talk, register):
    register(replace(probe_spec(), point_of_no_return=frozenset({"choose"})))
    await talk.say("a room")
    await talk.settled(1)
    gate = Gate(talk.host, "choose")
    await talk.answer({"room": "P01"})
    await gate.reached.wait()

    assert not await talk.host.stop_run(talk.id)

    gate.open.set()
    assert (await talk.settled(2)).interrupt["kind"] == "confirm"


async def test_there_is_nothing_to_stop_on_a_thread_that_waits(talk):
    await talk.say("a room")
    before = await talk.settled(1)
    await until(lambda: not talk.host._drivers)

    assert not await talk.host.stop_run(talk.id)
    assert await talk.view() == before


async def test_what_a_step_notes_is_kept_with_the_run(talk):
    async def act(context, draft):
        context.note(model={"tokens": 7})
        return {"room": draft["room"], "approved": draft["approved"]}

    talk.host._graphs["probe"] = probe_spec(act=act).build_graph().compile()
    await talk.say("a room")
    await talk.settled(1)
    await talk.answer({"room": "P01"})
    await talk.settled(2)
    await talk.answer({"approved": True})
    await talk.settled(3)

    run = await in_db_thread(Run.objects.filter(thread=talk.id).latest, "version")

    noted = {step["node"]: step.get("model") for step in run.steps}
    assert noted == {"confirm": None, "book": {"tokens": 7}}


async def test_a_turn_is_tried_until_its_storage_is_back_and_never_set_aside(talk, monkeypatch):
    """The database fails it more often than a turn may lose its workers; nobody was lost."""
    commit, failed = store.commit_turn, []

    async def failing(pool, turn):
        if len(failed) < 5:
            failed.append(turn.lease.version)
            raise StorageUnavailable("no")
        return await commit(pool, turn)

    monkeypatch.setattr(store, "commit_turn", failing)
    await talk.say("a room")

    view = await talk.settled(1)
    assert (view.status, len(failed)) == ("waiting", 5)
    assert [m.kind for m in await talk.messages() if m.role == "assistant"] == ["select_room"]
