"""What the orchestrator is compared with: one thread as it should be, and the world it stands in."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

import psycopg

from agentruntime.models import uuid7
from agentruntime.persistence.pools import conninfo, open_pool


@dataclass
class Model:
    """What one thread should be. said: each stored message's status, in the order of acceptance.

    effects: how many; acted_on: the newest message that the open turn has acted on, if it has.
    newest: the newest message that the last run took; stop: the version asked to stop.
    """

    version: int = 0
    turn: int = 0
    owner: str | None = None
    is_over: bool = False
    question: str | None = None
    said: dict[str, str] = field(default_factory=dict)
    runs: dict[int, str] = field(default_factory=dict)
    effects: int = 0
    acted_on: str | None = None
    newest: str | None = None
    stop: int = -1

    @property
    def is_running(self) -> bool:
        return self.owner is not None

    @property
    def pending(self) -> list[str]:
        return [name for name, status in self.said.items() if status == "pending"]

    @property
    def is_stopped(self) -> bool:
        return self.stop == self.version and self.acted_on is None

    def up_to(self, last: str | None) -> list[str]:
        """What waits, no newer than that message."""
        names = list(self.said)
        return [name for name in self.pending if last and names.index(name) <= names.index(last)]

    @property
    def due(self) -> list[str]:
        """What the next run reads: a turn that has acted is closed to what was said since, and a
        stop is of what had been read.
        """
        if self.acted_on:
            return self.up_to(self.acted_on)
        return self.up_to(self.newest) if self.is_stopped else self.pending

    def claimed_by(self, worker: str) -> list[str]:
        """Another run, by that worker; what it reads."""
        if self.is_running:
            self.runs[self.version] = "lost"
        due = self.due
        self.newest = due[-1] if due else self.newest
        self.stop = self.version + 1 if self.is_stopped else self.stop
        self.version += 1
        self.owner, self.is_over = worker, False
        self.runs[self.version] = "running"
        return due

    def ended(self, status: str) -> None:
        self.runs[self.version] = status
        self.owner, self.is_over = None, False


class World:
    """The database, and the sessions by which workers are seen to live."""

    def __init__(self, person, agent: str) -> None:
        self.person, self.agent = person, agent
        self.loop = asyncio.Runner()
        self.pool = self.run(open_pool(worker="nobody"))
        self.sessions: dict[str, psycopg.Connection] = {}
        for _ in range(3):
            self.hire()
        self.seen = Counter()

    def run(self, work):
        return self.loop.run(work)

    def rows(self, query, *values):
        async def read():
            async with self.pool.connection() as connection:
                return await (await connection.execute(query, values)).fetchall()

        return self.run(read())

    def hire(self) -> None:
        worker = f"worker-{uuid7()}"
        self.sessions[worker] = psycopg.connect(conninfo(worker=worker))

    def replace(self, worker: str) -> None:
        """End its session, as the kernel does for a process that is killed."""
        self.sessions.pop(worker).close()
        lives = "select 1 from pg_stat_activity where application_name = %s"
        while self.rows(lives, f"roomwise:{worker}"):
            pass
        self.hire()

    def close(self) -> None:
        for session in self.sessions.values():
            session.close()
        self.run(self.pool.close())
        self.loop.close()
