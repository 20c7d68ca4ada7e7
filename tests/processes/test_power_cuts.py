"""kill -9 of the server at every step of a booking: the conversation goes on, one room is booked."""

import signal
import time

import pytest

QUESTIONS = ["clarify", "select_room", "confirm"]


def request_of(at):
    return f"Book a room on {at:%Y-%m-%d} at {at:%H:%M} for 4 people"


class Conversation:
    """The happy path, a step at a time: what is said to each question, until the room is booked."""

    def __init__(self, page, at):
        self.page = page
        self.at = at
        self.question = None

    def begin(self, **data):
        self.page.say(request_of(self.at), **data)

    def reply(self, **data):
        """Give the answer the open question asks for."""
        question = self.question
        if question["kind"] == "clarify":
            self.page.say("one hour", **data)
        elif question["kind"] == "select_room":
            room = question["data"]["candidates"][0]["room"]
            self.page.answer(question, {"room": room}, **data)
        else:
            self.page.answer(question, {"approved": True}, **data)

    def listen(self):
        """The next question, or None once it is booked."""
        frame = self.page.until("interrupt", "complete")
        self.question = frame if frame["type"] == "interrupt" else None
        return self.question

    def to(self, kind):
        """Talk until the agent asks a question of that kind."""
        self.begin()
        while self.listen()["kind"] != kind:
            self.reply()
        return self.question

    def finish(self):
        while self.question is not None:
            self.reply()
            self.listen()

    def is_booked_once(self):
        booked = self.page.server.bookings_at(self.at)
        effects = self.page.server.rows(
            "select count(*) from agentruntime_effect where thread_id = %s", self.page.id
        )
        return len(booked) == 1 and effects == [(1,)]


@pytest.fixture
def talk(page, at):
    talk = Conversation(page, at)
    page.open()
    return talk


def same_question(frame):
    """A question without what belongs to the run that asked it."""
    return {key: value for key, value in frame.items() if key not in {"run", "seq"}}


def power_cut(talk):
    """Kill the server, start it again, come back with the conversation's id: the welcome."""
    talk.page.server.kill()
    talk.page.close()
    talk.page.server.start()
    return talk.page.open()


def test_before_anything_is_said(talk):
    welcome = power_cut(talk)

    assert (welcome["status"], welcome["transcript"]) == ("idle", [])
    talk.begin()
    talk.listen()
    talk.finish()
    assert talk.is_booked_once()


@pytest.mark.parametrize("kind", QUESTIONS)
def test_while_a_question_waits(talk, kind):
    before = talk.to(kind)

    welcome = power_cut(talk)

    assert welcome["status"] == "waiting"
    assert same_question(talk.listen()) == same_question(before)
    talk.finish()
    assert talk.is_booked_once()
    assert_told_in_order(talk)


def test_after_it_is_booked(talk):
    talk.to("confirm")
    talk.finish()

    welcome = power_cut(talk)

    assert welcome["transcript"][-1]["kind"] == "complete"
    talk.page.say("show my bookings")
    assert talk.page.until("complete")["message"]
    assert talk.is_booked_once()


@pytest.mark.parametrize("step", ["begin", *QUESTIONS])
def test_while_a_run_works(talk, step):
    server = talk.page.server
    if step != "begin":
        talk.to(step)
    with server.hold("lock table booking_occurrence in access exclusive mode"):
        talk.begin() if step == "begin" else talk.reply()
        talk.page.until("accepted")
        server.await_blocked()
        server.kill()
    talk.page.close()
    server.start()

    welcome = talk.page.open()

    assert welcome["transcript"][-1]["role"] == "user" or welcome["status"] != "running"
    follow_to_the_end(talk, welcome)
    assert talk.is_booked_once()
    assert_told_in_order(talk)


def test_inside_the_booking_itself(talk):
    """The transaction that books waits for the room's row: it is lost whole, and done again."""
    server = talk.page.server
    talk.to("confirm")
    with server.hold("select 1 from booking_room for update"):
        talk.reply()
        talk.page.until("accepted")
        server.await_blocked()
        server.kill()
        assert server.bookings_at(talk.at) == []
    talk.page.close()
    server.start()

    follow_to_the_end(talk, talk.page.open())

    assert talk.is_booked_once()


def test_between_the_booking_and_the_end_of_its_turn(talk):
    """The room is booked, the turn is not committed: the run is done again and books no second."""
    server = talk.page.server
    talk.to("confirm")
    with server.hold("lock table checkpoints in exclusive mode"):
        talk.reply()
        server.await_blocked()
        booked = server.bookings_at(talk.at)
        server.kill()
        assert len(booked) == 1
        server.start()
        talk.page.close()
        welcome = talk.page.open()
        assert welcome["status"] == "running"

    follow_to_the_end(talk, welcome)

    assert server.bookings_at(talk.at) == booked
    assert talk.is_booked_once()
    assert_told_in_order(talk)


