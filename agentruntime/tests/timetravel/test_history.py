"""A thread's checkpoints, read back after a real conversation with the probe."""

import pytest

from agentruntime.exceptions import CheckpointNotFound
from agentruntime.models import uuid7
from agentruntime.persistence.pools import in_db_thread
from agentruntime.tests.timetravel import held
from agentruntime.timetravel import history


@pytest.fixture
async def booked(talk):
    """The probe's whole conversation: asked, chosen, confirmed, booked."""
    return await held.booked(talk)


async def test_a_page_tells_what_ran_and_what_changed(booked):
    page = await in_db_thread(history.timeline, booked)

    assert page.points[0].id == booked.head
    assert [list(point.nodes) for point in page.points] == [
        ["book"], ["confirm"], ["choose"], ["search"], ["understand"], [], [],
    ]  # fmt: skip
    assert [point.source for point in page.points][-1] == "input"
    booking = page.points[0]
    assert [(each.pointer, each.after) for each in booking.changes] == [("/phase", "BOOKED")]
    assert page.older is None
    assert {point.branch for point in page.points} == {1}


async def test_a_question_is_shown_with_its_answer(booked):
    page = await in_db_thread(history.timeline, booked)
    asked = {q.kind: q for point in page.points for q in point.questions}

    assert set(asked) == {"select_room", "confirm"}
    assert asked["confirm"].text == "Book it?"


async def test_pages_hang_together(booked):
    whole = await in_db_thread(history.timeline, booked)
    first = await in_db_thread(history.timeline, booked, limit=3)
    second = await in_db_thread(history.timeline, booked, limit=3, before=first.older)

    assert [p.id for p in [*first.points, *second.points]] == [p.id for p in whole.points[:6]]
    assert first.points[-1].changes == whole.points[2].changes


async def test_one_checkpoint_is_opened_with_its_parent(booked):
    opened = await in_db_thread(history.opened, booked, booked.head)

    assert opened.values["result"] == {"room": "P01"}
    assert opened.before["draft"]["phase"] == "CONFIRMING"
    assert opened.point.next == []


@pytest.mark.parametrize("checkpoint", ["", "x", "../..", "\0", "1" * 500, str(uuid7())])
async def test_what_is_not_a_checkpoint_of_the_thread_is_not_found(booked, checkpoint):
    with pytest.raises(CheckpointNotFound):
        await in_db_thread(history.opened, booked, checkpoint)
    with pytest.raises(CheckpointNotFound):
        await in_db_thread(history.require, booked, checkpoint)
