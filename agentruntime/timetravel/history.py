"""A thread's checkpoints as an operator reads them: pages of a timeline, one checkpoint, branches.

Built on LangGraph's own `get_state` and `get_state_history`, over a saver that only reads.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from langgraph.types import StateSnapshot

from agentruntime.agents import AgentSpec, get_agent
from agentruntime.exceptions import CheckpointNotFound
from agentruntime.models import Thread
from agentruntime.persistence import checkpoints
from agentruntime.persistence.checkpoints import CheckpointReader
from agentruntime.timetravel.branches import Branches, branches_of
from agentruntime.timetravel.diff import Change, compare

PAGE = 25
# LangGraph's ids are UUIDs; nothing else is looked for.
_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


@dataclass(frozen=True, kw_only=True)
class Question:
    """An interrupt as the checkpoint recorded it; `answer` is None while nobody answered."""

    id: str
    kind: str
    text: str
    answer: Any = None


@dataclass(frozen=True, kw_only=True)
class Point:
    """One checkpoint of a timeline.

    parent: its id, also when it was pruned away (then `is_gap`). nodes: which ran to make it.
    next: which run from it. described: the agent's view of the state; changes: of that, since the
    parent. run: the run's id, version: its run version, from the metadata. branch: its number.
    """

    id: str
    parent: str | None
    is_gap: bool
    at: datetime
    source: str
    step: int
    nodes: Sequence[str]
    next: Sequence[str]
    described: Mapping[str, Any]
    changes: Sequence[Change]
    questions: Sequence[Question]
    errors: Sequence[str]
    run: str
    version: int | None
    branch: int = 0


@dataclass(frozen=True, kw_only=True)
class Page:
    """points: newest first. older: the id to go on from, or None at the end."""

    points: Sequence[Point]
    branches: Branches
    older: str | None


@dataclass(frozen=True, kw_only=True)
class Opened:
    """One checkpoint, whole: `values` is the raw state, as its agent's present version has it;
    `snapshot_next` what would run from it, LangGraph's own first step too.
    """

    point: Point
    snapshot_next: Sequence[str]
    values: Mapping[str, Any]
    before: Mapping[str, Any] = field(default_factory=dict)


@cache
def _builder(agent: str) -> Any:
    return get_agent(agent).build_graph()


def reading_graph(agent: str, reader: CheckpointReader) -> Any:
    """The agent's graph over a reader. Raises UnknownAgent."""
    return compiled(agent).copy({"checkpointer": reader})


@cache
def compiled(agent: str) -> Any:
    """The agent's graph, compiled once a process. Raises UnknownAgent."""
    return _builder(agent).compile()


def forget_graphs() -> None:
    """Compile anew (tests register other agents under a name)."""
    compiled.cache_clear()
    _builder.cache_clear()


def is_checkpoint_id(text: str) -> bool:
    """Whether a text could name a checkpoint at all."""
    return _ID.fullmatch(text) is not None


def require(thread: Thread, checkpoint: str) -> None:
    """Raises CheckpointNotFound unless the thread has that checkpoint.

    LangGraph itself would silently start from nothing at an id it does not know.
    """
    if not is_checkpoint_id(checkpoint) or not checkpoints.exists(thread.pk, checkpoint):
        raise CheckpointNotFound(checkpoint)


def timeline(thread: Thread, *, before: str | None = None, limit: int = PAGE) -> Page:
    """A page of checkpoints, newest first, those before the given id.

    Raises CheckpointNotFound for what is no id, UnknownAgent.
    """
    if before is not None and not is_checkpoint_id(before):
        raise CheckpointNotFound(before)
    spec, reader = get_agent(thread.agent), CheckpointReader()
    graph = reading_graph(thread.agent, reader)
    cursor = _config(thread.pk, before) if before else None
    found = list(graph.get_state_history(_config(thread.pk), limit=limit + 1, before=cursor))
    snapshots = {_id(each.config): each for each in found}
    page = found[:limit]
    _add_parents(graph, reader, thread.pk, page, snapshots)
    branches = branches_of(thread.pk)
    points = [point_of(spec, thread, each, snapshots, branches) for each in page]
    older = points[-1].id if len(found) > limit else None
    return Page(points=points, branches=branches, older=older)


def points(thread: Thread, ids: Sequence[str]) -> list[Point]:
    """These checkpoints of a thread, in the order given. Raises CheckpointNotFound."""
    reader = CheckpointReader()
    reader.keep(thread.pk, ids)
    reader.keep(thread.pk, reader.parents())
    return [opened(thread, each, reader=reader).point for each in ids]


