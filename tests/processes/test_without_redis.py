"""Two processes that share nothing but the database: as correct as with Redis, only slower."""

import time

import pytest

from tests.processes.pages import is_over, request_of, until, whole
from tests.processes.servers import HEAD_CHECK_SECONDS

BEAT_SECONDS = 1.0


@pytest.fixture(scope="module")
def nodes(together):
    return together.start(2, ROOMWISE_BEAT_SECONDS=str(BEAT_SECONDS))


@pytest.fixture
def tabs(together, nodes):
    here = together.page(nodes[0])
    return here, together.page(nodes[1], here.id)


@pytest.fixture
def at(nodes):
    return nodes[0].free_slot()


def test_everything_arrives_in_the_other_tab(tabs, at, nodes, figure):
    here, there = tabs
    answering, watching = here, there
    here.say(request_of(at))
    delays = []
    while True:
        question = answering.news()
        began = time.monotonic()
        seen = watching.news()
        delays.append(time.monotonic() - began)
        assert (seen and seen["interrupt_id"]) == (question and question["interrupt_id"])
        if question is None:
            break
        answering, watching = watching, answering
        answering.reply(question)

    figure(
        "shown in the other tab after",
        " ".join(f"{each:.2f} s" for each in delays),
        promise="under 3 s",
    )
    assert max(delays) < HEAD_CHECK_SECONDS + 1
    assert whole(here) == whole(there)
    assert is_over(whole(there))
    assert len(nodes[0].bookings_at(at)) == 1


@pytest.mark.parametrize("words", ["actually make it 10 people", "不对，改成10个人"])
def test_a_correction_in_the_other_tab_reaches_the_run(tabs, at, nodes, figure, words):
    here, there = tabs
    runs = "select version, status from agentruntime_run where thread_id = %s order by version"
    with nodes[0].hold("lock table booking_occurrence in access exclusive mode"):
        here.say(f"{request_of(at)} for one hour")
        nodes[0].await_blocked()
        there.say(words)
        there.until("accepted")
        began = time.monotonic()
        until(lambda: nodes[0].rows(runs, here.id)[0] == (1, "superseded"))
        took = time.monotonic() - began

    question = there.news()

    figure(
        "the correction reached the run after",
        f"{took:.2f} s (beat {BEAT_SECONDS} s)",
        promise="within a beat",
    )
    assert took < BEAT_SECONDS + 0.5
    assert question["slots"]["capacity"] == 10
    assert here.news()["interrupt_id"] == question["interrupt_id"]
    while question is not None:
        here.reply(question)
        question = here.news()
    assert [
        seats >= 10
        for (seats,) in nodes[0].rows(
            """select r.seats from booking_occurrence o join booking_room r on r.id = o.room_id
           where o.starts_at = %s""",
            at,
        )
    ] == [True]
