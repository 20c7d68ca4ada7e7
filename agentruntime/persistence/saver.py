"""LangGraph's checkpoints, a turn at a time: the only module that touches LangGraph's tables.

`TurnSaver` keeps the stock tables and encoding, so that any stock saver reads them. Inside a turn
`aput` and `aput_writes` only collect rows; `store.commit_turn` writes them with everything else
the turn changed. Outside a turn it writes through. One object per run: it holds no lock worth
sharing. Reads look every blob up by its primary key (see docs/adr/0002).
"""

import json
from binascii import b2a_base64
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    copy_checkpoint,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.postgres.base import BasePostgresSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import TASKS
from psycopg import AsyncCursor
from psycopg.rows import DictRow, dict_row

from agentruntime.exceptions import UnsaveableState
from agentruntime.persistence.pools import Pool
from agentruntime.plain import NotPlain, check_plain

TUPLE_SQL = """
select
    thread_id, checkpoint, checkpoint_ns, checkpoint_id, parent_checkpoint_id, metadata,
    (
        select array_agg(array[convert_to(b.channel, 'UTF8'), convert_to(b.type, 'UTF8'), b.blob])
        from jsonb_each_text(checkpoint -> 'channel_versions') as v
        cross join lateral (
            select channel, type, blob from checkpoint_blobs
            where thread_id = checkpoints.thread_id
                and checkpoint_ns = checkpoints.checkpoint_ns
                and channel = v.key and version = v.value
            limit 1
        ) as b
    ) as channel_values,
    (
        select array_agg(array[
            convert_to(w.task_id, 'UTF8'), convert_to(w.channel, 'UTF8'),
            convert_to(w.type, 'UTF8'), w.blob, convert_to(w.task_path, 'UTF8'),
            convert_to(w.idx::text, 'UTF8')
        ])
        from checkpoint_writes as w
        where w.thread_id = checkpoints.thread_id
            and w.checkpoint_ns = checkpoints.checkpoint_ns
            and w.checkpoint_id = checkpoints.checkpoint_id
    ) as pending_writes
from checkpoints """

# The rows of a turn, as CTEs of one statement; `fence` yields a row while the lease holds. Rows
# come as JSON with base64 for bytes: one parameter is far cheaper to send than arrays of each.
ROWS_SQL = """
checkpoint_rows as (
    insert into checkpoints
        (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
    select r.t, r.n, r.c, r.p, r.k, r.m from fence, json_to_recordset(%(checkpoints)s::json)
        as r(t text, n text, c text, p text, k jsonb, m jsonb)
    on conflict (thread_id, checkpoint_ns, checkpoint_id) do update
        set checkpoint = excluded.checkpoint, metadata = excluded.metadata
), blob_rows as (
    insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    select r.t, r.n, r.h, r.v, r.y, decode(r.b, 'base64')
    from fence, json_to_recordset(%(blobs)s::json)
        as r(t text, n text, h text, v text, y text, b text)
    on conflict (thread_id, checkpoint_ns, channel, version) do nothing
), write_rows as (
    insert into checkpoint_writes
        (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob)
    select r.t, r.n, r.c, r.k, r.p, r.i, r.h, r.y, decode(r.b, 'base64')
    from fence, json_to_recordset(%(writes)s::json)
        as r(t text, n text, c text, k text, p text, i int, h text, y text, b text)
    on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) do update
        set channel = excluded.channel, type = excluded.type, blob = excluded.blob
        where excluded.idx < 0
)"""

WRITE_THROUGH_SQL = f"with fence as (select 1 as held), {ROWS_SQL} select 1"

COPY_SQL = (
    """insert into checkpoints
        (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
    select %(target)s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
        metadata from checkpoints where thread_id = %(source)s""",
    """insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    select %(target)s, checkpoint_ns, channel, version, type, blob
        from checkpoint_blobs where thread_id = %(source)s""",
    """insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path,
        idx, channel, type, blob)
    select %(target)s, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob
        from checkpoint_writes where thread_id = %(source)s""",
)

_JOIN = "join:"
# Strict by the environment (config/__init__.py): plain types and LangGraph's own only.
SERDE = JsonPlusSerializer()

_INLINE = (str, int, float, bool, type(None))