def opened(thread: Thread, checkpoint: str, *, reader: CheckpointReader | None = None) -> Opened:
    """One checkpoint with its parent. Raises CheckpointNotFound, UnknownAgent.

    reader: one that has read what is wanted, where several are opened.
    """
    spec, is_one = get_agent(thread.agent), reader is None
    reader = reader or CheckpointReader()
    graph = reading_graph(thread.agent, reader)
    if not is_checkpoint_id(checkpoint):
        raise CheckpointNotFound(checkpoint)
    snapshot = graph.get_state(_config(thread.pk, checkpoint))
    if snapshot.metadata is None:
        raise CheckpointNotFound(checkpoint)
    snapshots = {checkpoint: snapshot}
    _add_parents(graph, reader, thread.pk, [snapshot], snapshots)
    branches = branches_of(thread.pk) if is_one else Branches()
    parent = snapshots.get(_id(snapshot.parent_config))
    return Opened(
        point=point_of(spec, thread, snapshot, snapshots, branches),
        snapshot_next=snapshot.next,
        values=spec.loaded(snapshot.values),
        before=spec.loaded(parent.values) if parent else {},
    )


def values_of(thread: Thread, checkpoint: str) -> Mapping[str, Any]:
    """The raw state of one checkpoint. Raises CheckpointNotFound, UnknownAgent."""
    return opened(thread, checkpoint).values


def _add_parents(
    graph: Any,
    reader: CheckpointReader,
    thread: str,
    page: Sequence[StateSnapshot],
    snapshots: dict[str, StateSnapshot],
) -> None:
    """Read the parents that are not on the page, in one statement."""
    wanted = {_id(each.parent_config) for each in page} - {""} - set(snapshots)
    reader.keep(thread, wanted)
    for each in wanted:
        if reader.has(thread, each):
            snapshots[each] = graph.get_state(_config(thread, each))


def point_of(
    spec: AgentSpec,
    thread: Thread,
    snapshot: StateSnapshot,
    snapshots: Mapping[str, StateSnapshot],
    branches: Branches,
) -> Point:
    """A snapshot as a point of the timeline; `snapshots` holds its parent, if there is one."""
    metadata: Mapping[str, Any] = snapshot.metadata or {}
    parent_id = _id(snapshot.parent_config) or None
    parent = snapshots.get(parent_id or "")
    described = spec.describe(spec.loaded(snapshot.values))
    was = spec.describe(spec.loaded(parent.values)) if parent else {}
    version = metadata.get("run_version")
    return Point(
        id=_id(snapshot.config),
        parent=parent_id,
        is_gap=parent_id is not None and parent is None,
        at=datetime.fromisoformat(str(snapshot.created_at)),
        source=str(metadata.get("source", "")),
        step=int(metadata.get("step", 0)),
        nodes=_ran(snapshot, parent),
        next=[each for each in snapshot.next if each != "__start__"],
        described=described,
        changes=compare(was, described).changes if parent else (),
        questions=_questions(snapshot),
        errors=[str(task.error) for task in snapshot.tasks if task.error],
        run=str(metadata.get("run", "")),
        version=version if isinstance(version, int) else None,
        branch=branches.number_of(_id(snapshot.config)),
    )


def _ran(snapshot: StateSnapshot, parent: StateSnapshot | None) -> list[str]:
    if parent is None or (snapshot.metadata or {}).get("source") != "loop":
        return []
    return [each for each in parent.next if each != "__start__"]


def _questions(snapshot: StateSnapshot) -> list[Question]:
    found = []
    for task in snapshot.tasks:
        for each in task.interrupts:
            value = each.value if isinstance(each.value, Mapping) else {"message": str(each.value)}
            found.append(
                Question(
                    id=each.id,
                    kind=str(value.get("kind", "")),
                    text=str(value.get("message", "")),
                    answer=task.result,
                )
            )
    return found


def _config(thread: str, checkpoint: str | None = None) -> dict[str, Any]:
    at = {"thread_id": thread, "checkpoint_ns": ""}
    return {"configurable": {**at, "checkpoint_id": checkpoint} if checkpoint else at}


def _id(config: Mapping[str, Any] | None) -> str:
    return str(config["configurable"].get("checkpoint_id") or "") if config else ""
