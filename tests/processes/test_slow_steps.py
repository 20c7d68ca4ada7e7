"""A step that takes three times the lease: slow is not dead, a hung event loop is taken over once."""

import time

import pytest

from tests.processes import failpoints
from tests.processes.failpoints import HANG, WAIT
from tests.processes.pages import assert_booked_once, assert_told_in_order, request_of, until
from tests.processes.servers import difference

LEASE_SECONDS = 3.0
AWAKE_SECONDS = 2.0  # many times what the rest of the run takes

RUNS = """
select version, kind, status, worker from agentruntime_run where thread_id = %s order by version
"""


@pytest.fixture(scope="module")
def pair(together, points):
    lease = {"ROOMWISE_LEASE_SECONDS": str(LEASE_SECONDS), "ROOMWISE_BEAT_SECONDS": "0.75"}
    return together.start(2, failpoints.INSTALL, **points.env, **lease)


def slow_step(together, points, node, action):
    """A run of `node` in a step that does not end: its page, the start it is about to offer."""
    at = node.free_slot()
    page = together.page(node)
    points.arm("clarify", action)
    page.say(request_of(at))
    points.reached("clarify")
    return page, at


def test_a_step_that_waits_three_leases_long_keeps_its_run(together, points, pair, figure):
    owner, _ = pair
    page, at = slow_step(together, points, owner, WAIT)
    time.sleep(3 * LEASE_SECONDS)
    points.let_go("clarify")
    page.finish()

    runs = together.rows(RUNS, page.id)
    figure(
        "a step of three leases, waiting",
        f"{runs[0][1:3]} by the worker that began it",
        promise="the same run ends",
    )
    assert runs[0] == (1, "start", "waiting", owner.worker)
    assert {kind for _, kind, *_ in runs} == {"start", "resume"}
    assert_booked_once(page, at)
    assert_told_in_order(page)


def test_a_hung_loop_is_taken_over_once_and_writes_no_more(together, points, pair, figure):
    owner, heir = pair
    page, at = slow_step(together, points, owner, HANG)
    hung_as = owner.worker
    began = time.monotonic()
    until(lambda: together.owner(page.id) != hung_as)
    took = time.monotonic() - began
    page.finish(page.move(heir))
    assert_booked_once(page, at)
    assert_told_in_order(page)
    time.sleep(max(0, began + 3 * LEASE_SECONDS - time.monotonic()))
    before = together.contents()

    points.let_go("clarify")
    until(owner._is_ready)
    time.sleep(AWAKE_SECONDS)

    changed = difference(before, together.contents())
    recoveries = [
        worker for _, kind, _, worker in together.rows(RUNS, page.id) if kind == "recovery"
    ]
    figure(
        "a step of three leases, hanging",
        f"taken over {len(recoveries)} time, {took:.1f} s after it hung;"
        f" {changed or 0} rows changed when it went on",
        promise="taken over once, no row of it lands",
    )
    assert recoveries == [heir.worker]
    assert changed == {}
    assert LEASE_SECONDS - 1 < took < LEASE_SECONDS + 2
