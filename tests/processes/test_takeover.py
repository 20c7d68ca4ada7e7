"""kill -9 of the process that holds a run: the other one takes it over and ends it, once."""

import statistics
import time
from contextlib import ExitStack

import psycopg
import pytest

from tests.processes.pages import assert_booked_once, request_of, to_question, until
from tests.processes.servers import described

LEASE_SECONDS = 12.0
SHORT_LEASE_SECONDS = 4.0
PROMISE_SECONDS = 1.0
ROUNDS = 5


@pytest.fixture
def pair(together):
    """Two processes at the usual lease."""
    return only_two(together)


@pytest.fixture
def short_lived(together):
    """Two processes at a short lease."""
    return only_two(together, ROOMWISE_LEASE_SECONDS=str(SHORT_LEASE_SECONDS))


_running = {}


def only_two(together, **env):
    """Two processes of that environment and no others; those of the test before, if they are so."""
    if _running.get("env") != env:
        together.end()
        _running.update(env=env, nodes=together.start(2, **env))
    return _running["nodes"]


HELD = "lock table booking_occurrence in access exclusive mode"


def held_run(together, owner, *, question=None, lock=HELD):
    """A run of `owner` that waits for a lock: the stack that holds it, the tab, the start booked.

    question: the kind of question whose answer the run takes up; None for a new request.
    """
    at = owner.free_slot()
    page = together.page(owner)
    asked = to_question(page, at, question) if question else None
    lock_held = ExitStack()
    lock_held.enter_context(owner.hold(lock))
    page.reply(asked) if asked else page.say(request_of(at))
    page.until("accepted")
    owner.await_blocked()
    return lock_held, page, at


def seconds_to_takeover(together, owner, page, limit=20.0):
    """kill -9 of the owner; the seconds until another process holds its thread."""
    name = together.owner(page.id)
    assert name == owner.worker
    query = "select lease_owner from agentruntime_thread where id = %s"
    with psycopg.connect(together.conninfo, autocommit=True) as connection:
        owner.kill()
        began = time.monotonic()
        until(lambda: connection.execute(query, [page.id]).fetchone()[0] not in {name, None}, limit)
        return time.monotonic() - began


def finish_elsewhere(page, other, at):
    """The person, reconnected to the other process, books what they wanted: one room, once."""
    page.finish(page.move(other))
    assert_booked_once(page, at)


def test_takeover_with_the_hint_takes_less_than_a_second(together, pair, figure):
    took = []
    for number in range(ROUNDS):
        owner, other = pair if number % 2 == 0 else pair[::-1]
        held, page, at = held_run(together, owner)
        with held:
            took.append(seconds_to_takeover(together, owner, page))
        finish_elsewhere(page, other, at)
        owner.start()
        owner.ready()
        kinds = "select kind, status from agentruntime_run where thread_id = %s order by version"
        assert together.rows(kinds, page.id)[:2] == [("start", "lost"), ("recovery", "waiting")]

    figure("takeover after kill -9 with the hint", described(took))
    assert statistics.median(took) < PROMISE_SECONDS


@pytest.mark.parametrize(
    "lock", ["select 1 from booking_room for update", "lock table checkpoints in exclusive mode"]
)
def test_takeover_while_a_statement_of_the_dead_is_in_flight(together, pair, figure, lock):
    """Inside the booking, and inside the commit of its turn: PostgreSQL notices the dead client
    at its next look at the socket (client_connection_check_interval, 2 s), and no sooner.
    """
    owner, other = pair
    held, page, at = held_run(together, owner, question="confirm", lock=lock)
    with held:
        took = seconds_to_takeover(together, owner, page)
    finish_elsewhere(page, other, at)
    owner.start()
    owner.ready()

    figure(f"takeover in mid-statement ({lock.split()[2]})", f"{took:.2f} s")
    assert took < 2.0 + 2 * PROMISE_SECONDS


def test_takeover_without_the_hint_waits_for_the_lease(together, short_lived, figure):
    owner, other = short_lived
    held, page, at = held_run(together, owner)
    name = f"roomwise:{owner.worker}"
    with held, psycopg.connect(together.conninfo, application_name=name):
        took = seconds_to_takeover(together, owner, page)
    finish_elsewhere(page, other, at)

    at_most = LEASE_SECONDS - SHORT_LEASE_SECONDS + took
    figure(
        "takeover after kill -9 without the hint",
        f"{took:.2f} s at a lease of {SHORT_LEASE_SECONDS} s, so at most"
        f" {at_most:.1f} s at {LEASE_SECONDS} s",
    )
    assert 0.5 < took < SHORT_LEASE_SECONDS + 2
    assert at_most < 15
