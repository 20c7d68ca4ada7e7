"""Real server processes on one database, each started with an environment of its own."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path

import psycopg
from psycopg import sql

from booking.demo import PASSWORD
from tests.browser.site import ROOT, START_SECONDS, Site
from tests.processes.pages import Page, until

# What people and processes leave behind beside the runs: sign-ins, heartbeats, who did a chore when.
NOT_OF_RUNS = {"django_session", "agentruntime_worker", "agentruntime_chore"}

HEAD_CHECK_SECONDS = 2.0  # how often a process compares what it showed with the database

# Starts servers quickly: what they import from elsewhere is imported once, every server is a fork
# of this process that then loads what `manage.py serve` does, in an environment of its own. It
# serves when it is told to, so one can be loaded while another is still spoken to.
NURSERY = """
import json, os, signal, sys
import channels_redis.pubsub, langchain_core.runnables, langgraph.graph, langgraph.types
import django.contrib.admin, django.db.backends.postgresql.base, psycopg_pool, redis.asyncio
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
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
    import config.asgi, agentruntime.management.commands.serve
    signal.sigwait({signal.SIGUSR1})
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

    def load(self, **order) -> Forked:
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return Forked(int(self.process.stdout.readline()))

    def end(self) -> None:
        self.process.communicate(timeout=20)


class Node(Site):
    """One server process on a database it may share; `env` is its own.

    change: Python that is run in it before it serves.
    """

    def __init__(self, together: "Together", env: Mapping[str, str], change: str = "") -> None:
        super().__init__(together.log)
        self._slots = together.slots
        self.admin = together.admin
        self.database = together.database
        self.conninfo = together.conninfo
        self.env = env
        self.change = change
        self.cookie = together.cookie
        self.nursery = together.nursery
        self._next: Forked | None = None

    def load(self) -> None:
        """Begin to load the process that the next `start` starts."""
        if self._next is None:
            self._next = self.nursery.load(
                env=self._env(), log=str(self.log), port=self.port, change=self.change
            )

    def start(self) -> None:
        """Begin to start it; `ready` waits until it serves."""
        self.load()
        self.process, self._next = self._next, None
        self.process.send_signal(signal.SIGUSR1)

    def ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the server did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.02)

    def restart(self) -> None:
        """Have it up again if it is down."""
        if self.is_down():
            self.process = None
            self.start()
            self.ready()

    def is_down(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def end(self) -> None:
        """Kill it, stopped or not, and what was loaded to follow it."""
        for process in (self.process, self._next):
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.send_signal(signal.SIGKILL)
                process.wait(timeout=20)
        self.process = self._next = None

    def _env(self) -> dict[str, str]:
        inherited = {k: v for k, v in super()._env().items() if not k.startswith(("REDIS", "ROOM"))}
        data = os.environ.get("ROOMWISE_DATA")
        own = {"PYTHONFAULTHANDLER": "1", **self.env}
        return {**inherited, **({"ROOMWISE_DATA": data} if data else {}), **own}

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
        """Wait until a server waits for a lock: its run is exactly where the test wants it."""
        until(
            lambda: self.rows(
                "select 1 from pg_stat_activity where datname = current_database()"
                " and wait_event_type = 'Lock'"
            )
        )


class Together:
    """The database, and the processes that are up.

    url: of another PostgreSQL server than the suite's.
    """

    def __init__(self, log: Path, *, nursery: Nursery, url: str = "") -> None:
        self.admin = url or Site(log).admin
        self.log = log
        self.slots = itertools.count()
        self.database = f"roomwise_processes_{os.getpid()}"
        self.conninfo = psycopg.conninfo.make_conninfo(self.admin, dbname=self.database)
        self.cookie = ""
        self.nodes: list[Node] = []
        self.nursery = nursery
        self._maker = Node(self, {})
        self._pages: list[Page] = []

    def create(self) -> None:
        self._maker.create()

    def drop(self) -> None:
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
        """End whatever still runs; the rooms are free again."""
        self.close_pages()
        for node in self.nodes:
            node.end()
        self.nodes.clear()
        with psycopg.connect(self.conninfo) as connection:
            connection.execute("truncate booking_booking cascade")
        self.slots = itertools.count()

    def close_pages(self) -> None:
        for page in self._pages:
            page.close()
        self._pages.clear()

    def page(self, node: Node, thread: str = "") -> Page:
        """A tab on a process, opened; on a thread, if one is named."""
        page = self.new_page(node, thread)
        page.welcome = page.open()
        return page

    def new_page(self, node: Node, thread: str = "") -> Page:
        """A tab that is not opened yet."""
        self._pages.append(Page(node, self.cookie, thread))
        return self._pages[-1]

    def rows(self, query: str, *values):
        return self._maker.rows(query, *values)

    def owner(self, thread: str) -> str | None:
        ((owner,),) = self.rows("select lease_owner from agentruntime_thread where id = %s", thread)
        return owner

    def contents(self) -> dict[str, list[tuple[str]]]:
        """Every row of every table, as text."""
        named = self.rows(
            "select table_name from information_schema.tables"
            " where table_schema = 'public' and table_type = 'BASE TABLE'"
        )
        read = sql.SQL("select t::text from {} as t order by 1")
        return {
            name: self.rows(read.format(sql.Identifier(name)))
            for (name,) in named
            if name not in NOT_OF_RUNS
        }


def difference(before: dict, after: dict) -> dict[str, tuple[int, int]]:
    """`{table: (rows gone, rows new)}`, of the tables that differ."""
    return {
        name: (len(set(rows) - set(after[name])), len(set(after[name]) - set(rows)))
        for name, rows in before.items()
        if rows != after[name]
    }
