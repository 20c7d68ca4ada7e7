"""A process stopped past its lease, outlived by its run, and woken: not one row of it lands."""

import time

import pytest

from tests.processes.pages import request_of, until
from tests.processes.servers import difference

LEASE_SECONDS = 3.0
AWAKE_SECONDS = 2.0  # twice a beat, many times what the rest of the run takes

# No run saves half-way: the commit is then the only write that could land. (With the usual setting
# the fence of that save refuses the zombie first, and hides a commit without one.)
ENV = {
    "ROOMWISE_LEASE_SECONDS": str(LEASE_SECONDS),
    "ROOMWISE_BEAT_SECONDS": "1",
    "ROOMWISE_FLUSH_AFTER": "60",
}

# It never finds out by itself that its lease is over: only the database is in its way.
DEAF = """
from agentruntime.orchestration.leases import LeaseKeeper
async def renew(self): pass
LeaseKeeper.renew = renew
"""
# And the database is not in its way either: the commit of a turn asks for nothing but the thread.
UNFENCED = f"""{DEAF}
from agentruntime.persistence import statements
fence = "where id = %(thread)s and run_version = %(version)s and lease_owner = %(worker)s"
assert statements.COMMIT.count(fence) == 1
statements.COMMIT = statements.COMMIT.replace(fence, "where id = %(thread)s")
"""


@pytest.fixture(scope="module")
def heir(together):
    """The process that takes over."""
    (node,) = together.start(1, **ENV)
    return node


@pytest.fixture
def doomed(together, heir):
    """Start the process that will be stopped; it ends with the test."""
    started = []

    def start(change=""):
        started.extend(together.start(1, change, **ENV))
        return started[-1]

    yield start
    for node in started:
        node.end()


def outlive(together, owner, heir, at):
    """Stop `owner` in the middle of a run, let `heir` finish the talk: the seconds to the takeover."""
    page = together.page(owner)
    with owner.hold("lock table booking_occurrence in access exclusive mode"):
        page.say(f"{request_of(at)} for one hour")
        page.until("accepted")
        owner.await_blocked()
        assert together.owner(page.id) == owner.worker
        stopped_as = owner.worker
        owner.pause()
    began = time.monotonic()
    until(lambda: together.owner(page.id) != stopped_as)
    took = time.monotonic() - began
    page.finish(page.move(heir))
    assert len(heir.bookings_at(at)) == 1
    return took


def what_the_zombie_changes(together, owner, heir):
    """The difference that waking it makes to all tables, and the seconds to the takeover."""
    took = outlive(together, owner, heir, heir.free_slot())
    before = together.contents()
    assert before["agentruntime_run"]
    owner.go_on()
    until(owner._is_ready)
    time.sleep(AWAKE_SECONDS)
    return difference(before, together.contents()), sum(map(len, before.values())), took


@pytest.mark.parametrize("change", ["", DEAF], ids=["as it is", "never told that it lost"])
def test_not_one_row_of_a_zombie_lands(together, doomed, heir, figure, change):
    changed, count, took = what_the_zombie_changes(together, doomed(change), heir)

    figure(
        "rows changed by the zombie",
        f"{changed or 0} of {count}; taken over in {took:.1f} s",
        promise="none",
    )
    assert changed == {}
    assert LEASE_SECONDS - 1 < took < LEASE_SECONDS + 2


def test_without_the_fence_its_rows_would_land(together, doomed, heir, figure):
    """The same scenario, the same comparison; only the commit's fence is gone."""
    changed, count, _ = what_the_zombie_changes(together, doomed(UNFENCED), heir)

    figure(
        "rows changed by an unfenced zombie",
        f"{changed} of {count}",
        promise="some: the fence is why",
    )
    assert changed["agentruntime_thread"] == (1, 1)
    assert changed["agentruntime_message"][1] >= 1
