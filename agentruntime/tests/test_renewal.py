"""A beat for a thousand running threads: how many statements, and how long they take."""

import statistics
import time

import pytest

from agentruntime.orchestration.leases import LeaseKeeper
from agentruntime.persistence.records import Lease
from agentruntime.tests.conftest import open_thread, sql

THREADS = 1000
BEATS = 10
MOST_STATEMENTS = 2

RUNNING = """
insert into agentruntime_thread (id, agent, owner_id, status, run_version, lease_owner, lease_until)
select 'probe-1-' || n, agent, owner_id, 'running', 1, 'w1', clock_timestamp() + interval '12 s'
from agentruntime_thread, generate_series(1, %s) as n where id = %s
"""
CALLS = """
select coalesce(sum(s.calls), 0)::int from pg_stat_statements as s
join pg_database as d on d.oid = s.dbid
where d.datname = current_database() and s.query not like '%%pg_stat_statements%%'
"""


@pytest.fixture
async def keeper(pool, person):
    """A worker that runs a thousand threads."""
    await sql(RUNNING, THREADS, await open_thread(person))
    keeper = LeaseKeeper(pool, worker="w1", seconds=12, beat=3)
    for number in range(1, THREADS + 1):
        lease = Lease(thread=f"probe-1-{number}", version=1, worker="w1", run=None)
        keeper.hold(lease, on_lost=pytest.fail)
    return keeper


async def statements():
    """How many statements this database has been sent, by PostgreSQL's own count."""
    return (await sql(CALLS))[0][0]


@pytest.fixture
async def counted(transactional_db):
    if not await sql("select 1 from pg_extension where extname = 'pg_stat_statements'"):
        pytest.skip("this PostgreSQL has no pg_stat_statements")


async def test_a_thousand_running_threads_are_renewed_at_once(keeper, counted, record_property):
    before, took = await statements(), []
    for _ in range(BEATS):
        began = time.perf_counter()
        await keeper.renew()
        took.append(time.perf_counter() - began)
    each = (await statements() - before) / BEATS

    until = "select min(lease_until) > clock_timestamp() + interval '10 s' from agentruntime_thread"
    assert (await sql(f"{until} where status = 'running'"))[0][0]
    figure = f"{each:g} a beat, median {statistics.median(took) * 1000:.0f} ms"
    print(f"\n  statements to renew {THREADS} running threads: {figure}")
    promise = f"at most {MOST_STATEMENTS} statements a beat"
    record_property("fault", (f"{THREADS} running threads renewed", promise, figure))
    assert 1 <= each <= MOST_STATEMENTS
    assert statistics.median(took) < keeper.beat / 10
