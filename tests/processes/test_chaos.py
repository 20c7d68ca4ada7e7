"""Whatever breaks, in any order, while many people book: nothing is lost, doubled or left undone."""

import random
import signal
import threading
import time
from collections import Counter

import psycopg
import pytest
from websockets.exceptions import WebSocketException

from tests.processes.pages import Page, is_over, request_of, until

PEOPLE = 12
SECONDS = 20.0
LEASE_SECONDS = 4.0
# One conversation, with all that may happen to it; and what is left to do when nothing breaks any more.
PATIENCE_SECONDS = 60.0
SEED = 20261201
SECOND_THOUGHTS = ["actually make it 6 people", "with a whiteboard", "不对，改成5个人"]
TERMINATE = """
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and random() < 0.5
"""

# Of the threads of this test: the database is shared with tests that break what they test.
UNREAD = "select 1 from agentruntime_message where status = 'pending' and thread_id = any(%s)"
AT_WORK = """
select 1 from agentruntime_thread
where (status = 'running' or lease_owner is not null) and id = any(%s)
"""
# What must have no rows in the end.
WRONG = {
    "a thread acted twice": """
        select thread_id from agentruntime_effect where thread_id = any(%s)
        group by 1 having count(*) > 1""",
    "a booking's effect made none": """
        select 1 from agentruntime_effect as e where thread_id = any(%s) and name = 'book_room'
            and not exists (select from booking_booking as b where b.effect_id = e.id)""",
    "two runs of a thread overlap": """
        select 1 from agentruntime_run as a join agentruntime_run as b using (thread_id)
        where a.thread_id = any(%s) and a.version < b.version and b.started_at < a.ended_at""",
    "a run never ended": """
        select 1 from agentruntime_run where thread_id = any(%s) and ended_at is null""",
    "messages were read out of order": """
        select 1 from (
            select turn, lag(turn) over (partition by thread_id order by id) as before
            from agentruntime_message
            where thread_id = any(%s) and role = 'user' and status = 'consumed'
        ) as read where turn < before""",
}
TWICE_TAKEN = """
select 1 from booking_occurrence as a join booking_occurrence as b on a.room_id = b.room_id
where a.id < b.id and a.blocked && b.blocked
    and a.status in ('pending', 'booked') and b.status in ('pending', 'booked')
"""


class Caller(threading.Thread):
    """Somebody who books one room after another, and comes back on any process."""

    def __init__(self, number, nodes, cookie, slots, stopping):
        super().__init__()
        self.random = random.Random(SEED + number)  # noqa: S311 - no secret
        self.nodes, self.cookie, self.slots, self.stopping = nodes, cookie, slots, stopping
        self.outcomes = Counter()
        self.acknowledged = []
        self.threads = []
        self.stuck = []

    def run(self):
        while not self.stopping.is_set():
            page = Page(self.random.choice(self.nodes), self.cookie)
            outcome = self._book(page)
            self.threads.append(page.id)
            self.outcomes[outcome] += 1
            if outcome == "stuck":
                self.stuck.append(page.id)
            heard = [frame["id"] for frame in page.heard if frame["type"] == "accepted"]
            self.acknowledged += [(page.id, client_id) for client_id in heard]
            page.close()

    def _book(self, page):
        ends = time.monotonic() + PATIENCE_SECONDS
        self._come_back(page)
        said = [f"{request_of(self.random.choice(self.slots))} for one hour"]
        if self.random.random() < 0.4:
            said.append(self.random.choice(SECOND_THOUGHTS))
        for words in said:
            self._send(page.say, words)
            self._settle(page)
        self._send(page.send, "sync")
        while time.monotonic() < ends:
            frame = self._next(page)
            if frame["type"] == "error":
                continue
            if frame["type"] == "interrupt":
                if frame["data"].get("rule") == "none_free":
                    return "no room"
                self._send(page.reply, frame)
            elif frame["type"] == "complete" or is_over(frame):
                return "booked"
        return "stuck"

    def _send(self, call, what):
        try:
            call(what)
        except (WebSocketException, OSError):
            self.outcomes["lost"] += 1  # kept by the page, and sent again when it is back

    def _settle(self, page):
        """Wait until what was said is accepted: what comes after it in time is said after it."""
        while page._outbox:
            self._heard(page, "accepted")

    def _next(self, page):
        return self._heard(page, "interrupt", "complete", "welcome")

    def _heard(self, page, *kinds):
        """The next of these; the whole picture after a silence, or when it had to come back. A page
        that comes back sends again what was not accepted.
        """
        try:
            frame = page.until(*kinds, "error", seconds=6)
        except (WebSocketException, OSError, EOFError):
            self.outcomes["lost"] += 1
            return self._come_back(page)
        if frame["type"] == "error" and frame["retry"]:
            time.sleep(0.2)
            return self._come_back(page)
        return frame

    def _come_back(self, page):
        while True:
            try:
                return page.move(self.random.choice(self.nodes))
            except (WebSocketException, OSError, EOFError):
                time.sleep(0.2)


