"""What a node is given besides its state: who asked, the clock, speech, reads and effects.

Never persisted. LangGraph hands it over as `runtime.context`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ParamSpec, TypeVar

from langgraph.runtime import get_runtime

from agentruntime.agents import Said
from agentruntime.exceptions import RunSuperseded
from agentruntime.execution import effects
from agentruntime.models import Effect
from agentruntime.persistence.pools import in_db_thread
from agentruntime.persistence.records import Lease

P = ParamSpec("P")
R = TypeVar("R")


@dataclass
class RunContext:
    """One run's context.

    owner_id: primary key of the person whose thread it is. language: the portal's, for when the
    person's words do not tell. now: the instant the run began. messages: what this turn answers.
    said: what the agent says, classes: what it took each message to be (by message id); both are
    committed with the turn. tool: what was called last, for the heartbeat. noted: what the step in
    progress noted of itself, for the run's row.
    """

    lease: Lease
    owner_id: int
    language: str
    now: datetime
    messages: Sequence[Said] = ()
    said: list[dict[str, Any]] = field(default_factory=list)
    classes: dict[int, str] = field(default_factory=dict)
    superseded: bool = False
    tool: str = ""
    noted: dict[str, Any] = field(default_factory=dict)

    def note(self, **facts: Any) -> None:
        """Keep plain facts about the step in progress with the run: figures, never people's words."""
        self.noted.update(facts)

    def ensure_current(self) -> None:
        """Go on only while this run is the thread's. Raises RunSuperseded.

        Called before a tool, after it and before speaking; the fence in the database is what
        makes it safe, this is what makes it early.
        """
        if self.superseded:
            raise RunSuperseded(self.lease.thread)

    def say(self, text: str, *, kind: str = "text", data: Mapping[str, Any] | None = None) -> None:
        """Say something when the turn is committed. kind: `text`, `complete` or `notice`."""
        self.ensure_current()
        self.said.append({"kind": kind, "text": text, "data": dict(data or {}), "interrupt_id": ""})

    async def read(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a synchronous read of an app (a selector) in a database thread."""
        self.ensure_current()
        self.tool = getattr(call, "__name__", "")
        found = await in_db_thread(call, *args, **kwargs)
        self.ensure_current()
        return found

    async def effect(
        self, name: str, *, key: str, arguments: Mapping[str, Any], call: Callable[[Effect], Any]
    ) -> Any:
        """Do something outside the state, once (see `effects.perform`).

        key: the intent, at most 120 characters, kept in state from the confirmed question.
        arguments: plain JSON, for the record. call: synchronous, in the effect's transaction.
        """
        self.ensure_current()
        self.tool = name
        at = get_runtime().execution_info
        if at is None:
            raise RuntimeError("an effect happens inside a node")
        request = effects.EffectRequest(
            name=name,
            intent=key,
            task=at.task_id,
            checkpoint=at.checkpoint_id,
            message=self.messages[-1].id if self.messages else None,
            arguments=arguments,
        )
        result = await in_db_thread(effects.perform, request, lease=self.lease, call=call)
        self.ensure_current()
        return result
