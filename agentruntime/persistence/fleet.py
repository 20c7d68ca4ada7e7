"""What the processes know of each other: heartbeats, where threads stand, sessions, chores.

Raises StorageUnavailable when the database does not answer.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from agentruntime.persistence.pools import Pool, borrowed
from agentruntime.persistence.records import Noticed

# An event loop that answers later than this is told to whoever waits for its runs (milliseconds).
SLOW_LOOP_MS = 1000
# A heartbeat names at most so many threads.
NAMED = 200
# How long the row of a process that is gone is kept (seconds).
KEPT_SECONDS = 7 * 86400


@dataclass(frozen=True, kw_only=True)
class Beat:
    """A worker's own account of itself; see `models.Worker` for what each field says."""

    id: str
    host: str
    pid: int
    status: str
    threads: Sequence[str] = ()
    runs: Sequence[str] = ()
    step: str = ""
    steps: int = 0
    tool: str = ""
    still_seconds: float = 0.0
    cpu_percent: float = 0.0
    memory_mb: float = 0.0
    loop_lag_ms: float = 0.0
    beat_seconds: float = 3.0


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A worker as the monitor finds it.

    age: seconds since its last beat. lease_left: seconds until the last of its leases ends, None
    when it holds none. has_session: whether the database still has a connection of it.
    """

    id: str
    status: str
    age: float
    beat_seconds: float
    still_seconds: float
    loop_lag_ms: float
    lease_left: float | None
    has_session: bool
    health: str = field(default="healthy")


_BEAT = """
insert into agentruntime_worker (id, host, pid, status, threads, runs, step, steps, tool,
    still_seconds, cpu_percent, memory_mb, loop_lag_ms, beat_seconds)
values (%(id)s, %(host)s, %(pid)s, %(status)s, %(threads)s, %(runs)s, %(step)s, %(steps)s,
    %(tool)s, %(still_seconds)s, %(cpu_percent)s, %(memory_mb)s, %(loop_lag_ms)s,
    %(beat_seconds)s)
on conflict (id) do update set status = excluded.status, threads = excluded.threads,
    runs = excluded.runs, step = excluded.step, steps = excluded.steps, tool = excluded.tool,
    still_seconds = excluded.still_seconds, cpu_percent = excluded.cpu_percent,
    memory_mb = excluded.memory_mb, loop_lag_ms = excluded.loop_lag_ms,
    seen_at = clock_timestamp(), ended_at = case when excluded.status = 'ended'
        then clock_timestamp() end
"""

_SEEN = """
select w.id, w.status, extract(epoch from clock_timestamp() - w.seen_at)::float as age,
    w.beat_seconds, w.still_seconds, w.loop_lag_ms, w.health, (
        select extract(epoch from max(t.lease_until) - clock_timestamp())::float
        from jsonb_array_elements_text(w.threads) as held(id)
        join agentruntime_thread as t on t.id = held.id and t.lease_owner = w.id
    ) as lease_left, exists (
        select from pg_stat_activity where application_name = 'roomwise:' || w.id
    ) as has_session
from agentruntime_worker as w where w.ended_at is null
"""

_JUDGED = """
update agentruntime_worker as w set health = j.health, reason = j.reason,
    ended_at = case when j.health = 'dead' and not exists (
        select from pg_stat_activity where application_name = 'roomwise:' || w.id
    ) then clock_timestamp() end
from unnest(%(ids)s::text[], %(healths)s::text[], %(reasons)s::text[]) as j(id, health, reason)
where w.id = j.id and w.ended_at is null
    and (w.health, w.reason) is distinct from (j.health, j.reason)
