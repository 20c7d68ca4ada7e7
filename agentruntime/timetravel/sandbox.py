"""Runs of a copied thread that cannot act: the product's own runner, with a context that only looks.

Three things hold it, whatever a node does: effects never call what would do them, reads happen in
a transaction the database lets nothing be written in, and the database takes no effect of a
sandbox thread. Synchronous; each run has an event loop and a connection of its own, so that it
delays no live conversation.
"""

import asyncio
import math
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast

from asgiref.sync import AsyncToSync
from django.db import connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row

from agentruntime.agents import AgentSpec, Edit, get_agent
from agentruntime.exceptions import SandboxBusy, SandboxFailed
from agentruntime.execution.context import RunContext
from agentruntime.execution.runner import Run as GraphRun
from agentruntime.execution.runner import RunSettings
from agentruntime.models import Effect, Message, Run, Thread, uuid7
from agentruntime.persistence import checkpoints, store
from agentruntime.persistence.pools import Pool, conninfo, in_db_thread
from agentruntime.persistence.records import Claim, Flushed, Lease, MessageView, ThreadView
from agentruntime.timetravel.diff import without
from agentruntime.timetravel.history import compiled

P = ParamSpec("P")
R = TypeVar("R")

LEASE = timedelta(minutes=2)
SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Say:
    """What is said in a sandbox: a text, or an answer to the open question.

    at: when it was said, for a replay; now without.
    """

    text: str = ""
    value: Mapping[str, Any] | None = None
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Act:
    """An effect a sandbox run asked for. recorded: the effect whose answer it got, or None where
    the answer was simulated.
    """

    name: str
    arguments: Mapping[str, Any]
    result: Any
    recorded: int | None


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A sandbox run that ended. steps: node and times, as in `Run.steps`."""

    version: int
    steps: Sequence[Mapping[str, Any]]
    acts: Sequence[Act]
    seconds: float


@dataclass
class SandboxContext(RunContext):
    """What a node is given in a sandbox. family: the threads whose effects it may be answered.

    then: the instant at which the world is read, None for now.

    steps: the run's own; the one that acts notes what it was answered, so that the run tells.
    """

    spec: AgentSpec | None = None
    family: Sequence[str] = ()
    then: datetime | None = None
    acts: list[Act] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)

    async def read(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a synchronous read of an app where nothing can be written."""
        self.ensure_current()
        world: AbstractContextManager[None] = nullcontext()
        if self.then is not None and self.spec is not None:
            world = self.spec.as_of(self.then)
        found = await in_db_thread(_read_only, world, partial(call, *args, **kwargs))
        self.ensure_current()
        return found

    async def effect(
        self, name: str, *, key: str, arguments: Mapping[str, Any], call: Callable[[Effect], Any]
    ) -> Any:
        """Answer what was recorded for the same wish, or what the agent says it would have been."""
        self.ensure_current()
        if self.spec is None:
            raise RuntimeError("a sandbox knows its agent")
        known = await in_db_thread(
            recorded, name, key, arguments, family=self.family, volatile=self.spec.volatile
        )
        result = known.result if known else self.spec.simulate(name, arguments)
        self.acts.append(
            Act(
                name=name,
                arguments=dict(arguments),
                result=result,
                recorded=known.pk if known else None,
            )
        )
        if self.steps:
            note = {"name": name, "recorded": known.pk if known else None}
            self.steps[-1].setdefault("acts", []).append(note)
        return result


def _read_only(world: AbstractContextManager[None], call: Callable[[], R]) -> R:
    """In a transaction that PostgreSQL lets write nothing, and that is rolled back anyway."""
    with transaction.atomic():
        with world:
            with connection.cursor() as cursor:
                cursor.execute("set transaction read only")
            found = call()
        transaction.set_rollback(True)
    return found


def recorded(
    name: str,
    intent: str,
    arguments: Mapping[str, Any],
    *,
    family: Sequence[str],
    volatile: frozenset[str],
) -> Effect | None:
    """The effect that did this: by its intent, or one of the family with the same arguments, but
    for what comes from chance.
    """
    wanted = without(dict(arguments), volatile)
    same = Effect.objects.filter(Q(thread_id__in=family), Q(intent=intent) | Q(name=name))
    for effect in same.order_by("pk"):
        if effect.intent == intent or without(effect.arguments, volatile) == wanted:
            return effect
    return None


class _SandboxRun(GraphRun):
    """The product's run of a graph, with another context and other ways to begin.

    edit: a change of the state before anything runs. goes_on: run from where the copy stands,
    with nothing said.
    """

    def __init__(
        self,
        claim: Claim,
        *,
        pool: Pool,
        spec: AgentSpec,
        family: Sequence[str],
        now: datetime | None,
        edit: Edit | None,
        goes_on: bool,
    ) -> None:
        super().__init__(
            claim,
            pool=pool,
            # What is tried is no attempt at a task: nothing is counted.
            spec=replace(spec, outcome=lambda state: ""),
            graph=compiled(spec.name),
            settings=RunSettings(flush_after=math.inf),
            publish=lambda event: None,
        )
        given = {each.name: getattr(self.context, each.name) for each in fields(RunContext)}
        if now is not None:
            given["now"] = now
        self.acts: list[Act] = []
        self.context = SandboxContext(
            **given,
            spec=spec,
            family=family,
            then=now,
            acts=self.acts,
            steps=self.steps,
        )
        self._edit = edit
        self._goes_on = goes_on

    async def execute(self) -> Any:
        if self._edit is not None:
            graph = self._graph.copy({"checkpointer": self.saver})
            await graph.aupdate_state(self._config(), self._edit.update, as_node=self._edit.after)
        if self.input.messages or self._goes_on:
            await self._stream()
        self.is_committing = True
        return await self._commit()

    def _open_question(self) -> dict[str, Any] | None:
        if self._goes_on and self._interrupts:
            asked = self._interrupts[-1]
            return {"id": asked.id, "kind": asked.value["kind"]}
        return None if self._goes_on else super()._open_question()


