"""The saver: LangGraph's conformance, stock tables, plain state, turns that are whole or not there."""

import asyncio
import operator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt
from psycopg.errors import UniqueViolation

from agentruntime.exceptions import UnsaveableState
from agentruntime.models import Run, Thread
from agentruntime.persistence.pools import in_db_thread
from agentruntime.persistence.saver import TurnSaver
from agentruntime.testing import probe_graph, probe_spec, until
from agentruntime.tests.conftest import expire, row_counts, sql

SUPPORTED = {
    "put",
    "put_writes",
    "get_tuple",
    "list",
    "delete_thread",
    "copy_thread",
    "prune",
}


class Committing(BaseCheckpointSaver):
    """A saver inside a turn, whose rows are committed before each read and each deletion."""

    def __init__(self, pool):
        super().__init__()
        self.inside = TurnSaver(pool, turn=True)
        self.outside = TurnSaver(pool)

    async def commit(self):
        await self.outside._write_through(self.inside.take())

    async def aput(self, config, checkpoint, metadata, new_versions):
        return await self.inside.aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config, writes, task_id, task_path=""):
        await self.inside.aput_writes(config, writes, task_id, task_path)

    async def aget_tuple(self, config):
        await self.commit()
        return await self.outside.aget_tuple(config)

    async def alist(self, config, **names):
        await self.commit()
        async for found in self.outside.alist(config, **names):
            yield found

    async def adelete_thread(self, thread_id):
        await self.commit()
        await self.outside.adelete_thread(thread_id)

    async def acopy_thread(self, source_thread_id, target_thread_id):
        await self.commit()
        await self.outside.acopy_thread(source_thread_id, target_thread_id)

    async def aprune(self, thread_ids, *, strategy="keep_latest"):
        await self.commit()
        await self.outside.aprune(thread_ids, strategy=strategy)


@pytest.mark.parametrize("make", [TurnSaver, Committing], ids=["writing_through", "inside_a_turn"])
async def test_it_conforms_in_all_but_delete_for_runs(pool, make):
    @checkpointer_test(name=make.__name__)
    async def registered():
        yield make(pool)

    report = await validate(registered)

    results = {name: found for name, found in report.results.items() if found.detected}
    assert {name: found.failures for name, found in results.items()} == {
        name: [] for name in SUPPORTED
    }
    assert all(found.passed and found.tests_passed > 3 for found in results.values())
    assert report.passed_all_base()


UNSAVEABLE = [
    ({"note": "a\0b"}, "note"),
    ({"draft": {"slots": {"title": "a\0b"}}}, "draft.slots.title"),
    ({"draft": {"a\0b": 1}}, "draft"),
    ({"draft": {"words": ["ok", "\ud800"]}}, "draft.words[1]"),
    ({"draft": {"\udfff": 1}}, "draft"),
    ({"number": float("nan")}, "number"),
    ({"draft": {"number": float("-inf")}}, "draft.number"),
    ({"draft": {"number": 2**63}}, "draft.number"),
    ({"number": -(2**63) - 1}, "number"),
    ({"draft": {1: "a key that is a number"}}, "draft.1"),
    ({"draft": {"when": object()}}, "draft.when"),
    ({"draft": {"when": {"a set"}}}, "draft.when"),
    ({"draft": b"bytes"}, "draft"),
]


@pytest.mark.parametrize(
    ("values", "key"), UNSAVEABLE, ids=[str(n) for n in range(len(UNSAVEABLE))]
)
@pytest.mark.parametrize("turn", [True, False])
async def test_state_that_is_not_plain_json_is_refused_by_its_key(pool, values, key, turn):
    saver = TurnSaver(pool, turn=turn)
    before = await row_counts()

    with pytest.raises(UnsaveableState) as caught:
        await put(saver, "t", values)

    assert caught.value.key == key
    assert not saver.rows.encoded
    assert not saver.rows.blobs
    assert await row_counts() == before


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 0.1, True, None, "会议室 🏢", ["𠀀"], {}])
async def test_what_is_plain_comes_back_as_it_was(pool, value):
    await put(TurnSaver(pool), "t", {"draft": {"value": value}, "value": value})

    found = await TurnSaver(pool).aget_tuple(at("t"))

    assert found.checkpoint["channel_values"] == {"draft": {"value": value}, "value": value}