"""

_FORGET = """
delete from agentruntime_worker where ended_at < clock_timestamp() - make_interval(secs => %s)
"""

# With a word on how a run's worker is: one whose heartbeat is late or whose event loop hangs is slow.
_TURNS = """
select t.id, t.turn, t.run_version, t.unread, t.status = 'running' and (
    t.lease_until < clock_timestamp() or exists (
        select from agentruntime_worker as w where w.id = t.lease_owner and (
            w.loop_lag_ms > %(lag)s
            or w.seen_at < clock_timestamp() - make_interval(secs => 2 * w.beat_seconds)
        )
    )
) as is_slow
from agentruntime_thread as t where t.id = any(%(threads)s)
"""


# A person who has gone ends the attempt, not the conversation: its question stays open.
_TIME_OUT = """
with gone as (
    update agentruntime_thread as t set session_open = false
    where t.session_open and t.status <> 'running'
        and t.session_at < clock_timestamp() - make_interval(secs => %(idle)s)
        and t.updated_at < clock_timestamp() - make_interval(secs => %(idle)s)
    returning t.id, t.summary, t.language, t.turn, t.session_turn, t.session_at
)
insert into agentruntime_session
    (thread_id, outcome, phase, language, turns, started_at, ended_at)
select id, 'timeout', left(coalesce(summary ->> 'phase', ''), 40), language,
    greatest(turn - session_turn, 0), session_at, clock_timestamp()
from gone
"""

_ENROL = """
insert into agentruntime_chore (name, every_seconds)
select * from unnest(%(names)s::text[], %(every)s::float[])
on conflict (name) do update set every_seconds = excluded.every_seconds
"""

# The row is the lock: of all processes that look at the same time, one gets the chore.
_DUE = """
update agentruntime_chore as c set started_at = clock_timestamp(), worker = %(worker)s,
    due_at = clock_timestamp() + make_interval(secs => c.every_seconds)
where c.name in (
    select d.name from agentruntime_chore as d
    where d.name = any(%(names)s) and d.due_at <= clock_timestamp() for update skip locked
)
returning c.name
"""

_DONE = """
update agentruntime_chore set error = %(error)s,
    took_ms = extract(epoch from clock_timestamp() - started_at) * 1000
where name = %(name)s
"""


def report(conn: "Connection[Any]", beat: Beat) -> None:
    """Write a heartbeat, on a connection of the heartbeat's own thread."""
    names = asdict(beat)
    for key in ("threads", "runs"):
        names[key] = Jsonb(list(names[key])[:NAMED])
    conn.execute(_BEAT, names)


async def seen(pool: Pool) -> list[Seen]:
    """Every worker that has not ended, as of now."""
    async with borrowed(pool) as conn:
        rows = await (await conn.execute(_SEEN)).fetchall()
    return [Seen(**row) for row in rows]


async def judged(pool: Pool, verdicts: Sequence[tuple[str, str, str]]) -> None:
    """Keep `(worker, health, reason)`s; a dead worker's row ends. Old rows go."""
    async with borrowed(pool) as conn:
        names = {
            "ids": [each[0] for each in verdicts],
            "healths": [each[1] for each in verdicts],
            "reasons": [each[2][:200] for each in verdicts],
        }
        await conn.execute(_JUDGED, names)
        await conn.execute(_FORGET, (KEPT_SECONDS,))


async def turns(pool: Pool, threads: Sequence[str]) -> list[Noticed]:
    """Where each of these threads stands, in one statement."""
    async with borrowed(pool) as conn:
        names = {"threads": list(threads), "lag": SLOW_LOOP_MS}
        found = await conn.execute(_TURNS, names)
        return [Noticed(**row) for row in await found.fetchall()]


async def time_out_sessions(pool: Pool, *, idle_seconds: float) -> int:
    """End the sessions nobody has added to for that long; how many there were."""
    async with borrowed(pool) as conn:
        return (await conn.execute(_TIME_OUT, {"idle": idle_seconds})).rowcount


async def enrol(pool: Pool, chores: Sequence[tuple[str, float]]) -> None:
    """Make sure that each `(name, every seconds)` has its row."""
    async with borrowed(pool) as conn:
        await conn.execute(
            _ENROL, {"names": [each[0] for each in chores], "every": [each[1] for each in chores]}
        )


async def due(pool: Pool, names: Sequence[str], *, worker: str) -> list[str]:
    """Take the chores whose time has come; nobody else gets them before their next time."""
    async with borrowed(pool) as conn:
        found = await conn.execute(_DUE, {"names": list(names), "worker": worker})
        return [row["name"] for row in await found.fetchall()]


async def done(pool: Pool, name: str, *, error: str) -> None:
    """Note how a chore went."""
    async with borrowed(pool) as conn:
        await conn.execute(_DONE, {"name": name, "error": error[:500]})
