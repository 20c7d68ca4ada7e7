"""A real server process on a database of its own, and a page that talks to it over its socket."""

import json
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from http.cookiejar import CookieJar
from pathlib import Path

import psycopg
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from booking.demo import PASSWORD
from tests.browser.site import ROOT, START_SECONDS, Site

SECONDS = 20.0

# `manage.py serve`, but for its first seconds: what it imports is loaded ahead, and the rest begins
# at a word on its standard input. So the next server loads while the one before is spoken to.
SERVE = """
import sys
import config.asgi, agentruntime.management.commands.serve
from django.core.management import execute_from_command_line
if sys.stdin.readline():
    execute_from_command_line(["manage.py", *sys.argv[1:]])
"""


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.processes)


class Server(Site):
    """The server process; it looks for work nobody drives twice a second."""

    def __init__(self, log: Path) -> None:
        super().__init__(log)
        self.database = f"{self.database}_processes"
        self.conninfo = psycopg.conninfo.make_conninfo(self.conninfo, dbname=self.database)
        self.cookie = ""
        self._next: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server that was loaded ahead, wait until it is ready, load the one after it."""
        self.process, self._next = self._next or self._load(), None
        with self.process.stdin as word:
            word.write(b"serve\n")
        self._await_ready()
        self._next = self._load()

    def _load(self) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", SERVE, "serve", "--port", str(self.port)],
                env=self._env(),
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )

    def _await_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the server did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.02)

    def drop(self) -> None:
        if self._next is not None:
            self._next.kill()
            self._next.communicate()
        super().drop()

    def _env(self) -> dict[str, str]:
        return {**super()._env(), "ROOMWISE_BEAT_SECONDS": "0.5", "PYTHONFAULTHANDLER": "1"}

    def restart(self) -> None:
        """Start it again if it is down."""
        if self.process is not None and self.process.poll() is not None:
            self.process = None
        if self.process is None:
            self.start()

    def sign_in(self, name: str = "lilei") -> str:
        """The session cookie of a demo person; it outlives the server."""
        jar = CookieJar()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        page = browser.open(f"{self.url}/accounts/login/").read().decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]
        form = {"csrfmiddlewaretoken": token, "username": name, "password": PASSWORD}
        sent = urllib.parse.urlencode(form).encode()
        browser.addheaders = [("Referer", self.url)]
        browser.open(f"{self.url}/accounts/login/", sent)
        return "; ".join(f"{each.name}={each.value}" for each in jar)

    @contextmanager
    def hold(self, statement: str, *values) -> Iterator[None]:
        """Hold a lock of our own until the end of the block."""
        with psycopg.connect(self.conninfo) as connection:
            connection.execute(statement, values)
            yield
            connection.rollback()

    def await_blocked(self) -> None:
        """Wait until the server waits for a lock: its run is exactly where the test wants it."""
        until(
            lambda: self.rows(
                "select 1 from pg_stat_activity where datname = current_database()"
                " and wait_event_type = 'Lock'"
            )
        )


def until(condition, seconds=SECONDS):
    """Wait until `condition()` is true; its value."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.02)
    return value


class Page:
    """What a page does: one socket at a time, on one conversation, speaking simple.v1."""

    def __init__(self, server: Server, cookie: str) -> None:
        self.server = server
        self.cookie = cookie
        self.id = ""
        self.heard: list[dict] = []
        self.socket = None
        self._connection = ExitStack()

    def open(self) -> dict:
        """Connect and begin, with the conversation's id if there is one: the welcome frame."""
        self.socket = self._connection.enter_context(
            connect(
                self.server.url.replace("http", "ws") + "/ws/agents/booking/",
                additional_headers={"Cookie": self.cookie},
                origin=self.server.url,
                subprotocols=["simple.v1"],
                open_timeout=SECONDS,
            )
        )
        self.send("init", **({"session_id": self.id} if self.id else {}))
        welcome = self.until("welcome")
        self.id = welcome["session_id"]
        return welcome

    def send(self, kind: str, **data) -> None:
        self.socket.send(json.dumps({"type": kind, **data}))

    def say(self, text: str, **data) -> None:
        self.send("message", **{"content": text, "id": uuid.uuid4().hex, **data})

    def answer(self, question: dict, value: dict, **data) -> None:
        names = {"interrupt_id": question["interrupt_id"], "value": value, "id": uuid.uuid4().hex}
        self.send("answer", **{**names, **data})

    def until(self, *kinds: str, seconds: float = SECONDS) -> dict:
        """The next frame of one of these kinds."""
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            frame = json.loads(self.socket.recv(timeout=max(left, 0.01)))
            self.heard.append(frame)
            if frame["type"] in kinds:
                return frame

    def closed_with(self) -> int:
        """The code the server closes the socket with, whatever it says before."""
        try:
            while True:
                self.heard.append(json.loads(self.socket.recv(timeout=SECONDS)))
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else 1006

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="session")
def _server(tmp_path_factory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("processes") / "server.log")
    server.create()
    try:
        server.start()
        server.cookie = server.sign_in()
        yield server
    finally:
        server.stop()
        server.drop()


@pytest.fixture
def server(_server) -> Iterator[Server]:
    """The server, running at the start of every test whatever the one before did to it."""
    _server.restart()
    yield _server
    if _server.process is not None and _server.process.poll() is not None:
        _server.process = None


@pytest.fixture
def new_page(server):
    """Open another page of the same person."""
    pages = []

    def make() -> Page:
        pages.append(Page(server, server.cookie))
        return pages[-1]

    yield make
    for each in pages:
        each.close()


@pytest.fixture
def page(new_page):
    return new_page()


@pytest.fixture
def at(server) -> datetime:
    """A start no other test books."""
    return server.free_slot()