@pytest.mark.parametrize("value", [object(), "a\0b", float("nan")])
async def test_what_finished_beside_a_question_has_to_be_plain_too(talk, value):
    class Two(TypedDict, total=False):
        said: dict[str, Any]
        draft: dict[str, Any]

    async def ask(state):
        interrupt({"kind": "clarify", "message": "When?", "data": {}})

    async def beside(state):
        return {"draft": {"when": value}}

    graph = StateGraph(Two).add_node("ask", ask).add_node("beside", beside)
    graph.add_edge(START, "ask").add_edge(START, "beside")
    talk.host._graphs["probe"] = graph.compile()
    await talk.say("a room")
    await talk.settled(1)

    run = await in_db_thread(Run.objects.get)
    assert run.error.startswith("UnsaveableState: state key draft.when: ")


async def test_what_a_fan_out_sends_has_to_be_plain_too(pool):
    graph = wide_graph()
    graph.add_conditional_edges("end", lambda _: [Send("part", {"n": {1, 2}})])
    compiled = graph.compile(checkpointer=TurnSaver(pool))
    await compiled.ainvoke({"log": []}, at("t"))
    asked = (await compiled.aget_state(at("t"))).interrupts

    with pytest.raises(UnsaveableState) as caught:
        await compiled.ainvoke(Command(resume={each.id: "x" for each in asked}), at("t"))

    assert caught.value.key == "__pregel_tasks.part.n"


@pytest.mark.parametrize(
    ("value", "key"), [(object(), "draft.when"), ("a\0b", "draft.when"), (2**64, "draft.when")]
)
async def test_a_node_that_returns_what_cannot_be_saved_fails_by_the_key(talk, value, key):
    class Bad(TypedDict, total=False):
        said: dict[str, Any]
        draft: dict[str, Any]

    async def node(state):
        return {"draft": {"when": value}}

    talk.host._graphs["probe"] = (
        StateGraph(Bad).add_node("node", node).add_edge(START, "node").compile()
    )
    await talk.say("a room")
    await talk.settled(1)

    run = await in_db_thread(Run.objects.get)
    assert run.status == "failed"
    assert run.error.startswith(f"UnsaveableState: state key {key}: ")


class Wide(TypedDict, total=False):
    """Every kind of thing a checkpoint holds: inline, blobs, fan-out, questions, Chinese names."""

    count: int
    note: str
    草稿: dict[str, Any]
    log: Annotated[list, operator.add]


def wide_graph():
    async def begin(state):
        return {"count": 1, "note": "hello", "草稿": {"名": "会议", "n": [1, 2.5, None, True]}}

    async def part(state):
        return {"log": [state["n"]]}

    async def ask(state):
        return {"note": interrupt({"kind": "clarify", "message": "哪天？", "data": {}})}

    async def also_ask(state):
        return {"log": [interrupt({"kind": "clarify", "message": "several?", "data": {}})]}

    async def end(state):
        return {"count": state["count"] + 1, "草稿": {}}

    graph = StateGraph(Wide)
    for node in (begin, part, ask, also_ask, end):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "begin")
    graph.add_conditional_edges("begin", lambda _: [Send("part", {"n": n}) for n in range(3)])
    graph.add_edge("part", "ask")
    graph.add_edge("part", "also_ask")
    graph.add_edge(["ask", "also_ask"], "end")
    graph.add_edge("end", END)
    return graph