@pytest.mark.parametrize("seconds", [0, 0.02])
def test_right_after_the_yes_was_acknowledged(talk, seconds):
    server = talk.page.server
    talk.to("confirm")
    talk.reply(id="yes")
    talk.page.until("accepted")
    time.sleep(seconds)

    welcome = power_cut(talk)

    follow_to_the_end(talk, welcome)
    assert talk.is_booked_once()
    talk.page.send("answer", id="yes", interrupt_id=last_question(talk), value={"approved": True})
    assert talk.page.until("accepted")["id"] == "yes"
    assert len(server.bookings_at(talk.at)) == 1


def test_before_a_message_is_acknowledged_it_is_sent_again_and_counts_once(talk):
    server = talk.page.server
    with server.hold("lock table agentruntime_message in exclusive mode"):
        talk.begin(id="the-first")
        server.await_blocked()
        server.kill()
    talk.page.close()
    server.start()
    talk.page.open()

    talk.begin(id="the-first")

    assert talk.page.until("accepted")["id"] == "the-first"
    talk.page.send("sync")
    follow_to_the_end(talk, talk.page.until("welcome"))
    assert talk.is_booked_once()
    assert server.rows(
        "select count(*) from agentruntime_message where thread_id = %s and client_id = %s",
        talk.page.id,
        "the-first",
    ) == [(1,)]


def test_twice_in_one_turn(talk):
    server = talk.page.server
    talk.to("confirm")
    with server.hold("select 1 from booking_room for update"):
        talk.reply()
        talk.page.until("accepted")
        for _ in range(2):
            server.await_blocked()
            server.kill()
            server.rows(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and wait_event_type = 'Lock'"
            )
            server.start()
    talk.page.close()

    follow_to_the_end(talk, talk.page.open())

    assert talk.is_booked_once()


def follow_to_the_end(talk, welcome):
    """Whatever the thread is at, follow it and answer until the room is booked."""
    if welcome["status"] == "idle" and welcome["transcript"][-1]["kind"] == "complete":
        return
    if talk.listen() is not None:
        talk.finish()


def last_question(talk):
    asked = [each for each in talk.page.heard if each["type"] == "interrupt"]
    return asked[-1]["interrupt_id"]


def assert_told_in_order(talk):
    """The transcript as a fresh page sees it: every word once, question and answer in turn."""
    talk.page.close()
    transcript = talk.page.open()["transcript"]
    assert len({each["id"] for each in transcript}) == len(transcript)
    assert [each["role"] for each in transcript] == ["user", "assistant"] * (len(transcript) // 2)
    assert [each["kind"] for each in transcript if each["role"] == "assistant"] == [
        *QUESTIONS,
        "complete",
    ]


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


def test_sigterm_says_restarting_and_leaves_at_once_when_nothing_runs(talk):
    server = talk.page.server
    before = talk.to("clarify")

    end_within(server, 4)

    assert talk.page.closed_with() == 4012
    server.start()
    assert talk.page.open()["status"] == "waiting"
    assert same_question(talk.listen()) == same_question(before)
    talk.finish()
    assert talk.is_booked_once()


def test_sigterm_lets_a_run_end_that_can(talk):
    server = talk.page.server
    talk.to("confirm")
    with server.hold("select 1 from booking_room for update"):
        talk.reply()
        talk.page.until("accepted")
        server.await_blocked()
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
    server.process.wait(timeout=10)

    assert talk.page.closed_with() == 4012
    assert "complete" in {frame["type"] for frame in talk.page.heard}
    server.restart()
    assert talk.page.open()["transcript"][-1]["kind"] == "complete"
    assert talk.is_booked_once()


def test_sigterm_leaves_in_time_though_a_run_hangs_and_nothing_is_lost(talk):
    server = talk.page.server
    talk.to("confirm")
    with server.hold("select 1 from booking_room for update"):
        talk.reply()
        talk.page.until("accepted")
        server.await_blocked()
        talk.page.say("and thank you", id="late")
        assert talk.page.until("accepted")["classification"] == "queued"
        end_within(server, 10)
        assert talk.page.closed_with() == 4012
    server.start()

    follow_to_the_end(talk, talk.page.open())

    assert talk.is_booked_once()
    late = "select status from agentruntime_message where thread_id = %s and client_id = 'late'"
    deadline = time.monotonic() + 10
    while server.rows(late, talk.page.id) != [("consumed",)]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
