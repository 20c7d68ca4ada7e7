"""Deleting checkpoints by a rule, batch by batch, and what nothing references any more.

The same condition plans and deletes, in SQL, so memory stays flat however long a thread is.
Whoever calls holds the thread's row, so that no run begins meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What may go: what is older than the newest `keep_last` and, if given, than `before`.

    pinned: checkpoints to keep, each with the whole turn it belongs to. boundary: only what has a
    lower id goes; fixed once, so that what a thread gains meanwhile changes nothing.
    """

    keep_last: int
    before: datetime | None = None
    pinned: Sequence[str] = ()
    boundary: str = ""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Rows, and bytes of rows (as PostgreSQL stores them, files shrink later)."""

    checkpoints: int = 0
    blobs: int = 0
    writes: int = 0
    bytes: int = 0
    kept: int = field(default=0, compare=False)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            checkpoints=self.checkpoints + other.checkpoints,
            blobs=self.blobs + other.blobs,
            writes=self.writes + other.writes,
            bytes=self.bytes + other.bytes,
            kept=self.kept + other.kept,
        )


# Tips of branches, the head, open questions, what effects and forks point to, turns with a pin.
# What a run went on from, or passed through, is no tip though what followed it was pruned.
KEPT = """kept as materialized (
    select head as id from agentruntime_thread where id = %(thread)s
    union select c.checkpoint_id from checkpoints as c
        where c.thread_id = %(thread)s and c.checkpoint_ns = '' and not exists (
            select from checkpoints as d where d.thread_id = %(thread)s
                and d.checkpoint_ns = '' and d.parent_checkpoint_id = c.checkpoint_id)
        and not exists (
            select from agentruntime_run as r where r.thread_id = %(thread)s
                and r.status in ('done', 'waiting') and r.head not in ('', c.checkpoint_id)
                and (r.base = c.checkpoint_id
                    or r.version = (c.metadata ->> 'run_version')::bigint))
    union select w.checkpoint_id from checkpoint_writes as w
        where w.thread_id = %(thread)s and w.checkpoint_ns = '' and w.idx = -3 and not exists (
            select from checkpoint_writes as a where a.thread_id = %(thread)s
                and a.checkpoint_ns = '' and a.checkpoint_id = w.checkpoint_id and a.idx = -4)
    union select checkpoint from agentruntime_effect where thread_id = %(thread)s
    union select forked_at from agentruntime_thread where forked_from_id = %(thread)s
    union select unnest(%(pinned)s::text[])
    union select unnest(array[c.checkpoint_id, c.parent_checkpoint_id]) from checkpoints as c
        where c.thread_id = %(thread)s and c.checkpoint_ns = ''
            and c.metadata -> 'run_version' in (
                select p.metadata -> 'run_version' from checkpoints as p
                where p.thread_id = %(thread)s and p.checkpoint_ns = ''
                    and p.checkpoint_id = any(%(pinned)s))
)"""

DOOMED = f"""{KEPT}, doomed as materialized (
    select c.checkpoint_id as id from checkpoints as c
    where c.thread_id = %(thread)s and c.checkpoint_ns = '' and c.checkpoint_id < %(boundary)s
        and (%(before)s::timestamptz is null or (c.checkpoint ->> 'ts')::timestamptz < %(before)s)
        and not exists (select from kept where kept.id = c.checkpoint_id)
    order by c.checkpoint_id limit %(limit)s
), gone as materialized (
    select c.checkpoint_ns as ns, c.checkpoint_id as id from checkpoints as c join doomed
        on doomed.id = c.checkpoint_id
    where c.thread_id = %(thread)s and c.checkpoint_ns = ''
    union all
    select c.checkpoint_ns, c.checkpoint_id from checkpoints as c join doomed
        on doomed.id = c.metadata -> 'parents' ->> ''
    where c.thread_id = %(thread)s and c.checkpoint_ns > ''
)"""

BOUNDARY = """
select coalesce(min(checkpoint_id), '') from (
    select checkpoint_id from checkpoints where thread_id = %s and checkpoint_ns = ''
    order by checkpoint_id desc limit %s
) as newest
"""

PLAN = f"""
with {DOOMED}, referenced as materialized (
    select distinct c.checkpoint_ns as ns, v.key as channel, v.value as version
    from checkpoints as c, jsonb_each_text(c.checkpoint -> 'channel_versions') as v
    where c.thread_id = %(thread)s
        and not exists (select from gone where gone.ns = c.checkpoint_ns and gone.id = c.checkpoint_id)
)
select
    (select count(*) from gone),
    (select count(*) from checkpoints as c where c.thread_id = %(thread)s),
    (select coalesce(sum(pg_column_size(c.*)), 0) from checkpoints as c join gone
        on gone.ns = c.checkpoint_ns and gone.id = c.checkpoint_id where c.thread_id = %(thread)s),
    count(distinct (w.checkpoint_ns, w.checkpoint_id, w.task_id, w.idx)),
    coalesce(sum(pg_column_size(w.*)), 0),
    (select count(*) from checkpoint_blobs as b where b.thread_id = %(thread)s and not exists (
        select from referenced as r where r.ns = b.checkpoint_ns and r.channel = b.channel
            and r.version = b.version)),
    (select coalesce(sum(pg_column_size(b.*)), 0) from checkpoint_blobs as b
        where b.thread_id = %(thread)s and not exists (
        select from referenced as r where r.ns = b.checkpoint_ns and r.channel = b.channel
            and r.version = b.version))