@pytest.mark.parametrize("saver", [AsyncPostgresSaver, TurnSaver])
async def test_reads_equal_the_stock_savers(pool, saver):
    graph = wide_graph().compile(checkpointer=saver(pool))
    await graph.ainvoke({"log": ["start"]}, at("t"))
    asked = (await graph.aget_state(at("t"))).interrupts
    await graph.ainvoke(Command(resume={asked[0].id: "Monday"}), at("t"))
    assert len((await graph.aget_state(at("t"))).interrupts) == 1
    await graph.ainvoke(Command(resume={asked[1].id: "four"}), at("t"))
    assert (await graph.aget_state(at("t"))).values["count"] == 2
    await graph.ainvoke({"log": ["again"]}, at("t"))

    stock, ours = AsyncPostgresSaver(pool), TurnSaver(pool)
    history = [found async for found in stock.alist(at("t"))]

    assert len(history) >= 4
    assert any(found.pending_writes for found in history)
    assert [comparable(f) async for f in ours.alist(at("t"))] == [comparable(f) for f in history]
    assert comparable(await ours.aget_tuple(at("t"))) == comparable(await stock.aget_tuple(at("t")))
    for found in history:
        assert comparable(await ours.aget_tuple(found.config)) == comparable(found)
    last = {"before": history[1].config, "limit": 2, "filter": {"source": "loop"}}
    assert [comparable(f) async for f in ours.alist(at("t"), **last)] == [
        comparable(f) async for f in stock.alist(at("t"), **last)
    ]
    assert await ours.aget_tuple(at("nobody")) is None


async def test_inside_a_turn_the_graph_reads_what_it_has_not_yet_committed(pool):
    saver = TurnSaver(pool, turn=True)
    graph = wide_graph().compile(checkpointer=saver)
    before = await row_counts()

    await graph.ainvoke({"log": ["start"]}, at("t"))
    inside = await graph.aget_state(at("t"))
    assert await row_counts() == before
    rows = saver.take()
    await saver._write_through(rows)
    committed = (
        await wide_graph().compile(checkpointer=AsyncPostgresSaver(pool)).aget_state(at("t"))
    )

    assert inside.values == committed.values
    assert inside.next == committed.next == ("ask", "also_ask")
    assert inside.interrupts == committed.interrupts
    assert len(committed.interrupts) == 2


async def test_the_stock_saver_goes_on_from_our_rows(talk):
    await talk.say("a room")
    view = await talk.settled(1)

    graph = probe_graph().compile(checkpointer=AsyncPostgresSaver(talk.host.pool))
    resumed = await graph.ainvoke(
        Command(resume={view.interrupt["id"]: {"room": "P02"}}), strictly(talk.id)
    )

    assert resumed["__interrupt__"][0].value["kind"] == "confirm"
    assert resumed["draft"]["room"] == "P02"


async def test_we_go_on_from_the_stock_savers_rows(talk):
    graph = probe_graph().compile(checkpointer=AsyncPostgresSaver(talk.host.pool))
    asked = await graph.ainvoke({"said": {"messages": [{"text": "a room"}]}}, at(talk.id))
    state = await graph.aget_state(at(talk.id))
    question = asked["__interrupt__"][0]
    await in_db_thread(
        Thread.objects.filter(pk=talk.id).update,
        head=state.config["configurable"]["checkpoint_id"],
        interrupt={"id": question.id, **question.value},
        status="waiting",
    )

    await talk.answer({"room": "P01"})
    view = await talk.settled(1)

    assert view.interrupt["kind"] == "confirm"
    assert view.summary["slots"] == {"room": "P01"}
    history = [found async for found in graph.aget_state_history(at(talk.id))]
    assert [found.metadata["step"] for found in history] == [3, 2, 1, 0, -1]


async def test_a_dropped_turn_leaves_no_row_and_runs_again_from_the_same_question(talk):
    await talk.say("a room")
    before = await talk.settled(1)
    gate, nodes = asyncio.Event(), []

    async def hook(node):
        nodes.append(node)
        if len(nodes) == 1:
            await gate.wait()

    talk.host._graphs["probe"] = probe_spec(hook=hook).build_graph().compile()
    rows = await row_counts()
    await talk.answer({"room": "P01"})
    await until(lambda: nodes)
    dropped = talk.host._drivers[talk.id]
    dropped._lose(dropped._claim.lease)
    await asyncio.wait([dropped.task])

    view = await talk.view()
    assert view.interrupt == before.interrupt
    assert view.head == before.head
    counts = await row_counts()
    changed = {name: counts[name] - rows[name] for name in rows if counts[name] != rows[name]}
    assert changed == {"agentruntime_message": 1, "agentruntime_run": 1}
    stock = probe_graph().compile(checkpointer=AsyncPostgresSaver(talk.host.pool))
    state = await stock.aget_state(at(talk.id))
    assert [asked.id for asked in state.interrupts] == [before.interrupt["id"]]

    await expire(talk.id)
    again = await talk.settled(2)
    assert nodes == ["choose", "choose"]
    assert again.interrupt["kind"] == "confirm"
    assert again.summary["slots"] == {"room": "P01"}