class _OneConnection:
    """A pool of one, for the one run that has it."""

    def __init__(self, conn: AsyncConnection[DictRow]) -> None:
        self._conn = conn

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        yield self._conn


def run(
    thread: Thread,
    *,
    say: Sequence[Say] = (),
    edit: Edit | None = None,
    goes_on: bool = False,
    now: datetime | None = None,
    spec: AgentSpec | None = None,
) -> Ran:
    """Run a sandbox thread to its next wait and commit the turn.

    now: the instant its nodes are told, and the world is read at; the real one without. spec: another agent in its place,
    for trying one. Raises SandboxBusy when it runs already, SandboxFailed with what a node raised.
    """
    spec = spec or get_agent(thread.agent)
    claim = _claim(thread, say, goes_on=goes_on or edit is not None)
    family = [each for each in (thread.pk, thread.forked_from_id) if each]
    return AsyncToSync(_run, force_new_loop=True)(
        claim, spec=spec, family=family, now=now, edit=edit, goes_on=goes_on
    )


async def _run(
    claim: Claim,
    *,
    spec: AgentSpec,
    family: Sequence[str],
    now: datetime | None,
    edit: Edit | None,
    goes_on: bool,
) -> Ran:
    conn: AsyncConnection[DictRow] = await AsyncConnection.connect(
        conninfo(worker=claim.lease.worker), autocommit=True, row_factory=dict_row
    )
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with conn:
        pool = cast("Pool", _OneConnection(conn))
        made = _SandboxRun(
            claim, pool=pool, spec=spec, family=family, now=now, edit=edit, goes_on=goes_on
        )
        try:
            async with asyncio.timeout(SECONDS):
                await made.execute()
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            await store.release(pool, claim.lease, status="failed", error=why)
            raise SandboxFailed(why) from error
    return Ran(
        version=claim.lease.version,
        steps=made.steps,
        acts=made.acts,
        seconds=loop.time() - began,
    )


@transaction.atomic
def _claim(thread: Thread, say: Sequence[Say], *, goes_on: bool) -> Claim:
    """Take a sandbox thread, as a worker takes a live one. Raises SandboxBusy."""
    worker, run_id = f"sandbox-{secrets.token_hex(6)}", uuid7()
    free = Q(lease_owner=None) | Q(lease_until__lt=Now())
    taken = Thread.objects.filter(free, pk=thread.pk, sandbox=True).update(
        run_version=F("run_version") + 1,
        lease_owner=worker,
        lease_until=Now() + LEASE,
        status=Thread.Status.RUNNING,
        unread=0,
    )
    if not taken:
        raise SandboxBusy(thread.pk)
    thread.refresh_from_db()
    Run.objects.filter(thread=thread, status=Run.Status.RUNNING).update(
        status=Run.Status.LOST, ended_at=Now()
    )
    kind = Run.Kind.START if thread.interrupt is None else Run.Kind.RESUME
    Run.objects.create(
        id=run_id, thread=thread, version=thread.run_version, kind=kind, worker=worker,
        turn=thread.turn + 1, base=thread.head,
    )  # fmt: skip
    # Left unread by a run that failed: said once, not twice.
    Message.objects.filter(thread=thread, status=Message.Status.PENDING).update(
        status=Message.Status.REFUSED, rule="sandbox_failed"
    )
    pending = [_stored(thread, each) for each in say]
    return Claim(
        lease=Lease(thread=thread.pk, version=thread.run_version, worker=worker, run=run_id),
        thread=view_of(thread),
        pending=pending,
        head=checkpoints.row_of(thread.pk, thread.head) if thread.head else None,
        kind=kind,
        flushed=Flushed(head=thread.head, consumed=[], said=[]) if goes_on else None,
    )


def has_simulated(thread: Thread) -> bool:
    """Whether a sandbox thread was ever answered something that did not happen."""
    runs = Run.objects.filter(thread=thread).values_list("steps", flat=True)
    acts = (act for steps in runs for step in steps for act in step.get("acts", ()))
    return any(act["recorded"] is None for act in acts)


def view_of(thread: Thread) -> ThreadView:
    """A thread's row as the runtime passes it on."""
    columns = {each.attname for each in Thread._meta.concrete_fields}
    names = [each.name for each in fields(ThreadView) if each.name in columns]
    return ThreadView(**{name: getattr(thread, name) for name in names})


def _stored(thread: Thread, say: Say) -> MessageView:
    spec = get_agent(thread.agent)
    is_answer = say.value is not None
    row = Message(
        thread=thread,
        role=Message.Role.USER,
        status=Message.Status.PENDING,
        kind="answer" if is_answer else "text",
        text=spec.phrase(say.value, thread.language) if say.value is not None else say.text,
        data=dict(say.value or {}),
        interrupt_id=(thread.interrupt or {}).get("id", "") if is_answer else "",
        rule="sandbox",
    )
    row.save()
    if say.at is not None:
        Message.objects.filter(pk=row.pk).update(created_at=say.at)
    row.refresh_from_db()
    return MessageView(
        id=row.pk,
        role=row.role,
        kind=row.kind,
        text=row.text,
        data=row.data,
        interrupt_id=row.interrupt_id,
        client_id=None,
        created_at=row.created_at,
    )
