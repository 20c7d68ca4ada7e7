"""A real server of its own for the browser tests: scratch database, real process, kill -9."""

import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from zoneinfo import ZoneInfo

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from config import embedded, env

ZONE = ZoneInfo("Asia/Shanghai")
ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 40
# One process: loading Django and LangGraph takes longer than either command.
FILL = """
import django
from django.core.management import call_command
django.setup()
call_command("migrate")
call_command("load_demo")
"""
# As `manage.py serve`, but everything is loaded first, and it begins when it is told to.
SERVE = """
import sys
import django
from django.core.management import call_command
django.setup()
import config.asgi
import agentruntime.management.commands.serve
if sys.stdin.readline():
    call_command("serve", port=int(sys.argv[1]))
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Site:
    """One server process at a time, on one port and one database for the whole session.

    The next one is loaded while the tests go on, so that a power cut costs them little time.
    """

    def __init__(self, log: Path) -> None:
        base = env.read("DATABASE_URL") or embedded.database_url(env.read("ROOMWISE_DATA"))
        self.admin = make_conninfo(base)
        self.database = f"roomwise_browser_{os.getpid()}"
        self.conninfo = make_conninfo(base, dbname=self.database)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None
        self.successor: subprocess.Popen[bytes] | None = None
        self._slots = itertools.count()

    def create(self) -> None:
        self._administer("CREATE DATABASE {}")
        subprocess.run(
            [sys.executable, "-c", FILL],
            env=self._env(),
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def drop(self) -> None:
        self._administer("DROP DATABASE IF EXISTS {} WITH (FORCE)")

    def start(self) -> None:
        """Start the server and wait until it is ready to be used."""
        self.process = self.successor or self._load()
        assert self.process.stdin is not None
        self.process.stdin.write(b"serve\n")
        self.process.stdin.close()
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the server did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.05)
        self.successor = self._load()

    def _load(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", SERVE, str(self.port)],
                env=self._env(),
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        """As a power cut would: no drain, no goodbye."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)
        if self.successor is not None:
            self.successor.kill()
            self.successor.communicate()
            self.successor = None

    def _end(self, by: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(by)
            self.process.wait(timeout=20)
            self.process = None

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.conninfo) as connection:
            return connection.execute(query, values).fetchall()

    def bookings_at(self, starts_at: datetime) -> list[tuple[Any, ...]]:
        """`(booking, room, status)` of every chat booking with that start."""
        return self.rows(
            """SELECT b.id, r.code, o.status FROM booking_booking b
               JOIN booking_occurrence o ON o.booking_id = b.id JOIN booking_room r ON r.id = o.room_id
               WHERE b.source = 'chat' AND o.starts_at = %s ORDER BY b.id""",
            starts_at,
        )

    @contextmanager
    def held(self, table: str) -> Iterator[None]:
        """Nobody else reads or writes the table: a run that needs it stays in that step."""
        with psycopg.connect(self.conninfo) as connection:
            name = sql.Identifier(table)
            connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(name))
            yield
            connection.rollback()

    def end_sessions(self) -> None:
        with psycopg.connect(self.conninfo) as connection:
            connection.execute("DELETE FROM django_session")

    def free_slot(self, *, weeks: int = 1) -> datetime:
        """A start that no other test uses: a working day soon, at ten, one, three or five.

        weeks: so many weeks in a row the house is open on that day.
        """
        closed = {
            day
            for (day,) in self.rows(
                "SELECT date FROM booking_specialdate WHERE follows_weekday IS NULL"
            )
        }
        days = (datetime.now(ZONE).date() + timedelta(days=ahead) for ahead in range(7, 80))
        open_days = [day for day in days if day.isoweekday() < 6 and day not in closed]
        for number in self._slots:
            day, hour = open_days[number // 4], (10, 13, 15, 17)[number % 4]
            if closed.isdisjoint(day + timedelta(weeks=n) for n in range(weeks)):
                break
        return datetime(day.year, day.month, day.day, hour, tzinfo=ZONE)

    def _administer(self, statement: str) -> None:
        with psycopg.connect(self.admin, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(self.database)))

    def _env(self) -> dict[str, str]:
        unset = re.compile(r"^(DJANGO_|ALLOWED_|PORT$|HOST$)")
        kept = {name: value for name, value in os.environ.items() if not unset.match(name)}
        ours = {"DATABASE_URL": self.conninfo, "PORT": str(self.port), "DEBUG": "true"}
        return {**kept, **ours, "DJANGO_SETTINGS_MODULE": "config.settings"}

    def _is_ready(self) -> bool:
        try:
            with urlopen(f"{self.url}/readyz", timeout=2) as answer:  # noqa: S310 - our own server
                return bool(answer.status == 200)
        except OSError:
            return False
