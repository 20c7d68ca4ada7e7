"""kill -9 of the server at every step of a booking: the thread goes on, one room is booked."""

import signal
import time

import pytest

from tests.processes.pages import (
    QUESTIONS,
    assert_booked_once,
    assert_told_in_order,
    request_of,
    to_question,
    until,
)


@pytest.fixture
def page(page):
    page.open()
    return page


def same_question(frame):
    """A question without what belongs to the run that asked it."""
    return {key: value for key, value in frame.items() if key not in {"run", "seq"}}


def start(server):
    server.start()
    server.ready()


def power_cut(page):
    """Kill the server, start it again, come back with the thread's id: the welcome."""
    page.server.kill()
    page.close()
    start(page.server)
    return page.open()


def test_before_anything_is_said(page, at):
    welcome = power_cut(page)

    assert (welcome["status"], welcome["transcript"]) == ("idle", [])
    page.say(request_of(at))
    page.finish()
    assert_booked_once(page, at)


@pytest.mark.parametrize("kind", QUESTIONS)
def test_while_a_question_waits(page, at, kind):
    before = to_question(page, at, kind)

    welcome = power_cut(page)

    assert welcome["status"] == "waiting"
    question = page.until("interrupt")
    assert same_question(question) == same_question(before)
    page.reply(question)
    page.finish()
    assert_booked_once(page, at)
    assert_told_in_order(page)


def test_after_it_is_booked(page, at):
    page.reply(to_question(page, at, "confirm"))
    page.finish()

    welcome = power_cut(page)

    assert welcome["transcript"][-1]["kind"] == "complete"
    page.say("show my bookings")
    assert page.until("complete")["message"]
    assert_booked_once(page, at)


@pytest.mark.parametrize("step", ["begin", *QUESTIONS])
def test_while_a_run_works(page, at, step):
    server = page.server
    question = None if step == "begin" else to_question(page, at, step)
    with server.hold("lock table booking_occurrence in access exclusive mode"):
        page.reply(question) if question else page.say(request_of(at))
        page.until("accepted")
        server.await_blocked()
        server.kill()

    welcome = page.move(restarted(server))

    assert welcome["transcript"][-1]["role"] == "user" or welcome["status"] != "running"
    page.finish(welcome)
    assert_booked_once(page, at)
    assert_told_in_order(page)


def restarted(server):
    start(server)
    return server


def test_inside_the_booking_itself(page, at):
    """The transaction that books waits for the room's row: it is lost whole, and done again."""
    server = page.server
    question = to_question(page, at, "confirm")
    with server.hold("select 1 from booking_room for update"):
        page.reply(question)
        page.until("accepted")
        server.await_blocked()
        server.kill()
        assert server.bookings_at(at) == []

    page.finish(page.move(restarted(server)))

    assert_booked_once(page, at)


def test_between_the_booking_and_the_end_of_its_turn(page, at):
    """The room is booked, the turn is not committed: the run is done again and books no second."""
    server = page.server
    question = to_question(page, at, "confirm")
    with server.hold("lock table checkpoints in exclusive mode"):
        page.reply(question)
        server.await_blocked()
        booked = server.bookings_at(at)
        server.kill()
        assert len(booked) == 1
        welcome = page.move(restarted(server))
        assert welcome["status"] == "running"

    page.finish(welcome)

    assert server.bookings_at(at) == booked
    assert_booked_once(page, at)
    assert_told_in_order(page)


@pytest.mark.parametrize("seconds", [0, 0.02])
def test_right_after_the_yes_was_acknowledged(page, at, seconds):
    question = to_question(page, at, "confirm")
    page.reply(question, id="yes")
    page.until("accepted")
    time.sleep(seconds)

    welcome = power_cut(page)

    page.finish(welcome)
    assert_booked_once(page, at)
    page.reply(question, id="yes")
    assert page.until("accepted")["id"] == "yes"
    assert len(page.server.bookings_at(at)) == 1


def test_before_a_message_is_acknowledged_it_is_sent_again_and_counts_once(page, at):
    server = page.server
    with server.hold("lock table agentruntime_message in exclusive mode"):
        page.say(request_of(at), id="the-first")
        server.await_blocked()
        server.kill()

    page.move(restarted(server))  # which sends it again, unless it is there already

    page.finish(page.picture())
    assert_booked_once(page, at)
    said = "select client_id from agentruntime_message where thread_id = %s and client_id = %s"
    assert len(server.rows(said, page.id, "the-first")) == 1


def test_twice_in_one_turn(page, at):
    server = page.server
    question = to_question(page, at, "confirm")
    with server.hold("select 1 from booking_room for update"):
        page.reply(question)
        page.until("accepted")
        for _ in range(2):
            server.await_blocked()
            server.kill()
            server.rows(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and wait_event_type = 'Lock'"
            )
            start(server)

    page.finish(page.move(server))

    assert_booked_once(page, at)


# --- an orderly end


def end_within(server, seconds):
    """SIGTERM: how long it took to leave."""
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(timeout=seconds + 5)
    took = time.monotonic() - began
    server.process = None
    assert took < seconds, f"left after {took:.1f} s"
    return took


def test_sigterm_says_restarting_and_leaves_at_once_when_nothing_runs(page, at):
    before = to_question(page, at, "clarify")

    end_within(page.server, 4)

    assert page.closed_with() == 4012
    assert page.move(restarted(page.server))["status"] == "waiting"
    question = page.until("interrupt")
    assert same_question(question) == same_question(before)
    page.reply(question)
    page.finish()
    assert_booked_once(page, at)


def test_sigterm_lets_a_run_end_that_can(page, at):
    server = page.server
    question = to_question(page, at, "confirm")
    with server.hold("select 1 from booking_room for update"):
        page.reply(question)
        page.until("accepted")
        server.await_blocked()
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
    server.process.wait(timeout=10)

    assert page.closed_with() == 4012
    assert "complete" in {frame["type"] for frame in page.heard}
    server.restart()
    assert page.move(server)["transcript"][-1]["kind"] == "complete"
    assert_booked_once(page, at)


def test_sigterm_leaves_in_time_though_a_run_hangs_and_nothing_is_lost(page, at):
    server = page.server
    question = to_question(page, at, "confirm")
    with server.hold("select 1 from booking_room for update"):
        page.reply(question)
        page.until("accepted")
        server.await_blocked()
        page.say("and thank you", id="late")
        assert page.until("accepted")["classification"] == "queued"
        end_within(server, 10)
        assert page.closed_with() == 4012

    page.finish(page.move(restarted(server)))

    assert len(server.bookings_at(at)) == 1
    late = "select status from agentruntime_message where thread_id = %s and client_id = 'late'"
    until(lambda: server.rows(late, page.id) == [("consumed",)])
    assert_booked_once(page, at)
