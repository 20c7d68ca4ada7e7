"""What the hot path hands about: threads, messages, claims and turns, as immutable values."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from psycopg.rows import DictRow

from agentruntime.persistence.saver import TurnRows


@dataclass(frozen=True, kw_only=True)
class ThreadView:
    """A thread as it was committed: what policies decide on and followers are shown.

    newest: of a thread that runs, the last message its run has taken in, where that was asked for.
    """

    id: str
    agent: str
    owner_id: int
    language: str
    status: str
    run_version: int
    lease_owner: str | None
    turn: int
    head: str
    interrupt: dict[str, Any] | None
    summary: dict[str, Any]
    title: str
    newest: int | None = None


@dataclass(frozen=True, kw_only=True)
class MessageView:
    """A stored message. kind: `text` or `answer` from people, a card's kind from the agent."""

    id: int
    role: str
    kind: str
    text: str
    data: dict[str, Any]
    interrupt_id: str
    client_id: str | None
    created_at: datetime
    status: str = "pending"
    rule: str = ""


@dataclass(frozen=True, kw_only=True)
class NewMessage:
    """What a person said, before it is stored."""

    thread: str
    client_id: str | None
    kind: str
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    interrupt_id: str = ""
    strategy: str = "auto"


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A worker's right to run a thread under one run version."""

    thread: str
    version: int
    worker: str
    run: uuid.UUID


@dataclass(frozen=True, kw_only=True)
class Flushed:
    """How far a long run was saved: its checkpoint, the messages it answers, what it said."""

    head: str
    consumed: Sequence[int]
    said: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A lease, and what the run starts from: the thread, its unread messages, its head's row.

    notice: what to tell about why it runs, by its code.
    """

    lease: Lease
    thread: ThreadView
    pending: Sequence[MessageView]
    head: DictRow | None
    kind: str
    attempt: int = 1
    flushed: Flushed | None = None
    notice: str = ""


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """The outcome of an accept: the thread as it is now, and what was stored, if it was.

    `expected` is False when the thread had moved on: decide again. Stored nothing although
    expected: a message with that client id is there already.
    """

    thread: ThreadView
    expected: bool
    message_id: int | None
    message_at: datetime | None
    claim: Claim | None


@dataclass(frozen=True, kw_only=True)
class TurnCommit:
    """All that a turn changes, to be written in one fenced transaction.

    consumed: the messages it answers, each with what it was taken to be ("" when unknown).
    aside: the messages it does not answer and nobody will, each with its status and the rule.
    left: how many messages of its claim it neither answers nor puts aside.
    outcome: how the session ends with this turn; "" while it goes on. phase: the agent's, for it.
    quarantine: whether the thread is to be looked at by a person.
    """

    lease: Lease
    rows: TurnRows
    status: str
    run_status: str
    head: str
    interrupt: dict[str, Any] | None
    summary: dict[str, Any]
    title: str
    language: str
    agent_version: int
    consumed: Mapping[int, str]
    left: int
    aside: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    outcome: str = ""
    phase: str = ""
    quarantine: bool = False
    said: Sequence[Mapping[str, Any]] = ()
    steps: Sequence[Mapping[str, Any]] = ()
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class Committed:
    """turn: the thread's turn now; said: the agent's new messages; pending: more is unread."""

    turn: int
    said: list[dict[str, Any]]
    pending: bool


@dataclass(frozen=True, kw_only=True)
class Renewed:
    """What a renewal found: how much is unread, and whether the person wants the run stopped."""

    unread: int
    is_stopped: bool


@dataclass(frozen=True, kw_only=True)
class Noticed:
    """Where a thread stands in the database. is_slow: its run's worker is late or hangs."""

    id: str
    turn: int
    run_version: int
    unread: int
    is_slow: bool
