"""A change of mind at every moment of a run: what comes of it is what was said last."""

import time
from datetime import datetime, timedelta

import pytest

from tests.browser.site import ZONE
from tests.processes import failpoints
from tests.processes.failpoints import WAIT
from tests.processes.pages import request_of, to_question, until

# A moment of the run that looks for rooms, or of the run that books; a point, and whether the room
# is booked by then.
SEARCHING = ["claimed", "understand", "search", "ask", "before_commit"]
BOOKING = {
    "book": False,
    "effect_before_commit": True,
    "effect_after_commit": True,
    "before_commit": True,
    "after_commit": True,
}
MOMENTS = [
    *((point, None, False) for point in SEARCHING),
    *((point, "confirm", is_booked) for point, is_booked in BOOKING.items()),
]
# Points at which the run is stopped where it is; at the others it ends first.
STOPPABLE = {"claimed", "understand", "search", "ask", "book"}
CORRECTIONS = {
    "不对，改成10个人": lambda booking: booking["headcount"] == 10 and booking["seats"] >= 10,
    "actually make it 3pm": lambda booking: booking["hour"] == 15,
}
CANCELS = {"算了，不订了": "没有订任何会议室", "cancel that": "Nothing was booked"}

BOOKINGS = """
select b.headcount, r.seats, extract(hour from o.starts_at at time zone 'Asia/Shanghai')::int
from booking_booking b
join booking_occurrence o on o.booking_id = b.id join booking_room r on r.id = o.room_id
join agentruntime_effect e on e.id = b.effect_id
where e.thread_id = %s and o.status not in ('cancelled', 'rejected', 'released', 'expired')
"""

SUPERSEDED = "select 1 from agentruntime_run where thread_id = %s and status = 'superseded'"
AT_REST = """
select 1 from agentruntime_thread as t where t.id = %s and t.status <> 'running' and not exists (
    select from agentruntime_message as m where m.thread_id = t.id and m.status = 'pending'
)
"""


@pytest.fixture(scope="module")
def node(together, points):
    (node,) = together.start(1, failpoints.INSTALL, **points.env)
    return node


@pytest.fixture
def say_at(together, points, node):
    """Say something at that moment of a run, and let everything come to rest: the page."""

    def say(words, point, step):
        at = next(at for at in iter(node.free_slot, None) if at.hour != 15)
        page = together.page(node)
        question = to_question(page, at, step) if step else None
        points.arm(point, WAIT)
        page.reply(question) if question else page.say(f"{request_of(at)} for one hour")
        points.reached(point)
        page.say(words, id="late")
        while page.until("accepted")["id"] != "late":
            pass
        if point in STOPPABLE:
            until(lambda: together.rows(SUPERSEDED, page.id))
        points.let_go(point)
        until(lambda: together.rows(AT_REST, page.id))
        return page

    yield say
    points.clear()
    together.close_pages()


def bookings(page):
    names = ("headcount", "seats", "hour")
    return [dict(zip(names, row, strict=True)) for row in page.server.rows(BOOKINGS, page.id)]


def other_questions(page, question):
    """The questions it showed before this one, by their ids."""
    asked = {frame["interrupt_id"] for frame in page.heard if frame["type"] == "interrupt"}
    return asked - {question["interrupt_id"]}


@pytest.mark.parametrize("words", CORRECTIONS)
@pytest.mark.parametrize(("point", "step", "is_booked"), MOMENTS)
def test_a_correction_is_what_counts(say_at, words, point, step, is_booked):
    page = say_at(words, point, step)

    question = page.picture()["question"]
    assert len(bookings(page)) == is_booked
    for stale in other_questions(page, question):
        page.send("answer", interrupt_id=stale, value={"approved": True}, id=stale)
        assert page.until("accepted", "error").get("code") == "stale_answer"
    page.agree(question)
    (booking,) = bookings(page)
    assert CORRECTIONS[words](booking)


@pytest.mark.parametrize("words", CANCELS)
@pytest.mark.parametrize(("point", "step", "is_booked"), MOMENTS)
def test_a_cancel_leaves_nothing_or_offers_to_cancel(say_at, words, point, step, is_booked):
    page = say_at(words, point, step)

    picture = page.picture()
    assert len(bookings(page)) == is_booked
    if is_booked:
        page.reply(picture["question"])
        assert page.news() is None
        assert bookings(page) == []
    else:
        assert picture["question"] is None
        assert CANCELS[words] in picture["transcript"][-1]["text"]


FRAGMENTS = ["明天", "下午三点", "8个人", "一小时", "要投影"]
FRAGMENTS_SECONDS = 2.0


def test_five_fragments_are_one_turn(together, node, figure):
    page = together.page(node)
    tomorrow = datetime.now(ZONE).date() + timedelta(days=1)
    began = time.monotonic()

    for number, words in enumerate(FRAGMENTS):
        page.say(words)
        time.sleep(max(0, began + number * FRAGMENTS_SECONDS / 5 - time.monotonic()))
    said = time.monotonic() - began
    answer = page.until("interrupt", "complete")
    took = time.monotonic() - began

    until(lambda: together.rows(AT_REST, page.id))
    runs = together.rows("select status from agentruntime_run where thread_id = %s", page.id)
    lines = page.picture()["transcript"]
    figure(
        "five fragments",
        f"said within {said:.2f} s, answered {took - said:.2f} s later; {len(runs)} run,"
        f" {sum(line['role'] == 'assistant' for line in lines)} answer",
        promise="one run, one answer",
    )
    assert said < FRAGMENTS_SECONDS
    assert len(runs) == 1
    assert [line["role"] for line in lines] == ["user"] * 5 + ["assistant"]
    wanted = {
        "date": tomorrow.isoformat(),
        "start_time": "15:00",
        "duration_minutes": 60,
        "capacity": 8,
    }
    assert {name: answer["slots"][name] for name in wanted} == wanted
    assert answer["slots"]["features"] == ["projector"]
