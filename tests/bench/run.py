"""`script/bench`: measures the product beside the yardstick, block by block, and prints ratios.

Both run at once on one PostgreSQL and take turns, so that whatever else the machine does falls on
both. A ratio is the median over the rounds of the ratio within a round. The load client is a
process of its own: this one.
"""

import argparse
import asyncio
import json
import os
import re
import secrets
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from websockets.asyncio.client import ClientConnection, connect

from config import embedded, env

DATABASE = "roomwise_bench"
BARE_DATABASE = "roomwise_bench_bare"
TICK = os.sysconf("SC_CLK_TCK")
START_SECONDS = 60
ANSWERS: list[dict[str, Any]] = [
    {"type": "message", "content": "a room for six"},
    {"type": "answer", "value": {"room": "P01"}},
    {"type": "answer", "value": {"approved": True}},
]


@dataclass
class Block:
    """What one block of bookings took; counts and bytes are the database's."""

    turns: list[float]
    seconds: float
    cpu: float
    statements: float
    commits: float
    wal: float

    @property
    def count(self) -> int:
        return len(self.turns)


def cpu_of(pid: int) -> float:
    """User and system seconds of a process, in ticks of 10 ms."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:  # noqa: PTH123 - not a file
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def rss_of(pid: int) -> int:
    """Resident KiB of a process."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:  # noqa: PTH123
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])  # type: ignore[index]


class Database:
    """Counts what the database did."""

    def __init__(self, dsn: str) -> None:
        self.conn = psycopg.connect(dsn, autocommit=True)
        self.conn.execute("create extension if not exists pg_stat_statements")

    def counts(self) -> tuple[float, float, float]:
        """Statements, commits that wrote WAL or not, WAL bytes, so far, but for this session's."""
        self.conn.execute("select pg_stat_force_next_flush()")
        row = self.conn.execute(
            """select
                (select coalesce(sum(calls), 0) from pg_stat_statements
                    where dbid = (select oid from pg_database where datname = current_database())
                    and toplevel and query !~* '^(begin|commit|rollback|select pg_stat)'
                    and query not like '%%pg_stat_statements%%'
                    and query not like '%%FROM ONLY%%'),
                (select xact_commit from pg_stat_database where datname = current_database()),
                pg_current_wal_lsn() - '0/0'"""
        ).fetchone()
        assert row is not None
        return float(row[0]), float(row[1]), float(row[2])

    def settle(self) -> None:
        """Let sessions report what they did (they do so when idle, at most once a second)."""
        time.sleep(1.2)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def process(*command: str, **kwargs: Any) -> Iterator["subprocess.Popen[str]"]:
    child = subprocess.Popen([sys.executable, *command], text=True, **kwargs)
    try:
        yield child
    finally:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(15)
        except subprocess.TimeoutExpired:
            child.kill()


class Product:
    """The real server, driven over WebSockets by signed-in people."""

    def __init__(self, port: int, cookies: list[str], pid: int) -> None:
        self.url = f"ws://127.0.0.1:{port}/ws/agents/probe/"
        self.origin = f"http://127.0.0.1:{port}"
        self.cookies = cookies
        self.pid = pid

    def connect(self, user: int) -> Any:
        return connect(
            self.url,
            origin=self.origin,  # type: ignore[arg-type]
            additional_headers={"Cookie": self.cookies[user]},
            compression=None,
            ping_interval=None,
        )

    async def booking(self, ws: ClientConnection, times: list[float]) -> None:
        """One booking of three turns on the socket's thread."""
        asked: dict[str, Any] = {}
        for answer in ANSWERS:
            frame = {**answer, "id": secrets.token_hex(8)}
            if answer["type"] == "answer":
                frame["interrupt_id"] = asked["interrupt_id"]
            began = time.perf_counter()
            await ws.send(json.dumps(frame))
            asked = await self.until(ws, "interrupt", "complete")
            times.append(time.perf_counter() - began)

    async def until(self, ws: ClientConnection, *kinds: str) -> dict[str, Any]:
        while True:
            frame: dict[str, Any] = json.loads(await asyncio.wait_for(ws.recv(), 30))
            if frame["type"] == "error":
                raise RuntimeError(frame)
            if frame["type"] in kinds:
                return frame

    async def block(self, users: int, bookings: int) -> tuple[list[float], float, float]:
        times: list[float] = []
        sockets = [await self.connect(n) for n in range(users)]
        for ws in sockets:
            await ws.send('{"type":"init"}')
            await self.until(ws, "welcome")
        cpu, began = cpu_of(self.pid), time.perf_counter()
        share, rest = divmod(bookings, users)

        async def user(n: int) -> None:
            for _ in range(share + (n < rest)):
                await self.booking(sockets[n], times)

        await asyncio.gather(*(user(n) for n in range(users)))
        taken = time.perf_counter() - began, cpu_of(self.pid) - cpu
        for ws in sockets:
            await ws.close()
        return times, *taken


def ratio(mine: list[float], theirs: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(mine, theirs, strict=True))


