"""Every statement of the hot path, as functions over the async pool.

The models describe the same tables for the admin and the migrations. One call is one round trip
and one transaction. Raises StorageUnavailable when the database does not answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from json import dumps
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from agentruntime.exceptions import RunSuperseded, ThreadNotFound
from agentruntime.models import uuid7
from agentruntime.persistence import statements as sql
from agentruntime.persistence.pools import Pool, borrowed
from agentruntime.persistence.records import (
    Accepted,
    Claim,
    Committed,
    Flushed,
    Lease,
    MessageView,
    NewMessage,
    Renewed,
    ThreadView,
    TurnCommit,
)
from agentruntime.persistence.saver import SERDE, TurnRows

TRANSCRIPT = 200
# Why a run's place is taken by one that does nothing: its person stopped it.
STOPPED = "stopped"


_THREAD_FIELDS = tuple(name for name in ThreadView.__dataclass_fields__ if name != "newest")


def thread_view(row: Mapping[str, Any]) -> ThreadView:
    """A row of the thread's columns as a view."""
    return ThreadView(**{name: row[name] for name in _THREAD_FIELDS})


def _message_view(row: Mapping[str, Any]) -> MessageView:
    return MessageView(**row)


async def accept(
    pool: Pool,
    message: NewMessage,
    *,
    seen: ThreadView,
    classification: str,
    rule: str,
    claim_for: str | None,
    lease: timedelta,
) -> Accepted:
    """Store a message if the thread is still as `seen`; with `claim_for` a worker, claim it too.

    A claim comes with the message and the head's checkpoint row; where older messages wait, there
    is none, and `claim` takes the thread with them. Raises ThreadNotFound.
    """
    run = uuid7()
    names = {
        "thread": message.thread,
        "turn": seen.turn,
        "version": seen.run_version,
        "status": seen.status,
        "client_id": message.client_id,
        "kind": message.kind,
        "text": message.text,
        "data": Jsonb(dict(message.data)),
        "interrupt_id": message.interrupt_id,
        "classification": classification,
        "rule": rule,
        "claim": claim_for is not None,
        "worker": claim_for or "",
        "lease": lease,
        "run": run,
    }
    async with borrowed(pool) as conn:
        row = await (await conn.execute(sql.ACCEPT, names, binary=True)).fetchone()
        if row is None:
            raise ThreadNotFound(message.thread)
        thread = thread_view(row)
        claim = None
        if row["claimed_version"] is not None and claim_for is not None:
            claim = Claim(
                lease=Lease(
                    thread=thread.id, version=row["claimed_version"], worker=claim_for, run=run
                ),
                thread=thread,
                pending=[_said(message, row)],
                head=row if row["checkpoint_id"] else None,
                kind="start" if thread.interrupt is None else "resume",
            )
    return Accepted(
        thread=thread,
        expected=row["expected"],
        message_id=row["message_id"],
        message_at=row["message_at"],
        claim=claim,
    )


def _said(message: NewMessage, row: DictRow) -> MessageView:
    """The message just stored, as it will be read."""
    return MessageView(
        id=row["message_id"],
        role="user",
        kind=message.kind,
        text=message.text,
        data=dict(message.data),
        interrupt_id=message.interrupt_id,
        client_id=message.client_id,
        created_at=row["message_at"],
    )


async def stored_message(pool: Pool, *, thread: str, client_id: str) -> DictRow | None:
    """The message of that client id (`id`, `classification`, `rule`, `created_at`), if any."""
    async with borrowed(pool) as conn:
        names = {"thread": thread, "client_id": client_id}
        return await (await conn.execute(sql.BY_CLIENT_ID, names)).fetchone()


async def refuse(pool: Pool, message: NewMessage, *, classification: str, rule: str) -> None:
    """Keep a refused message, so that the decision can be read later."""
    async with borrowed(pool) as conn:
        await conn.execute(
            sql.REFUSE,
            {
                "thread": message.thread,
                "kind": message.kind,
                "text": message.text,
                "data": Jsonb(dict(message.data)),
                "interrupt_id": message.interrupt_id,
                "classification": classification,
                "rule": rule,
            },
        )


