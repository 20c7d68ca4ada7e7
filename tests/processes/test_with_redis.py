"""Two tabs of one person on two processes that share a Redis; then Redis is killed for good."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.processes.pages import is_over, request_of, until, whole
from tests.processes.servers import HEAD_CHECK_SECONDS

AT_ONCE_SECONDS = 0.5  # well under a head check: only Redis can have told it


@pytest.fixture(scope="module")
def nodes(together, redis):
    return together.start(2, REDIS_URL=redis.url)


@pytest.fixture
def tabs(together, nodes, redis):
    if redis.process is None:
        redis.start()
    here = together.page(nodes[0])
    there = together.page(nodes[1], here.id)
    assert there.welcome["session_id"] == here.id
    until(lambda: redis.listeners(here.id) == 2)
    return here, there


@pytest.fixture
def at(nodes):
    return nodes[0].free_slot()


def heard_by_both(here, there, act, *kinds):
    """Do `act`; the frame of these kinds each tab gets, and how much later `there` got it."""

    def hear(page):
        return page.until(*kinds), time.monotonic()

    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(hear, page) for page in (here, there)]
        act()
        (ours, at_ours), (theirs, at_theirs) = [each.result() for each in waiting]
    return ours, theirs, at_theirs - at_ours


def test_what_happens_in_one_tab_shows_at_once_in_the_other(tabs, at, nodes, figure):
    here, there = tabs
    said = request_of(at)

    question, same, late = heard_by_both(
        here, there, lambda: here.say(said), "interrupt", "complete"
    )

    assert [each["text"] for each in there.heard if each["type"] == "said"] == [said]
    assert "said" not in {each["type"] for each in here.heard}
    assert same["interrupt_id"] == question["interrupt_id"]
    delays = [late]
    answering, watching = there, here
    while question["type"] == "interrupt":
        act = lambda page=answering, asked=question: page.reply(asked)  # noqa: E731
        question, same, late = heard_by_both(answering, watching, act, "interrupt", "complete")
        delays.append(late)
        assert (same["type"], same["message"]) == (question["type"], question["message"])
        answering, watching = watching, answering
    figure(
        "shown in the other tab after",
        " ".join(f"{each * 1000:+.0f} ms" for each in delays),
        promise="under 500 ms",
    )
    assert max(delays) < AT_ONCE_SECONDS
    assert len(nodes[0].bookings_at(at)) == 1
    assert whole(here) == whole(there)


def test_redis_is_restarted_in_mid_conversation_and_tells_again(tabs, at, nodes, redis, figure):
    here, there = tabs
    with nodes[0].hold("lock table booking_occurrence in access exclusive mode"):
        here.say(request_of(at))
        assert there.until("said")["text"] == request_of(at)
        nodes[0].await_blocked()
        redis.kill()
    question = here.until("interrupt")
    assert there.news()["interrupt_id"] == question["interrupt_id"]

    began = time.monotonic()
    redis.start()
    until(lambda: redis.listeners(here.id) == 2)
    back = time.monotonic() - began

    delays = []
    answering, watching = there, here
    while question["type"] == "interrupt":
        act = lambda page=answering, asked=question: page.reply(asked)  # noqa: E731
        question, same, late = heard_by_both(answering, watching, act, "interrupt", "complete")
        delays.append(abs(late))
        assert (same["type"], same["message"]) == (question["type"], question["message"])
        answering, watching = watching, answering
    figure(
        "Redis restarted",
        f"both listen again after {back:.1f} s, then shown in the other tab after"
        f" {' '.join(f'{each * 1000:.0f} ms' for each in delays)}",
        promise="a head check at most, at once in the end; nobody restarted",
    )
    # A process finds out that its connection is gone by the first thing it tells.
    assert max(delays) < HEAD_CHECK_SECONDS + 1
    assert delays[-1] < AT_ONCE_SECONDS
    assert whole(here) == whole(there)
    assert [node.process.poll() for node in nodes] == [None, None]


def test_redis_is_killed_for_good_in_mid_conversation(together, tabs, at, nodes, redis, figure):
    here, there = tabs
    before = [node.process.pid for node in nodes]
    with nodes[0].hold("lock table booking_occurrence in access exclusive mode"):
        here.say(request_of(at))
        assert there.until("said")["text"] == request_of(at)
        nodes[0].await_blocked()
        redis.kill()
    question = here.until("interrupt")
    began = time.monotonic()

    assert there.news()["interrupt_id"] == question["interrupt_id"]

    delays = [time.monotonic() - began]
    answering, watching = there, here
    while question is not None:
        answering.reply(question)
        question = answering.news()
        began = time.monotonic()
        seen = watching.news()
        delays.append(time.monotonic() - began)
        assert (seen and seen["interrupt_id"]) == (question and question["interrupt_id"])
        answering, watching = watching, answering
    figure(
        "Redis gone for good, shown after",
        " ".join(f"{each:.2f} s" for each in delays),
        promise="under 3 s, nobody restarted",
    )
    assert max(delays) < HEAD_CHECK_SECONDS + 1
    assert whole(here) == whole(there)
    assert is_over(whole(here))
    assert [whole(together.page(node, here.id)) for node in nodes] == [whole(here)] * 2
    assert len(nodes[0].bookings_at(at)) == 1
    assert [node.process.poll() for node in nodes] == [None, None]
    assert [node.process.pid for node in nodes] == before


def test_a_process_that_starts_without_its_redis_serves_and_finds_it_later(together, redis):
    if redis.process is not None:
        redis.kill()
    (node,) = together.start(1, REDIS_URL=redis.url)
    at = node.free_slot()
    page = together.page(node)
    page.say(request_of(at))
    page.finish()
    assert len(node.bookings_at(at)) == 1

    redis.start()
    until(lambda: redis.listeners(page.id) == 1)
