"""LangGraph's tables as synchronous code sees them, over Django's own connection.

For operators: reading, copying and measuring, in the transaction of whoever calls. Runs write
through `saver`; nothing here does while a run may.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, get_checkpoint_id
from langgraph.checkpoint.postgres.base import BasePostgresSaver

from agentruntime.persistence.saver import SERDE, TUPLE_SQL, tuple_of

ONE = "where thread_id = %s and checkpoint_ns = %s and checkpoint_id = %s"
NEWEST = "where thread_id = %s and checkpoint_ns = %s order by checkpoint_id desc limit 1"
PAGE = """where thread_id = %s and checkpoint_ns = %s and checkpoint_id < %s
order by checkpoint_id desc limit %s"""
SEVERAL = "where thread_id = %s and checkpoint_ns = '' and checkpoint_id = any(%s)"
BRANCH_POINTS = """
select parent_checkpoint_id, array_agg(checkpoint_id order by checkpoint_id)
from checkpoints where thread_id = %s and checkpoint_ns = '' and parent_checkpoint_id is not null
group by 1 having count(*) > 1
"""

STRUCTURE = """
select checkpoint_id, parent_checkpoint_id from checkpoints
where thread_id = %s and checkpoint_ns = '' order by checkpoint_id
"""

# A checkpoint and `depth` ancestors; the line ends where an ancestor was pruned.
LINE = """line as (
    select checkpoint_id, parent_checkpoint_id, 0 as depth from checkpoints
    where thread_id = %(source)s and checkpoint_ns = '' and checkpoint_id = %(checkpoint)s
    union all
    select c.checkpoint_id, c.parent_checkpoint_id, line.depth + 1
    from line join checkpoints as c on c.thread_id = %(source)s and c.checkpoint_ns = ''
        and c.checkpoint_id = line.parent_checkpoint_id
    where line.depth < %(depth)s
)"""

COPY_LINE = f"""
with recursive {LINE}, kept as (
    select c.* from line join checkpoints as c on c.thread_id = %(source)s
        and c.checkpoint_ns = '' and c.checkpoint_id = line.checkpoint_id
    union all
    select c.* from checkpoints as c
    where c.thread_id = %(source)s and c.checkpoint_ns > '' and c.metadata -> 'parents' ->> '' in (
        select checkpoint_id from line where checkpoint_id <> %(checkpoint)s
    )
), copied as (
    insert into checkpoints
        (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
    select %(target)s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
        metadata from kept
    returning 1
), versions as (
    select distinct kept.checkpoint_ns, v.key as channel, v.value as version
    from kept, jsonb_each_text(kept.checkpoint -> 'channel_versions') as v
), blobs as (
    insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    select %(target)s, checkpoint_ns, channel, version, b.type, b.blob
    from versions join checkpoint_blobs as b using (checkpoint_ns, channel, version)
    where b.thread_id = %(source)s
    on conflict do nothing
), writes as (
    insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path,
        idx, channel, type, blob)
    select %(target)s, w.checkpoint_ns, w.checkpoint_id, w.task_id, w.task_path, w.idx, w.channel,
        w.type, w.blob
    from kept join checkpoint_writes as w on w.thread_id = %(source)s
        and w.checkpoint_ns = kept.checkpoint_ns and w.checkpoint_id = kept.checkpoint_id
    where kept.checkpoint_ns > '' or kept.checkpoint_id <> %(checkpoint)s
)
select count(*) from copied
"""

# What a fork has and its original lacks, so that the original can stand where the fork does.
COPY_NEW = (
    """insert into checkpoints
        (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
    select %(target)s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
        metadata from checkpoints where thread_id = %(source)s
    on conflict do nothing""",
    """insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    select %(target)s, checkpoint_ns, channel, version, type, blob
        from checkpoint_blobs where thread_id = %(source)s
    on conflict do nothing""",
    """insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path,
        idx, channel, type, blob)
    select %(target)s, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob
        from checkpoint_writes where thread_id = %(source)s and checkpoint_id > %(after)s
    on conflict do nothing""",
)


@dataclass(frozen=True, kw_only=True)
class Size:
    """Rows and bytes of a thread in LangGraph's tables (bytes of the rows, not of the files)."""

    checkpoints: int
    blobs: int
    writes: int
    bytes: int