async def test_the_threads_own_head_counts_not_the_highest_id(talk):
    """A checkpoint that a fast clock made elsewhere has a higher id and is not this thread's head."""
    await talk.say("a room")
    before = await talk.settled(1)
    skewed = "ffffffff-ffff-6fff-bfff-ffffffffffff"
    await sql(
        "insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,"
        " checkpoint, metadata) select thread_id, checkpoint_ns, %s, null,"
        " jsonb_set(checkpoint, '{channel_values}', '{}') - 'channel_versions'"
        " || '{\"channel_versions\": {}}', metadata"
        " from checkpoints where thread_id = %s and checkpoint_id = %s",
        skewed,
        talk.id,
        before.head,
    )
    stock = AsyncPostgresSaver(talk.host.pool)
    assert (await stock.aget_tuple(at(talk.id))).checkpoint["channel_values"] == {}

    for turn, value in ((2, {"room": "P01"}), (3, {"approved": True})):
        await talk.answer(value)
        view = await talk.settled(turn)

    assert view.summary["phase"] == "BOOKED"
    assert view.head != skewed
    lineage = [view.head]
    while parent := (await stock.aget_tuple(at(talk.id, lineage[-1]))).parent_config:
        lineage.append(parent["configurable"]["checkpoint_id"])
    assert before.head in lineage
    assert skewed not in lineage


async def test_a_copied_thread_answers_the_same_question_and_a_second_copy_is_refused(talk):
    await talk.say("a room")
    view = await talk.settled(1)
    saver = TurnSaver(talk.host.pool)
    await saver.acopy_thread(talk.id, "copy")

    graph = probe_graph().compile(checkpointer=TurnSaver(talk.host.pool))
    resumed = await graph.ainvoke(
        Command(resume={view.interrupt["id"]: {"room": "P09"}}), strictly("copy")
    )

    assert resumed["draft"]["room"] == "P09"
    source = await graph.aget_state(at(talk.id))
    assert source.config["configurable"]["checkpoint_id"] == view.head
    rows = await row_counts()
    with pytest.raises(UniqueViolation):
        await saver.acopy_thread(talk.id, "copy")
    assert await row_counts() == rows


async def test_many_reads_and_writes_at_once_share_the_pool_without_a_lock(pool):
    saver = TurnSaver(pool)

    await asyncio.gather(*(put(saver, f"t{n}", {"draft": {"n": n}}) for n in range(40)))
    found = await asyncio.gather(*(saver.aget_tuple(at(f"t{n}")) for n in range(40)))

    assert [each.checkpoint["channel_values"]["draft"]["n"] for each in found] == list(range(40))


def at(thread, checkpoint=None):
    where = {"thread_id": thread, "checkpoint_ns": ""}
    if checkpoint:
        where["checkpoint_id"] = checkpoint
    return {"configurable": where}


def strictly(thread):
    return {"configurable": {"thread_id": thread, "__pregel_strict_resume": True}}


def comparable(found):
    """A tuple whose unordered parts are in order."""
    writes = sorted(found.pending_writes or [], key=repr)
    return found._replace(pending_writes=writes)


async def put(saver, thread, values):
    versions = dict.fromkeys(values, "1.0")
    checkpoint = {**empty_checkpoint(), "channel_values": values, "channel_versions": versions}
    metadata = {"source": "loop", "step": 0, "parents": {}}
    return await saver.aput(at(thread), checkpoint, metadata, versions)