async def claim(pool: Pool, *, thread: str, worker: str, lease: timedelta) -> Claim | None:
    """Take a thread that has unread messages and a free, expired or orphaned lease.

    None when there is nothing to take, or a fenced write of its last owner is still in flight.
    """
    run = uuid7()
    async with borrowed(pool) as conn, conn.transaction():
        names = {"thread": thread, "worker": worker, "lease": lease, "run": run}
        if await (await conn.execute(sql.LOCK_FOR_CLAIM, names)).fetchone() is None:
            return None
        row = await (await conn.execute(sql.CLAIM, names)).fetchone()
        if row is None:
            return None
        view = thread_view(row)
        flushed = Flushed(**row["flushed"]) if row["flushed"] else None
        async with conn.pipeline():
            second = await conn.execute(sql.PENDING, {"thread": thread, "newest": row["newest"]})
            third = await conn.execute(
                sql.HEAD,
                {"thread": thread, "flushed": flushed.head if flushed else None},
                binary=True,
            )
            pending = await second.fetchall()
            head = await third.fetchone()
    return Claim(
        lease=Lease(thread=thread, version=row["claimed_version"], worker=worker, run=run),
        thread=view,
        pending=[_message_view(item) for item in pending],
        head=head,
        kind=row["kind"],
        attempt=row["attempt"],
        flushed=flushed,
        notice=STOPPED if row["is_stopped"] else "",
    )


async def unattended(
    pool: Pool, *, agents: Sequence[str], lease: timedelta, limit: int = 50
) -> list[str]:
    """Threads of these agents with unread messages that no living worker holds."""
    names = {"agents": list(agents), "lease": lease, "limit": limit}
    async with borrowed(pool) as conn:
        rows = await (await conn.execute(sql.UNATTENDED, names)).fetchall()
    return [row["id"] for row in rows]


async def renew(
    pool: Pool, *, worker: str, held: Sequence[Lease], lease: timedelta
) -> dict[tuple[str, int], Renewed]:
    """Renew leases in one statement; what it found by the `(thread, version)` still held."""
    if not held:
        return {}
    names = {
        "worker": worker,
        "lease": lease,
        "threads": [item.thread for item in held],
        "versions": [item.version for item in held],
    }
    async with borrowed(pool) as conn:
        rows = await (await conn.execute(sql.RENEW, names)).fetchall()
    return {
        (row["id"], row["run_version"]): Renewed(unread=row["unread"], is_stopped=row["is_stopped"])
        for row in rows
    }


async def supersede(pool: Pool, claim: Claim, *, lease: timedelta, why: str) -> Claim | None:
    """Take one's own thread anew under the next run version, with all that is unread by now; to
    stop (`STOPPED`), with what the run had read.

    The run of the old version can write nothing from then on. None, nothing changed, when the
    lease is lost, or when the run has acted outside its state already.
    """
    run = uuid7()
    names = {
        **_fence(claim.lease),
        "lease": lease,
        "run": run,
        "why": why,
        "is_stop": why == STOPPED,
    }
    async with borrowed(pool) as conn, conn.transaction():
        await conn.execute(sql.LOCK_FOR_SUPERSEDE, names)
        row = await (await conn.execute(sql.SUPERSEDE, names)).fetchone()
        if row is None:
            return None
        names = {"thread": claim.lease.thread, "newest": row["newest"]}
        found = await conn.execute(sql.PENDING, names)
        pending = [_message_view(each) for each in await found.fetchall()]
    return replace(
        claim,
        lease=replace(claim.lease, version=row["version"], run=run),
        pending=pending,
        kind="start" if claim.thread.interrupt is None else "resume",
        attempt=1,
        flushed=None,
        notice=why,
    )


async def unread(pool: Pool, thread: str) -> list[MessageView]:
    """The messages of a thread that no committed turn has read, in their order."""
    async with borrowed(pool) as conn:
        found = await conn.execute(sql.PENDING, {"thread": thread, "newest": None})
        return [_message_view(each) for each in await found.fetchall()]


async def take_in(pool: Pool, lease: Lease) -> list[MessageView]:
    """All unread messages of a thread, for a run that has not begun; it answers them from now on.

    Raises RunSuperseded when the lease is lost.
    """
    async with borrowed(pool) as conn, conn.transaction():
        await conn.execute(sql.LOCK, {"thread": lease.thread})
        row = await (await conn.execute(sql.TAKE_IN, _fence(lease))).fetchone()
        if row is None:
            raise RunSuperseded(lease.thread)
        names = {"thread": lease.thread, "newest": row["newest"]}
        found = await conn.execute(sql.PENDING, names)
        return [_message_view(each) for each in await found.fetchall()]


