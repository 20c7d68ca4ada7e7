"""Running what happened again, in a copy, and laying it beside the original step by step.

What people said is said again at the instants they said it; an answer goes to the question that
is open in the copy, and a question of another kind ends the replay there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentruntime.agents import AgentSpec, get_agent
from agentruntime.exceptions import SandboxFailed
from agentruntime.models import Message, Run, Thread
from agentruntime.persistence import checkpoints
from agentruntime.timetravel import forks, history, sandbox
from agentruntime.timetravel.diff import Change, compare, without
from agentruntime.timetravel.history import Opened
from agentruntime.timetravel.sandbox import Act, Say

# The turn's input: ids and words of messages, which a copy has under other ids.
_INPUT = "said"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step on both sides; a side is None where it has no more steps.

    changes: of the original's state to the replay's, without what comes from chance.
    """

    number: int
    turn: int
    original: Opened | None
    replayed: Opened | None
    changes: Sequence[Change]

    @property
    def is_same(self) -> bool:
        return (
            self.original is not None
            and self.replayed is not None
            and list(self.original.point.nodes) == list(self.replayed.point.nodes)
            and not self.changes
        )


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One run of the original: the words that caused it, its checkpoints in order.

    is_rest: the replay begins inside of it, so its words are in the state already.
    """

    run: Run
    said: Sequence[Message]
    ids: Sequence[str]
    is_rest: bool


@dataclass
class Replay:
    """stopped: why it ended before the original did, as a code: `asks_otherwise`, `failed`."""

    copy: Thread
    steps: list[Step] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    seconds: float = 0.0
    stopped: str = ""
    error: str = ""

    @property
    def divergence(self) -> Step | None:
        """The first step that differs."""
        return next((step for step in self.steps if not step.is_same), None)

    @property
    def is_same(self) -> bool:
        return not self.stopped and self.divergence is None


def replay(source: Thread, checkpoint: str, *, spec: AgentSpec | None = None) -> Replay:
    """Go on from a checkpoint as the original did, in a copy. `spec`: another agent in its place.

    Raises CheckpointNotFound, nothing created.
    """
    history.require(source, checkpoint)
    turns = turns_after(source, checkpoint)
    copy = forks.copy_thread(source, checkpoint)
    made = Replay(copy=copy)
    try:
        if not (turns and turns[0].is_rest):
            forks.go_on(copy)  # it asks again what it waits for
        for turn in turns:
            if not _say_again(made, turn, spec):
                made.stopped = "asks_otherwise"
                break
    except SandboxFailed as error:
        made.stopped, made.error = "failed", str(error)
    return made


def _say_again(made: Replay, turn: Turn, spec: AgentSpec | None) -> bool:
    """Replay one turn; False when the copy asks something its answer does not fit."""
    copy, before = made.copy, made.copy.head
    answers = [each for each in turn.said if each.kind == "answer"]
    if not turn.is_rest and answers and not _fits(copy, answers[0]):
        return False
    ran = sandbox.run(
        copy,
        say=[] if turn.is_rest else [_again(each) for each in turn.said],
        goes_on=turn.is_rest,
        now=turn.run.started_at,
        spec=spec,
    )
    copy.refresh_from_db()
    made.acts.extend(ran.acts)
    made.seconds += ran.seconds
    made.steps.extend(_beside(made, turn, before))
    return True


def _fits(copy: Thread, answer: Message) -> bool:
    """Whether the copy waits at a question of the kind that the original's answer was to."""
    asked = Message.objects.filter(
        thread=answer.thread_id, interrupt_id=answer.interrupt_id, role=Message.Role.ASSISTANT
    ).first()
    open_kind = (copy.interrupt or {}).get("kind")
    return asked is not None and asked.kind == open_kind


def _again(message: Message) -> Say:
    value = message.data if message.kind == "answer" else None
    return Say(text=message.text, value=value, at=message.created_at)


def _beside(made: Replay, turn: Turn, before: str) -> Iterator[Step]:
    source = made.copy.forked_from
    if source is None:
        raise ValueError("a replay is of a thread that is still there")
    ours = opened_all(source, turn.ids)
    theirs = opened_all(made.copy, [each for each in _ids(made.copy.pk) if each > before])
    spec = get_agent(source.agent)
    start = len(made.steps)
    for index in range(max(len(ours), len(theirs))):
        one = ours[index] if index < len(ours) else None
        two = theirs[index] if index < len(theirs) else None
        yield Step(
            number=start + index + 1,
            turn=turn.run.turn or 0,
            original=one,
            replayed=two,
            changes=_changes(spec, one, two),
        )


def _changes(spec: AgentSpec, one: Opened | None, two: Opened | None) -> Sequence[Change]:
    if one is None or two is None:
        return ()
    return compare(comparable(spec, one.values), comparable(spec, two.values)).changes


def comparable(spec: AgentSpec, values: Mapping[str, Any]) -> Any:
    """A state without what may differ between two runs of the same turn."""
    kept = {key: value for key, value in values.items() if key != _INPUT}
    return without(kept, spec.volatile)


def opened_all(thread: Thread, ids: Sequence[str]) -> list[Opened]:
    """Several checkpoints of a thread, in the order given; read in two statements."""
    reader = checkpoints.CheckpointReader()
    reader.keep(thread.pk, ids)
    reader.keep(thread.pk, reader.parents())
    return [history.opened(thread, each, reader=reader) for each in ids]


def turns_after(source: Thread, checkpoint: str) -> list[Turn]:
    """What the original did after a checkpoint, run by run: towards its head if that descends from
    it, else towards the newest checkpoint that does.
    """
    path = path_after(checkpoints.structure(source.pk), checkpoint, head=source.head)
    begun, *after = history.points(source, [checkpoint, *path])
    versions = {each.id: each.version for each in after}
    grouped: dict[int, list[str]] = {}
    for each in path:
        version = versions[each]
        if version is not None:
            grouped.setdefault(version, []).append(each)
    runs = {run.version: run for run in Run.objects.filter(thread=source, version__in=grouped)}
    said: dict[int, list[Message]] = {}
    heard = Message.objects.filter(
        thread=source, role=Message.Role.USER, status=Message.Status.CONSUMED
    )
    for message in heard.filter(run_version__in=grouped).order_by("pk"):
        said.setdefault(message.run_version or 0, []).append(message)
    return [
        Turn(
            run=runs[version],
            said=said.get(version, []),
            ids=ids,
            is_rest=version == begun.version,
        )
        for version, ids in grouped.items()
        if version in runs
    ]


def path_after(rows: Sequence[tuple[str, str | None]], checkpoint: str, *, head: str) -> list[str]:
    """Pure. The checkpoints from one (itself left out) down to the head, or to a later tip."""
    parents = dict(rows)
    children = {parent for _, parent in rows}
    tips = [each for each, _ in rows if each not in children]
    for tip in [head, *reversed(tips)]:
        path: list[str] = []
        at: str | None = tip
        while at is not None and at != checkpoint and at in parents:
            path.append(at)
            at = parents[at]
        if at == checkpoint:
            return path[::-1]
    return []


def _ids(thread: str) -> list[str]:
    return [each for each, _ in checkpoints.structure(thread)]