from checkpoint_writes as w
where w.thread_id = %(thread)s and (
    exists (select from gone where gone.ns = w.checkpoint_ns and gone.id = w.checkpoint_id)
    or not exists (select from checkpoints as c where c.thread_id = %(thread)s
        and c.checkpoint_ns = w.checkpoint_ns and c.checkpoint_id = w.checkpoint_id))
"""

DELETE = f"""
with {DOOMED}, w as (
    delete from checkpoint_writes as x using gone where x.thread_id = %(thread)s
        and x.checkpoint_ns = gone.ns and x.checkpoint_id = gone.id
    returning pg_column_size(x.*) as size
), c as (
    delete from checkpoints as x using gone where x.thread_id = %(thread)s
        and x.checkpoint_ns = gone.ns and x.checkpoint_id = gone.id
    returning pg_column_size(x.*) as size
)
select (select count(*) from c), (select count(*) from w),
    (select coalesce(sum(size), 0) from c) + (select coalesce(sum(size), 0) from w)
"""

DELETE_UNREFERENCED = """
with referenced as materialized (
    select distinct c.checkpoint_ns as ns, v.key as channel, v.value as version
    from checkpoints as c, jsonb_each_text(c.checkpoint -> 'channel_versions') as v
    where c.thread_id = %(thread)s
), doomed as (
    select b.checkpoint_ns, b.channel, b.version from checkpoint_blobs as b
    where b.thread_id = %(thread)s and not exists (
        select from referenced as r where r.ns = b.checkpoint_ns and r.channel = b.channel
            and r.version = b.version)
    limit %(limit)s
), b as (
    delete from checkpoint_blobs as x using doomed as d where x.thread_id = %(thread)s
        and x.checkpoint_ns = d.checkpoint_ns and x.channel = d.channel and x.version = d.version
    returning pg_column_size(x.*) as size
), w as (
    delete from checkpoint_writes as x where x.thread_id = %(thread)s and not exists (
        select from checkpoints as c where c.thread_id = %(thread)s
            and c.checkpoint_ns = x.checkpoint_ns and c.checkpoint_id = x.checkpoint_id)
    returning pg_column_size(x.*) as size
)
select (select count(*) from b), (select count(*) from w),
    (select coalesce(sum(size), 0) from b) + (select coalesce(sum(size), 0) from w)