@dataclass
class TurnRows:
    """What a turn adds to LangGraph's tables, keyed as the tables are."""

    checkpoints: dict[tuple[str, str, str], CheckpointTuple] = field(default_factory=dict)
    encoded: dict[tuple[str, str, str], tuple[str | None, str, str]] = field(default_factory=dict)
    blobs: dict[tuple[str, str, str, str], tuple[str, bytes | None]] = field(default_factory=dict)
    writes: dict[tuple[str, str, str, str, int], tuple[str, str, Any]] = field(default_factory=dict)
    pending: dict[tuple[str, str, str], list[tuple[str, str, Any]]] = field(default_factory=dict)

    def drop_settled_outputs(self) -> None:
        """Leave out what finished nodes returned where the checkpoint after them is here too.

        That checkpoint holds it already. Questions, answers and errors stay, and so does what
        finished beside a node that still waits (docs/adr/0002).
        """
        settled = {(thread, ns, row[0]) for (thread, ns, _), row in self.encoded.items() if row[0]}
        self.writes = {
            key: row for key, row in self.writes.items() if key[4] < 0 or key[:3] not in settled
        }

    def parameters(self, serde: SerializerProtocol) -> dict[str, str]:
        """The JSON texts that `ROWS_SQL` takes. Raises UnsaveableState."""
        return {
            "checkpoints": "[" + ",".join(map(_checkpoint_json, self.encoded.items())) + "]",
            "blobs": _json(
                [
                    {"t": thread, "n": ns, "h": channel, "v": version, "y": kind, "b": _text(blob)}
                    for (thread, ns, channel, version), (kind, blob) in self.blobs.items()
                ]
            ),
            "writes": _json([_write_row(serde, item) for item in self.writes.items()]),
        }


def _write_row(
    serde: SerializerProtocol,
    item: tuple[tuple[str, str, str, str, int], tuple[str, str, Any]],
) -> dict[str, Any]:
    (thread, ns, checkpoint, task, idx), (path, channel, value) = item
    if idx >= 0:
        _check([value] if channel == TASKS else value, channel)
    kind, blob = serde.dumps_typed(value)
    return {
        "t": thread, "n": ns, "c": checkpoint, "k": task, "p": path, "i": idx, "h": channel,
        "y": kind, "b": _text(blob),
    }  # fmt: skip


def _checkpoint_json(
    item: tuple[tuple[str, str, str], tuple[str | None, str, str]],
) -> str:
    """One row, its body and metadata already JSON: both are dumped as they are put, because
    LangGraph goes on to change the dictionaries it hands over.
    """
    (thread, ns, checkpoint), (parent, body, metadata) = item
    key = _json({"t": thread, "n": ns, "c": checkpoint, "p": parent})
    return f'{key[:-1]}, "k": {body}, "m": {metadata}}}'


def _text(blob: bytes | None) -> str | None:
    return None if blob is None else b2a_base64(blob, newline=False).decode("ascii")


def _check(value: Any, channel: str) -> None:
    """Raises UnsaveableState, but not for LangGraph's own channels: a join's set, a fan-out."""
    if channel.startswith(_JOIN):
        return
    if channel == TASKS:
        for send in value:
            _check(send.arg, f"{TASKS}.{send.node}")
        return
    try:
        check_plain(value, channel)
    except NotPlain as error:
        raise UnsaveableState(error.path, error.why) from error


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def tuple_of(saver: BasePostgresSaver, row: Mapping[str, Any]) -> CheckpointTuple:
    """A row of `TUPLE_SQL` as LangGraph's tuple, decoded on this thread (rows are small)."""
    thread, ns = row["thread_id"], row["checkpoint_ns"]

    def at(checkpoint_id: str) -> RunnableConfig:
        return {
            "configurable": {
                "thread_id": thread,
                "checkpoint_ns": ns,
                "checkpoint_id": checkpoint_id,
            }
        }

    checkpoint = row["checkpoint"]
    values = {
        **(checkpoint.get("channel_values") or {}),
        **saver._load_blobs(row["channel_values"]),
    }
    parent = row["parent_checkpoint_id"]
    return CheckpointTuple(
        at(row["checkpoint_id"]),
        cast("Checkpoint", {**checkpoint, "channel_values": values}),
        row["metadata"],
        at(parent) if parent else None,
        saver._load_writes(row["pending_writes"]),
    )


