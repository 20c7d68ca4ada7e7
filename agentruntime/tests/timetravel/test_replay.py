"""Replays: what happened, again, beside what happened."""

from dataclasses import replace

import pytest
from langgraph.graph import END

from agentruntime.exceptions import CheckpointNotFound
from agentruntime.models import Effect, Thread
from agentruntime.persistence.pools import in_db_thread
from agentruntime.testing import probe_spec
from agentruntime.tests.conftest import row_counts
from agentruntime.tests.timetravel.held import CALLED, booked, confirming, heads
from agentruntime.timetravel import history
from agentruntime.timetravel.replay import path_after, replay
from agentruntime.timetravel.variants import try_variants


async def first(thread):
    page = await in_db_thread(history.timeline, thread)
    return page.points[-1].id


async def test_the_same_code_does_the_same(talk):
    thread = await booked(talk)

    made = await in_db_thread(replay, thread, await first(thread))

    assert made.stopped == ""
    assert made.divergence is None
    assert [list(step.replayed.point.nodes) for step in made.steps] == [
        [], ["understand"], ["search"], ["choose"], ["confirm"], ["book"],
    ]  # fmt: skip
    assert [act.recorded for act in made.acts] == [CALLED[0]]
    assert len(CALLED) == 1
    assert await in_db_thread(Effect.objects.count) == 1


async def test_a_replay_of_the_last_turn_is_that_turn(talk):
    thread = await booked(talk)

    made = await in_db_thread(replay, thread, (await heads(thread))["confirm"])

    assert [list(step.replayed.point.nodes) for step in made.steps] == [["confirm"], ["book"]]
    assert made.is_same


async def test_other_code_is_seen_where_it_first_differs(talk, register):
    thread = await booked(talk)
    start = await first(thread)

    async def forgetful(context, draft):
        return {"room": "elsewhere"}

    register(probe_spec(act=forgetful))
    history.forget_graphs()
    made = await in_db_thread(replay, thread, start)

    assert not made.is_same
    assert list(made.divergence.replayed.point.nodes) == ["book"]
    assert [(c.pointer, c.after) for c in made.divergence.changes] == [
        ("/result/room", "elsewhere")
    ]


@pytest.mark.parametrize(
    ("after_search", "stopped"), [(END, "asks_otherwise"), ("confirm", "failed")]
)
async def test_a_replay_ends_where_the_words_fit_no_more(talk, register, after_search, stopped):
    thread = await booked(talk)
    start = await first(thread)
    spec = probe_spec()

    def other_graph():
        graph = spec.build_graph()
        graph.edges = {each for each in graph.edges if each[0] != "search"}
        graph.add_edge("search", after_search)
        return graph

    register(replace(spec, build_graph=other_graph))
    history.forget_graphs()
    made = await in_db_thread(replay, thread, start)

    assert made.stopped == stopped
    assert not made.is_same
    assert bool(made.error) == (stopped == "failed")


@pytest.mark.parametrize("bad", ["", "x", "0" * 36])
async def test_a_replay_from_nowhere_creates_nothing(talk, bad):
    thread = await confirming(talk)
    before = await row_counts()

    with pytest.raises(CheckpointNotFound):
        await in_db_thread(replay, thread, bad)

    assert await row_counts() == before


async def test_variants_stand_beside_each_other(talk):
    thread = await booked(talk)
    asked = (await heads(thread))["confirm"]

    found = await in_db_thread(
        try_variants, thread, asked, [{}, {"draft.wish": "a hall"}, {"draft.seats": 3}]
    )

    assert [each.asked.kind for each in found] == ["confirm", "select_room", "select_room"]
    assert [each.described["slots"].get("seats") for each in found] == [None, None, 3]
    assert len({each.thread.pk for each in found}) == 3
    assert all(each.thread.sandbox for each in found)
    with pytest.raises(ValueError, match="variants"):
        await in_db_thread(try_variants, thread, asked, [{}] * 6)
    assert await in_db_thread(Thread.objects.filter(sandbox=False).count) == 1


def test_a_path_leads_to_the_head_or_to_a_later_tip():
    rows = [("a", None), ("b", "a"), ("c", "b"), ("d", "a"), ("e", "d")]

    assert path_after(rows, "a", head="c") == ["b", "c"]
    assert path_after(rows, "d", head="c") == ["e"]
    assert path_after(rows, "c", head="c") == []
    assert path_after(rows, "gone", head="c") == []