"""

REMAINING = """
select checkpoint_id from checkpoints
where thread_id = %s and checkpoint_ns = '' and checkpoint_id > %s
order by checkpoint_id limit %s
"""

# Rows of LangGraph's tables and of ours that point to nothing.
ORPHANS = {
    "checkpoints_without_thread": """select count(*) from checkpoints as c
        where not exists (select from agentruntime_thread as t where t.id = c.thread_id)""",
    "writes_without_checkpoint": """select count(*) from checkpoint_writes as w where not exists (
        select from checkpoints as c where c.thread_id = w.thread_id
            and c.checkpoint_ns = w.checkpoint_ns and c.checkpoint_id = w.checkpoint_id)""",
    "blobs_without_thread": """select count(*) from checkpoint_blobs as b
        where not exists (select from agentruntime_thread as t where t.id = b.thread_id)""",
    "blobs_unreferenced": """select count(*) from checkpoint_blobs as b where not exists (
        select from checkpoints as c, jsonb_each_text(c.checkpoint -> 'channel_versions') as v
        where c.thread_id = b.thread_id and c.checkpoint_ns = b.checkpoint_ns
            and v.key = b.channel and v.value = b.version)""",
    "heads_missing": """select count(*) from agentruntime_thread as t where t.head <> ''
        and not exists (select from checkpoints as c where c.thread_id = t.id
            and c.checkpoint_ns = '' and c.checkpoint_id = t.head)""",
    "effects_without_checkpoint": """select count(*) from agentruntime_effect as e
        join agentruntime_thread as t on t.id = e.thread_id and t.status <> 'archived'
        where not exists (select from checkpoints as c where c.thread_id = e.thread_id
            and c.checkpoint_ns = '' and c.checkpoint_id = e.checkpoint)""",
}
_ALL = 2_000_000_000


def boundary(thread: str, keep_last: int) -> str:
    """The oldest of the newest `keep_last` ids; what is older may go."""
    if keep_last == 0:
        return "~"
    [(found,)] = _fetch(BOUNDARY, [thread, keep_last])
    return str(found)


def plan(thread: str, rule: Rule) -> Tally:
    """What the rule would delete, what nothing references included."""
    [row] = _fetch(PLAN, _names(thread, rule, _ALL))
    gone, there, of_checkpoints, writes, of_writes, blobs, of_blobs = (int(each) for each in row)
    return Tally(
        checkpoints=gone,
        blobs=blobs,
        writes=writes,
        bytes=of_checkpoints + of_writes + of_blobs,
        kept=there - gone,
    )


def delete_batch(thread: str, rule: Rule, *, limit: int) -> Tally:
    """Delete up to `limit` checkpoints of the root graph, with what was written at them."""
    [row] = _fetch(DELETE, _names(thread, rule, limit))
    checkpoints, writes, size = (int(each) for each in row)
    return Tally(checkpoints=checkpoints, writes=writes, bytes=size)


def delete_unreferenced(thread: str, *, limit: int) -> Tally:
    """Delete up to `limit` blobs that no checkpoint names, and writes at no checkpoint."""
    [row] = _fetch(DELETE_UNREFERENCED, {"thread": thread, "limit": limit})
    blobs, writes, size = (int(each) for each in row)
    return Tally(blobs=blobs, writes=writes, bytes=size)


def ids(thread: str, *, after: str = "", limit: int) -> list[str]:
    """The next checkpoints of the root graph, by id."""
    return [str(found) for (found,) in _fetch(REMAINING, [thread, after, limit])]


def orphans() -> dict[str, int]:
    """How many rows point to nothing, by what they are."""
    return {name: int(_fetch(statement, [])[0][0]) for name, statement in ORPHANS.items()}


def _names(thread: str, rule: Rule, limit: int) -> dict[str, Any]:
    return {
        "thread": thread,
        "pinned": list(rule.pinned),
        "boundary": rule.boundary or boundary(thread, rule.keep_last),
        "before": rule.before,
        "limit": limit,
    }


def _fetch(statement: str, values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
