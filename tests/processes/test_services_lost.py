"""PostgreSQL crashes in mid-run and starts again: nobody has to start anything else again."""

import signal
import time

import pytest

from tests.processes import failpoints
from tests.processes.failpoints import WAIT
from tests.processes.pages import (
    assert_booked_once,
    assert_told_in_order,
    request_of,
    to_question,
    whole,
)
from tests.processes.servers import Together
from tests.processes.services import Postgres

LEASE_SECONDS = 4.0
DOWN_SECONDS = 1.0
# A lease that nobody could give back runs out, and the pools of the processes fill again.
PROMISE_SECONDS = LEASE_SECONDS + 10


@pytest.fixture(scope="module")
def postgres(tmp_path_factory):
    postgres = Postgres(tmp_path_factory.mktemp("postgres"))
    postgres.start()
    yield postgres
    postgres.stop()


@pytest.fixture(scope="module")
def together(tmp_path_factory, nursery, postgres):
    """The database in a PostgreSQL that may crash."""
    log = tmp_path_factory.mktemp("crash") / "servers.log"
    together = Together(log, nursery=nursery, url=postgres.url)
    together.create()
    yield together
    together.end()
    together.drop()


@pytest.fixture(scope="module")
def pair(together, points):
    lease = {"ROOMWISE_LEASE_SECONDS": str(LEASE_SECONDS), "ROOMWISE_BEAT_SECONDS": "1"}
    return together.start(2, failpoints.INSTALL, **points.env, **lease)


def held_at(together, points, node, point, step):
    """A run that waits at a point: its page and the start it is about."""
    at = node.free_slot()
    page = together.page(node)
    question = to_question(page, at, step) if step else None
    points.arm(point, WAIT)
    page.reply(question) if question else page.say(request_of(at))
    points.reached(point)
    return page, at


@pytest.mark.parametrize("by", [signal.SIGQUIT, signal.SIGKILL], ids=["immediate", "kill -9"])
def test_postgresql_crashes_in_mid_run(together, postgres, points, pair, figure, by):
    pids = [node.process.pid for node in pair]
    searching = held_at(together, points, pair[0], "search", "clarify")
    acting = held_at(together, points, pair[1], "effect_before_commit", "confirm")
    at = pair[0].free_slot()
    answering = together.page(pair[0]), at
    question = to_question(*answering, "confirm")

    postgres.crash(by)
    answering[0].reply(question, id="while it is down")
    points.clear()
    time.sleep(DOWN_SECONDS)
    postgres.start()
    began = time.monotonic()
    answering[0].insist("while it is down")

    took = []
    for page, at in (answering, acting, searching):
        page.finish()
        took.append(time.monotonic() - began)
        assert_booked_once(page, at)
        assert_told_in_order(page)
        assert whole(together.page(pair[1], page.id)) == whole(page)
    figure(
        f"PostgreSQL crashed by {by.name}",
        f"all three threads at their true end {max(took):.1f} s after it was up again",
        promise=f"under {PROMISE_SECONDS:.0f} s, nobody restarted",
    )
    assert max(took) < PROMISE_SECONDS
    assert [node.process.pid for node in pair] == pids
    assert not any(node.is_down() for node in pair)