class Bench:
    def __init__(
        self,
        product: Product,
        bare: "subprocess.Popen[str]",
        database: Database,
        bare_database: Database,
    ) -> None:
        self.product = product
        self.bare = bare
        self.database = database
        self.bare_database = bare_database

    def product_block(self, users: int, bookings: int) -> Block:
        self.database.settle()
        before = self.database.counts()
        times, seconds, cpu = asyncio.run(self.product.block(users, bookings))
        return self._block(self.database, times, seconds, cpu, before)

    def bare_block(self, users: int, bookings: int) -> Block:
        self.bare_database.settle()
        before = self.bare_database.counts()
        assert self.bare.stdin is not None
        assert self.bare.stdout is not None
        self.bare.stdin.write(f"{users} {bookings}\n")
        self.bare.stdin.flush()
        took = json.loads(self.bare.stdout.readline())
        return self._block(self.bare_database, took["turns"], took["seconds"], took["cpu"], before)

    def _block(
        self,
        database: Database,
        times: list[float],
        seconds: float,
        cpu: float,
        before: tuple[float, float, float],
    ) -> Block:
        database.settle()
        after = database.counts()
        done = [b - a for a, b in zip(before, after, strict=True)]
        return Block(times, seconds, cpu, *done)

    def rounds(self, users: int, bookings: int, count: int) -> tuple[list[Block], list[Block]]:
        mine, theirs = [], []
        self.product_block(users, max(users, 4))
        self.bare_block(users, max(users, 4))
        for number in range(count):
            for which in ("mine", "theirs") if number % 2 else ("theirs", "mine"):
                if which == "mine":
                    mine.append(self.product_block(users, bookings))
                else:
                    theirs.append(self.bare_block(users, bookings))
        return mine, theirs


def per_turn(blocks: list[Block], name: str) -> float:
    return statistics.median(getattr(block, name) / block.count for block in blocks)


def report(users: int, mine: list[Block], theirs: list[Block]) -> dict[str, float]:
    """Print a table; the ratios by name."""
    rows: list[tuple[str, list[float], list[float], float, str]] = []
    cpu = [[b.cpu / b.count * 1000 for b in blocks] for blocks in (mine, theirs)]
    p50 = [[statistics.median(b.turns) * 1000 for b in blocks] for blocks in (mine, theirs)]
    rate = [[b.count / 3 / b.seconds for b in blocks] for blocks in (mine, theirs)]
    wal = [[b.wal / b.count for b in blocks] for blocks in (mine, theirs)]
    rows.append(("CPU a turn, ms", *cpu, ratio(*cpu), "0.7 / 0.5"))  # type: ignore[arg-type]
    rows.append(("turn p50, ms", *p50, ratio(*p50), "0.8 / 0.5"))  # type: ignore[arg-type]
    rows.append(("bookings a second", *rate, ratio(*rate), "2 / 3 at 16 users"))  # type: ignore[arg-type]
    rows.append(("WAL a turn, bytes", *wal, ratio(*wal), "0.6 / 0.35"))  # type: ignore[arg-type]
    print(f"\n{users} user(s), {len(mine)} rounds of {mine[0].count // 3} bookings of 3 turns")
    print(f"{'':24}{'product':>12}{'bare graph':>12}{'ratio':>8}  must / aim")
    for name, a, b, r, goal in rows:
        print(f"{name:24}{statistics.median(a):12.2f}{statistics.median(b):12.2f}{r:8.2f}  {goal}")
    for name in ("statements", "commits"):
        a, b = per_turn(mine, name), per_turn(theirs, name)
        print(f"{name + ' a turn':24}{a:12.2f}{b:12.2f}{a / b:8.2f}")
    return {name: r for name, _, _, r, _ in rows}


def prepare(dsn: str) -> list[str]:
    """Make the database anew and sign people in; their cookies."""
    admin = embedded.database_url(env.read("ROOMWISE_DATA"))
    with psycopg.connect(admin, autocommit=True) as conn:
        conn.execute(f"drop database if exists {DATABASE} with (force)")
        conn.execute(f"create database {DATABASE}")
        conn.execute(f"drop database if exists {BARE_DATABASE} with (force)")
        conn.execute(f"create database {BARE_DATABASE}")
    os.environ["DATABASE_URL"] = dsn
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.bench.settings"
    import django

    django.setup()
    from django.contrib.auth import (
        BACKEND_SESSION_KEY,
        HASH_SESSION_KEY,
        SESSION_KEY,
        get_user_model,
    )
    from django.contrib.sessions.backends.db import SessionStore
    from django.core.management import call_command
    from django.db import connections

    call_command("migrate", verbosity=0)
    cookies = []
    for number in range(16):
        user = get_user_model().objects.create_user(f"bench{number}")
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.create()
        cookies.append(f"sessionid={session.session_key}")
    connections.close_all()
    return cookies


def wait_for(port: int) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("the server did not start")


def main() -> None:
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--bookings", type=int, default=24)
    parser.add_argument("--users", type=int, nargs="*", default=[1, 16])
    options = parser.parse_args()
    dsn = embedded.database_url(env.read("ROOMWISE_DATA")).replace("@/roomwise?", f"@/{DATABASE}?")
    bare_dsn = dsn.replace(DATABASE, BARE_DATABASE)
    cookies = prepare(dsn)
    port = free_port()
    server_env = {
        **os.environ,
        "PORT": str(port),
        "LOG_LEVEL": "WARNING",
        "DEBUG": "true",
        "ROOMWISE_FRAMES_PER_SECOND": "100000",
    }
    with (
        process("manage.py", "serve", "--port", str(port), env=server_env) as server,
        process(
            "-m", "tests.bench.bare", env={**os.environ, "BENCH_DSN": bare_dsn},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as bare,
    ):  # fmt: skip
        wait_for(port)
        product = Product(port, cookies, server.pid)
        bench = Bench(product, bare, Database(dsn), Database(bare_dsn))
        for users in options.users:
            mine, theirs = bench.rounds(users, max(options.bookings, users * 2), options.rounds)
            report(users, mine, theirs)
        print(f"\nserver memory {rss_of(server.pid) // 1024} MiB")


if __name__ == "__main__":
    main()
