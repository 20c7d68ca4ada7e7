"""One run of a graph: the thread's unread messages in, events out, one commit at the end."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from agentruntime.agents import AgentSpec
from agentruntime.events import (
    AnswerSetAside,
    Event,
    NoticeGiven,
    RunStarted,
    StepStarted,
    ThreadChanged,
)
from agentruntime.execution.context import RunContext
from agentruntime.execution.turns import STALE, TurnInput, turn_input
from agentruntime.persistence import store
from agentruntime.persistence.pools import Pool
from agentruntime.persistence.records import Claim, Committed, Flushed, MessageView, TurnCommit
from agentruntime.persistence.saver import TurnSaver

log = logging.getLogger(__name__)

MODES = ["tasks", "updates", "custom"]
RECURSION_LIMIT = 50


class Graph(Protocol):
    """The part of a compiled LangGraph graph that is used here."""

    def copy(self, update: dict[str, Any]) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """flush_after: seconds after which a run also saves at super-step boundaries.

    debounce: seconds of silence that end what a person is saying.

    shift: added to every instant the agent sees; zero but in evaluations of recorded cases.
    """

    flush_after: float
    debounce: float = 0.8
    shift: timedelta = timedelta()


class Run:
    """One run under its claim. `publish` takes the events; it neither waits nor fails.

    changes: see `turn_input`.
    """

    steps_shown: ClassVar[frozenset[str]] = frozenset({"__start__"})

    def __init__(
        self,
        claim: Claim,
        *,
        pool: Pool,
        spec: AgentSpec,
        graph: Graph,
        settings: RunSettings,
        publish: Callable[[Event], None],
        changes: Callable[[str], bool] = lambda rule: False,
    ) -> None:
        self.claim = claim
        self.spec = spec
        self.input = turn_input(
            claim.thread.interrupt, _pending(claim), changes=changes, shift=settings.shift
        )
        self.context = RunContext(
            lease=claim.lease,
            owner_id=claim.thread.owner_id,
            language=claim.thread.language,
            now=datetime.now(UTC) + settings.shift,
            messages=self.input.messages,
            said=[dict(item) for item in claim.flushed.said] if claim.flushed else [],
        )
        self.saver = TurnSaver(pool, turn=True, head=claim.head, load=spec.loaded)
        self.steps: list[dict[str, Any]] = []
        self.step = ""
        self._pool = pool
        self._graph = graph
        self._settings = settings
        self._publish = publish
        self.is_committing = False
        self._interrupts: list[Any] = []
        self._started = self.moved_at = time.monotonic()

    @property
    def left(self) -> int:
        """How many messages of the claim are for a later turn."""
        return len(self.claim.pending) - len(self.input.consumed) - len(self.input.aside)

    @property
    def is_stoppable(self) -> bool:
        """Whether the turn can still be dropped as if it had not been."""
        nodes = {step["node"] for step in self.steps}
        return not self.is_committing and not nodes & self.spec.point_of_no_return

    async def execute(self) -> Committed:
        """Run the graph to its next wait and commit the turn.

        Raises RunSuperseded when the lease was lost, StorageUnavailable, and whatever a node
        raises; in every case nothing of the turn is written.
        """
        self.tell(RunStarted, kind=self.claim.kind)
        if self.claim.kind == "recovery":
            self.tell(NoticeGiven, code="recovering")
        if self.claim.notice:
            self.tell(NoticeGiven, code=self.claim.notice)
        if self.input.messages:
            await self._stream()
        self.context.ensure_current()
        self.is_committing = True
        return await self._commit()

    def tell(self, event: type[Event], /, **data: Any) -> None:
        """Hand an event of this run to whoever follows; its number is given as it is told."""
        self._publish(
            event(
                thread=self.claim.lease.thread,
                version=self.claim.lease.version,
                n=0,
                turn=self.claim.thread.turn,
                **data,
            )
        )

    async def _stream(self) -> None:
        graph = self._graph.copy({"checkpointer": self.saver})
        stream = graph.astream(
            _graph_input(self.input, self.claim),
            self._config(),
            context=self.context,
            stream_mode=MODES,
            version="v2",
            durability="sync",
        )
        async with aclosing(stream):
            async for part in stream:
                # Between two super-steps nothing is half done: what was said belongs to saved steps.
                if self._take(part) and self._is_long():
                    await self._flush()

    def _is_long(self) -> bool:
        return time.monotonic() - self._started > self._settings.flush_after

    def _config(self) -> RunnableConfig:
        lease = self.claim.lease
        return {
            "configurable": {"thread_id": lease.thread, "__pregel_strict_resume": True},
            "metadata": {"run": str(lease.run), "run_version": lease.version},
            "recursion_limit": RECURSION_LIMIT,
        }

    def _take(self, part: Mapping[str, Any]) -> bool:
        """Whether the part says that a step is about to begin."""
        data = part["data"]
        if part["type"] == "tasks":
            if "triggers" in data:
                self._step_started(data["name"])
                return True
            self._step_ended(data["name"])
        elif part["type"] == "updates":
            self._interrupts.extend(data.get("__interrupt__", ()))
        elif part["type"] == "custom" and isinstance(data, dict) and "notice" in data:
            self.tell(NoticeGiven, code=str(data["notice"]))
        return False

    def _step_started(self, node: str) -> None:
        self.step = node
        self.moved_at = time.monotonic()
        self.steps.append({"node": node, "at": round(time.monotonic() - self._started, 4)})
        if self.spec.step(node, "en")[1]:
            self.tell(StepStarted, step=node)

    def _step_ended(self, node: str) -> None:
        for step in reversed(self.steps):
            if step["node"] == node and "took" not in step:
                step["took"] = round(time.monotonic() - self._started - step["at"], 4)
                step.update(self.context.noted)
                self.context.noted.clear()
                break

    async def _flush(self) -> None:
        rows = self.saver.take()
        rows.drop_settled_outputs()
        newest = self.saver.newest
        if newest is None or not (rows.encoded or rows.writes):
            return
        flushed = Flushed(
            head=newest.config["configurable"]["checkpoint_id"],
            consumed=self.input.consumed,
            said=list(self.context.said),
        )
        await store.flush(self._pool, self.claim.lease, rows, flushed)

    async def _commit(self) -> Committed:
        thread, newest = self.claim.thread, self.saver.newest
        interrupt = self._open_question()
        summary = thread.summary
        if newest is not None:
            summary = self.spec.describe(newest.checkpoint["channel_values"])
        outcome = ""
        if newest is not None and interrupt is None:
            outcome = self.spec.outcome(newest.checkpoint["channel_values"])
        said = list(self.context.said)
        if self._interrupts:
            said.append(_question(self._interrupts[-1]))
        status = "idle" if interrupt is None else "waiting"
        rows = self.saver.take()
        rows.drop_settled_outputs()
        committed = await store.commit_turn(
            self._pool,
            TurnCommit(
                lease=self.claim.lease,
                rows=rows,
                status=status,
                run_status="done" if interrupt is None else "waiting",
                head=newest.config["configurable"]["checkpoint_id"] if newest else "",
                interrupt=interrupt,
                summary=summary,
                title=str(summary.get("title") or thread.title),
                language=str(summary.get("language") or thread.language),
                agent_version=self.spec.version,
                consumed={each: self.context.classes.get(each, "") for each in self.input.consumed},
                left=self.left,
                aside=self.input.aside,
                outcome=outcome,
                # Called off, it stands nowhere any more; where it stood is what one wants to know.
                phase=str((thread.summary if outcome == "cancelled" else summary).get("phase", "")),
                said=said,
                steps=self.steps,
            ),
        )
        self.told_turn(committed, status=status, interrupt=interrupt, summary=summary)
        return committed

    def _open_question(self) -> dict[str, Any] | None:
        """The question the graph stopped at; the old one when nothing was run."""
        if not self.input.messages:
            return self.claim.thread.interrupt
        if not self._interrupts:
            return None
        asked = self._interrupts[-1]
        return {"id": asked.id, "kind": asked.value["kind"]}

    def told_turn(
        self,
        committed: Committed,
        *,
        status: str,
        interrupt: dict[str, Any] | None,
        summary: dict[str, Any],
    ) -> None:
        """Tell the followers what a commit changed; it bears the turn it made."""
        for message in self.claim.pending:
            if message.client_id and self.input.aside.get(message.id) == STALE:
                self.tell(AnswerSetAside, client_id=message.client_id)
        self._publish(
            ThreadChanged(
                thread=self.claim.lease.thread,
                version=self.claim.lease.version,
                n=0,
                turn=committed.turn,
                status=status,
                interrupt=interrupt,
                summary=summary,
                messages=committed.said,
            )
        )


def _pending(claim: Claim) -> Sequence[MessageView]:
    """The unread messages; for a run that goes on from a flush only those it answers."""
    if claim.flushed is None:
        return claim.pending
    return [message for message in claim.pending if message.id in claim.flushed.consumed]


def _question(asked: Any) -> dict[str, Any]:
    """An interrupt as the message that asks it."""
    value = asked.value
    return {
        "kind": value["kind"],
        "text": value["message"],
        "data": value["data"],
        "interrupt_id": asked.id,
    }


def _graph_input(taken: TurnInput, claim: Claim) -> Any:
    if claim.flushed is not None:
        return None
    if taken.interrupt is None:
        return {"said": taken.value}
    return Command(resume={taken.interrupt: taken.value})