def _loaded(
    found: CheckpointTuple, load: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> CheckpointTuple:
    values = dict(load(found.checkpoint["channel_values"]))
    return found._replace(checkpoint={**found.checkpoint, "channel_values": values})


class TurnSaver(AsyncPostgresSaver):
    """The saver of one run. `turn=True` collects rows until a commit takes them.

    `head`: the checkpoint row the thread's own head names, already read (a row of `TUPLE_SQL`), or
    None for a thread without checkpoints; a head-less read inside the turn answers from it, never
    from the highest id, which a fast clock elsewhere may own.
    """

    SELECT_SQL = TUPLE_SQL

    def __init__(
        self,
        pool: Pool,
        *,
        turn: bool = False,
        head: DictRow | None = None,
        load: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda values: values,
    ) -> None:
        super().__init__(cast("Any", pool), serde=SERDE)
        self.turn = turn
        self.rows = TurnRows()
        self._head = _loaded(tuple_of(self, head), load) if head else None
        self._newest: dict[tuple[str, str], CheckpointTuple] = {}

    @property
    def newest(self) -> CheckpointTuple | None:
        """The root graph's latest checkpoint as this turn sees it."""
        for (_, ns), found in self._newest.items():
            if ns == "":
                return found
        return self._head

    def take(self) -> TurnRows:
        """The rows collected so far, to be written; later ones go to a new collection."""
        taken, self.rows = self.rows, TurnRows()
        return taken

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        if not self.turn:
            return await super().aget_tuple(config)
        thread = str(config["configurable"]["thread_id"])
        ns = config["configurable"].get("checkpoint_ns", "")
        wanted = get_checkpoint_id(config)
        found: CheckpointTuple | None
        if wanted:
            found = self.rows.checkpoints.get((thread, ns, wanted))
            if found is None:
                found = await super().aget_tuple(config)
        else:
            found = self._newest.get((thread, ns))
            if found is None:
                found = self._head if ns == "" else await super().aget_tuple(config)
        return self._overlaid(found)

    def _overlaid(self, found: CheckpointTuple | None) -> CheckpointTuple | None:
        if found is None:
            return None
        at = found.config["configurable"]
        key = (at["thread_id"], at["checkpoint_ns"], at["checkpoint_id"])
        pending = self.rows.pending.get(key)
        if not pending:
            return found
        return found._replace(pending_writes=[*(found.pending_writes or []), *pending])

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        at = config["configurable"]
        thread, ns = str(at["thread_id"]), at["checkpoint_ns"]
        parent = at.get("checkpoint_id")
        values = checkpoint["channel_values"]
        rows = self.rows if self.turn else TurnRows()
        inline = {k: v for k, v in values.items() if isinstance(v, _INLINE)}
        for channel, version in new_versions.items():
            if channel not in values:
                continue
            value = values[channel]
            _check(value, channel)
            if channel not in inline:
                rows.blobs[thread, ns, channel, str(version)] = self.serde.dumps_typed(value)
        key = (thread, ns, checkpoint["id"])
        rows.encoded[key] = (
            parent,
            _json({**checkpoint, "channel_values": inline}),
            _json(get_serializable_checkpoint_metadata(config, metadata)),
        )
        put: RunnableConfig = {
            "configurable": {
                "thread_id": thread,
                "checkpoint_ns": ns,
                "checkpoint_id": checkpoint["id"],
            }
        }
        if not self.turn:
            await self._write_through(rows)
            return put
        parent_config: RunnableConfig | None = (
            {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": parent}}
            if parent
            else None
        )
        made = CheckpointTuple(put, copy_checkpoint(checkpoint), metadata, parent_config, [])
        rows.checkpoints[key] = made
        self._newest[thread, ns] = made
        return put

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        at = config["configurable"]
        key = (str(at["thread_id"]), at["checkpoint_ns"], at["checkpoint_id"])
        rows = self.rows if self.turn else TurnRows()
        overwrite = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        for position, (channel, value) in enumerate(writes):
            idx = WRITES_IDX_MAP.get(channel, position)
            row = (*key, task_id, idx)
            if row in rows.writes and not overwrite:
                continue
            rows.writes[row] = (task_path, channel, value)
            if self.turn:
                rows.pending.setdefault(key, []).append((task_id, channel, value))
        if not self.turn:
            await self._write_through(rows)

    async def _write_through(self, rows: TurnRows) -> None:
        async with self._cursor() as cur:
            await cur.execute(WRITE_THROUGH_SQL, rows.parameters(self.serde))

    async def _load_checkpoint_tuple(self, value: DictRow) -> CheckpointTuple:
        return tuple_of(self, value)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy every checkpoint, blob and write of one thread to another, in one transaction.

        Raises psycopg.errors.UniqueViolation, nothing copied, when the target has such rows.
        """
        names = {"source": source_thread_id, "target": target_thread_id}
        async with self._cursor() as cur, cur.connection.transaction():
            for sql in COPY_SQL:
                await cur.execute(sql, names)

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        """A cursor on the shared pool, without the stock saver's lock around it."""
        pool = cast("Pool", self.conn)
        async with pool.connection() as conn:
            if pipeline:
                async with conn.pipeline(), conn.cursor(row_factory=dict_row) as cur:
                    yield cur
            else:
                async with conn.cursor(row_factory=dict_row) as cur:
                    yield cur