@pytest.fixture(scope="module")
def nodes(together, redis):
    return together.start(
        3,
        REDIS_URL=redis.url,
        ROOMWISE_LEASE_SECONDS=str(LEASE_SECONDS),
        ROOMWISE_BEAT_SECONDS="1",
    )


@pytest.fixture
def faults(together, nodes, redis):
    """Break something: what was broken."""
    chance = random.Random(SEED)  # noqa: S311 - no secret

    def power_cut(node):
        node.kill()
        node.restart()

    def deploy(node):
        node.process.send_signal(signal.SIGTERM)
        node.process.wait(timeout=20)
        node.restart()

    def stand_still(node):
        node.pause()
        time.sleep(LEASE_SECONDS + 1)
        node.go_on()

    def lose_sessions(_node):
        with psycopg.connect(together.conninfo, autocommit=True) as connection:
            connection.execute(TERMINATE)

    def lose_redis(_node):
        redis.kill()
        time.sleep(1)
        redis.start()

    kinds = [power_cut, deploy, stand_still, lose_sessions, lose_redis, power_cut]

    def one(number):
        fault = kinds[number % len(kinds)]
        fault(chance.choice(nodes))
        return fault.__name__

    return one


def test_nothing_is_lost_or_doubled_whatever_breaks(together, nodes, faults, figure):
    cookies = [nodes[0].sign_in(name) for name in ("lilei", "wangfang", "hanmei", "zhaoqiang")]
    slots = [nodes[0].free_slot() for _ in range(30)]
    stopping = threading.Event()
    callers = [
        Caller(number, nodes, cookies[number % len(cookies)], slots, stopping)
        for number in range(PEOPLE)
    ]
    for caller in callers:
        caller.start()
    broken = []
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        time.sleep(1.5)
        broken.append(faults(len(broken)))
    stopping.set()
    for caller in callers:
        caller.join(PATIENCE_SECONDS)
    threads = [thread for caller in callers for thread in caller.threads]
    until(lambda: not together.rows(UNREAD, threads) and not together.rows(AT_WORK, threads))

    outcomes = sum((caller.outcomes for caller in callers), Counter())
    assert [thread for caller in callers for thread in caller.stuck] == []
    assert not any(caller.is_alive() for caller in callers)
    assert [what for what, query in WRONG.items() if together.rows(query, threads)] == []
    assert together.rows(TWICE_TAKEN) == []
    stored = set(together.rows("select thread_id, client_id from agentruntime_message"))
    acknowledged = {each for caller in callers for each in caller.acknowledged}
    assert acknowledged <= stored
    figure(
        "faults at random while people book",
        f"{', '.join(f'{count}x {name}' for name, count in Counter(broken).items())};"
        f" {outcomes['booked']} booked, {outcomes['no room']} without a room,"
        f" {outcomes['lost']} connections lost, {len(acknowledged)} acknowledged messages",
        promise="nothing lost, doubled or left undone",
    )
    assert outcomes["booked"] > 50
