"""Fifty messages from five processes on one conversation within two seconds: in a row, one by one."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import psycopg
import pytest

from tests.processes.pages import request_of, until, whole

PROCESSES = 5
EACH = 10
SECONDS = 2.0


@pytest.fixture(scope="module")
def nodes(together):
    return together.start(PROCESSES, ROOMWISE_BEAT_SECONDS="1")


def words(sender, number):
    """Corrections, supplements and questions, so that runs end, join, and begin anew."""
    kind = (sender + number) % 4
    if kind == 0:
        return f"actually make it {4 + number % 4} people"
    if kind == 1:
        return "with a projector"
    if kind == 2:
        return f"不对，改成{4 + sender}个人"
    return "show my bookings"


class Watch(threading.Thread):
    """Looks, as often as it can, how many runs of a thread are active."""

    def __init__(self, conninfo, thread):
        super().__init__()
        self.conninfo, self.thread = conninfo, thread
        self.most = self.looks = 0
        self.done = threading.Event()

    def run(self):
        query = "select count(*) from agentruntime_run where thread_id = %s and status = 'running'"
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            while not self.done.is_set():
                (active,) = connection.execute(query, [self.thread]).fetchone()
                self.most = max(self.most, active)
                self.looks += 1


def speak(page, sender):
    """Say all of a sender's words, two tenths of a second apart; what became of each."""
    began = time.monotonic()
    for number in range(EACH):
        page.say(words(sender, number), id=f"{sender}-{number}")
        time.sleep(max(0.0, began + (number + 1) * SECONDS / EACH * 0.95 - time.monotonic()))
    took = time.monotonic() - began
    answers = [page.until("accepted", "error") for _ in range(EACH)]
    return took, [(each["type"], each["id"]) for each in answers]


def test_fifty_messages_from_five_processes(together, nodes, figure):
    at = nodes[0].free_slot()
    first = together.page(nodes[0])
    pages = [first, *(together.page(node, first.id) for node in nodes[1:])]
    first.say(f"{request_of(at)} for one hour")
    assert first.news()["kind"] == "select_room"
    watch = Watch(together.conninfo, first.id)
    watch.start()

    with ThreadPoolExecutor(PROCESSES) as pool:
        spoken = list(pool.map(speak, pages, range(PROCESSES)))
    pending = "select 1 from agentruntime_message where thread_id = %s and status = 'pending'"
    settled = "select 1 from agentruntime_thread where id = %s and lease_owner is null"
    began = time.monotonic()
    until(
        lambda: not together.rows(pending, first.id) and together.rows(settled, first.id),
        seconds=40,
    )
    rest = time.monotonic() - began
    watch.done.set()
    watch.join()

    # All stored, acknowledged once, in the order of each sender, and read.
    took = max(seconds for seconds, _ in spoken)
    for sender, (_, answers) in enumerate(spoken):
        assert answers == [("accepted", f"{sender}-{number}") for number in range(EACH)]
    stored = together.rows(
        "select client_id, status, turn from agentruntime_message"
        " where thread_id = %s and client_id like '_-%%' order by id",
        first.id,
    )
    stored = [row for row in stored if len(row[0]) == 3]
    assert len(stored) == PROCESSES * EACH
    assert {status for _, status, _ in stored} == {"consumed"}
    for sender in range(PROCESSES):
        own = [name for name, _, _ in stored if name.startswith(f"{sender}-")]
        assert own == [f"{sender}-{number}" for number in range(EACH)]
    turns = [turn for _, _, turn in stored]
    assert turns == sorted(turns)

    # Never two runs at once.
    runs = together.rows(
        "select version, status, started_at, ended_at, worker, turn from agentruntime_run"
        " where thread_id = %s order by version",
        first.id,
    )
    overlaps = [
        (before[:2], (after[2] - before[3]).total_seconds())
        for before, after in pairwise(runs)
        if after[2] < before[3]
    ]
    figure(
        "50 messages",
        f"said within {took:.2f} s by {PROCESSES} processes, all read {rest:.2f} s later;"
        f" {len(runs)} runs, {len(set(turns))} turns, {len({run[4] for run in runs})} workers;"
        f" at most {watch.most} active in {watch.looks} looks, {len(overlaps)} overlaps",
        promise="one active run, none lost, in order",
    )
    assert took < SECONDS + 0.5
    assert watch.looks > 50
    assert watch.most == 1
    assert overlaps == []
    assert {status for _, status, *_ in runs} <= {"waiting", "done", "superseded"}

    # One final state, the same from every process; the conversation goes on from it.
    pictures = [whole(page) for page in pages]
    assert all(picture == pictures[0] for picture in pictures)
    assert pictures[0]["status"] in {"idle", "waiting"}