async def withdraw(pool: Pool, *, thread: str, client_id: str) -> bool:
    """Take a message back that no run has taken in; False when it is too late or not there."""
    names = {"thread": thread, "client_id": client_id}
    async with borrowed(pool) as conn, conn.transaction():
        await conn.execute(sql.LOCK, names)
        return await (await conn.execute(sql.WITHDRAW, names)).fetchone() is not None


async def ask_to_stop(pool: Pool, thread: str) -> int | None:
    """Note that the run in progress is to be stopped; its version, None when nothing runs."""
    async with borrowed(pool) as conn:
        row = await (await conn.execute(sql.STOP, {"thread": thread})).fetchone()
    return None if row is None else int(row["run_version"])


async def release(pool: Pool, lease: Lease, *, status: str, error: str = "") -> None:
    """Give a thread back with its messages unread; nothing when the lease is lost already."""
    async with borrowed(pool) as conn, conn.transaction():
        await conn.execute(sql.LOCK, {"thread": lease.thread})
        await conn.execute(
            sql.RELEASE,
            {
                "thread": lease.thread,
                "version": lease.version,
                "worker": lease.worker,
                "status": status,
                "error": _storable(error),
            },
        )


def _storable(error: str) -> str:
    """The words of an exception, which may hold what PostgreSQL's text cannot."""
    return error.encode(errors="replace").decode().replace("\0", "?")[:500]


def _fence(lease: Lease) -> dict[str, Any]:
    return {"thread": lease.thread, "version": lease.version, "worker": lease.worker}


async def commit_turn(pool: Pool, turn: TurnCommit) -> Committed:
    """Write a turn whole, or not at all.

    Raises RunSuperseded, nothing written, when the run no longer holds its thread.
    """
    names = {
        **_fence(turn.lease),
        **turn.rows.parameters(SERDE),
        "status": turn.status,
        "run_status": turn.run_status,
        "head": turn.head,
        "interrupt": None if turn.interrupt is None else Jsonb(turn.interrupt),
        "summary": Jsonb(turn.summary),
        "title": turn.title[:120],
        "language": turn.language,
        "agent_version": turn.agent_version,
        "consumed": list(turn.consumed),
        "classes": list(turn.consumed.values()),
        "left": turn.left,
        "aside": list(turn.aside),
        "aside_status": [status for status, _ in turn.aside.values()],
        "aside_rule": [rule for _, rule in turn.aside.values()],
        "outcome": turn.outcome,
        "phase": turn.phase[:40],
        "quarantine": turn.quarantine,
        "said": dumps(list(turn.said), ensure_ascii=False),
        "steps": Jsonb([dict(item) for item in turn.steps]),
        "error": _storable(turn.error),
    }
    async with borrowed(pool) as conn:
        row = await (await conn.execute(sql.COMMIT, names)).fetchone()
    if row is None:
        raise RunSuperseded(turn.lease.thread)
    at = row["said_at"].isoformat() if row["said_at"] else ""
    said = [
        {**item, "id": number, "role": "assistant", "created_at": at}
        for item, number in zip(turn.said, row["said_ids"] or (), strict=True)
    ]
    return Committed(turn=row["turn"], said=said, pending=row["pending"])


async def flush(pool: Pool, lease: Lease, rows: TurnRows, flushed: Flushed) -> None:
    """Write what a long run has so far. Raises RunSuperseded, nothing written."""
    async with borrowed(pool) as conn:
        progress = Jsonb(
            {
                "head": flushed.head,
                "consumed": list(flushed.consumed),
                "said": [dict(item) for item in flushed.said],
            }
        )
        names = {**_fence(lease), **rows.parameters(SERDE), "flushed": progress}
        row = await (await conn.execute(sql.FLUSH, names)).fetchone()
    if row is None:
        raise RunSuperseded(lease.thread)


async def snapshot(
    pool: Pool, thread: str, *, limit: int = TRANSCRIPT
) -> tuple[ThreadView, list[MessageView]] | None:
    """The thread and its newest messages, oldest first, as of one moment."""
    async with borrowed(pool) as conn:
        names = {"thread": thread, "limit": limit}
        row = await (await conn.execute(sql.SNAPSHOT, names)).fetchone()
    if row is None:
        return None
    messages = [
        MessageView(**{**item, "created_at": datetime.fromisoformat(item["created_at"])})
        for item in row["messages"]
    ]
    return replace(thread_view(row), newest=row["newest"]), messages