class CheckpointReader(BasePostgresSaver):
    """A saver that only reads, for `get_state` and `get_state_history` in synchronous code.

    What it has read it remembers, so one object is for one request.
    """

    def __init__(self) -> None:
        super().__init__(serde=SERDE)
        self._kept: dict[tuple[str, str, str], CheckpointTuple] = {}

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        at = config["configurable"]
        thread, ns = str(at["thread_id"]), at.get("checkpoint_ns", "")
        wanted = get_checkpoint_id(config)
        if wanted and (thread, ns, wanted) in self._kept:
            return self._kept[thread, ns, wanted]
        if wanted:
            found = self._read(ONE, [thread, ns, wanted])
        else:
            found = self._read(NEWEST, [thread, ns])
        return found[0] if found else None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Newest first. Filters are not for operators' pages."""
        if config is None or filter:
            raise NotImplementedError("one thread, unfiltered")
        at = config["configurable"]
        last = get_checkpoint_id(before) if before else None
        values = [str(at["thread_id"]), at.get("checkpoint_ns", ""), last or "~", limit]
        yield from self._read(PAGE, values)

    def keep(self, thread: str, ids: Iterable[str]) -> None:
        """Read several checkpoints of a thread in one statement; absent ones are not kept."""
        wanted = [each for each in ids if (thread, "", each) not in self._kept]
        if wanted:
            self._read(SEVERAL, [thread, wanted])

    def has(self, thread: str, checkpoint: str) -> bool:
        """Whether that checkpoint is among those read so far."""
        return (thread, "", checkpoint) in self._kept

    def parents(self) -> set[str]:
        """The parents of what was read so far."""
        configs = (each.parent_config for each in self._kept.values())
        return {str(each["configurable"]["checkpoint_id"]) for each in configs if each}

    def _read(self, where: str, values: Any) -> Sequence[CheckpointTuple]:
        found = [tuple_of(self, row) for row in tuple_rows(where, values)]
        for each in found:
            at = each.config["configurable"]
            self._kept[at["thread_id"], at["checkpoint_ns"], at["checkpoint_id"]] = each
        return found


def tuple_rows(where: str, values: Any) -> list[dict[str, Any]]:
    """Rows of `TUPLE_SQL`, JSON decoded (Django hands it over as text)."""
    rows = _rows(TUPLE_SQL + where, values)
    for row in rows:
        row["checkpoint"] = json.loads(row["checkpoint"])
        row["metadata"] = json.loads(row["metadata"])
        for name in ("channel_values", "pending_writes"):
            row[name] = [[_bytes(each) for each in item] for item in row[name] or ()]
    return rows


def row_of(thread: str, checkpoint: str) -> dict[str, Any] | None:
    """The row of one checkpoint, as a `TurnSaver` takes it for its head."""
    found = tuple_rows(ONE, [thread, "", checkpoint])
    return found[0] if found else None


def branch_points(thread: str) -> dict[str, list[str]]:
    """The checkpoints of a thread that several follow, each with those that do."""
    return {row["parent_checkpoint_id"]: row["array_agg"] for row in _rows(BRANCH_POINTS, [thread])}


def structure(thread: str) -> list[tuple[str, str | None]]:
    """`(checkpoint, parent)` of the whole thread, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(STRUCTURE, [thread])
        return list(cursor.fetchall())


def exists(thread: str, checkpoint: str) -> bool:
    """Whether the thread has that checkpoint."""
    with connection.cursor() as cursor:
        cursor.execute(f"select 1 from checkpoints {ONE}", [thread, "", checkpoint])
        return cursor.fetchone() is not None


def copy_line(source: str, target: str, checkpoint: str, *, depth: int) -> int:
    """Copy a checkpoint and up to `depth` ancestors to another thread; how many were copied.

    What was written at the checkpoint itself (questions, answers, outputs) is left behind, so
    that the copy goes on from it anew.
    """
    names: dict[str, Any] = {
        "source": source, "target": target, "checkpoint": checkpoint, "depth": depth,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(COPY_LINE, names)
        (count,) = cursor.fetchone()
    return int(count)


def copy_new(source: str, target: str, *, after: str) -> None:
    """Copy what the target lacks; writes only of checkpoints later than `after`."""
    with connection.cursor() as cursor:
        for statement in COPY_NEW:
            cursor.execute(statement, {"source": source, "target": target, "after": after})


def delete_thread(thread: str) -> None:
    """Delete all that LangGraph's tables hold of a thread. Nothing may run it."""
    with connection.cursor() as cursor:
        for table in ("checkpoint_writes", "checkpoint_blobs", "checkpoints"):
            cursor.execute(f"delete from {table} where thread_id = %s", [thread])


def _bytes(value: Any) -> bytes | None:
    return None if value is None else bytes(value)


def _rows(statement: str, values: Any) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
