"""Copies of threads to try things in. The original is only ever read."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q

from agentruntime.agents import Edit, get_agent
from agentruntime.models import Message, Run, Thread, uuid7
from agentruntime.persistence import checkpoints
from agentruntime.timetravel import history, sandbox

WHOLE = 1_000_000
_COPIED = (
    "role", "status", "kind", "text", "data", "interrupt_id", "classification", "rule",
    "run_version", "turn",
)  # fmt: skip


@transaction.atomic
def copy_thread(source: Thread, checkpoint: str, *, depth: int = WHOLE) -> Thread:
    """A sandbox thread that stands at a checkpoint of another, with the checkpoints before it and
    what had been said by then. Its effects are not repeated: they stay the original's.

    depth: how many ancestors are copied; the rest shows as a gap.
    Raises CheckpointNotFound, nothing created.
    """
    history.require(source, checkpoint)
    opened = history.opened(source, checkpoint)
    turn, is_end = _turn_of(source, opened.point)
    described = dict(opened.point.described)
    copy = Thread.objects.create(
        id=f"{source.agent}-{source.owner_id}-{uuid7()}",
        agent=source.agent,
        agent_version=source.agent_version,
        owner_id=source.owner_id,
        language=source.language,
        run_version=source.run_version,  # its own runs get versions no copied row bears
        turn=turn,
        head=checkpoint,
        summary=described,
        title=str(described.get("title") or source.title)[:120],
        sandbox=True,
        forked_from_id=source.pk,
        forked_at=checkpoint,
    )
    checkpoints.copy_line(source.pk, copy.pk, checkpoint, depth=depth)
    _copy_messages(source, copy, turn=turn, is_end=is_end)
    copy.refresh_from_db()
    return copy


def _turn_of(source: Thread, point: history.Point) -> tuple[int, bool]:
    """The turn a checkpoint belongs to, and whether it is the turn's last."""
    run = Run.objects.filter(thread=source, version=point.version or 0).first()
    if run is None or run.turn is None:
        return 0, False
    return run.turn, run.head == point.id


def _copy_messages(source: Thread, copy: Thread, *, turn: int, is_end: bool) -> None:
    """What was said up to the checkpoint. The question it stands at is left out: asked anew."""
    said = Q(role=Message.Role.ASSISTANT, turn__lt=turn)
    if is_end:
        said |= Q(role=Message.Role.ASSISTANT, turn=turn, interrupt_id="")
    heard = Q(role=Message.Role.USER, status=Message.Status.CONSUMED, turn__lte=turn)
    rows = Message.objects.filter(said | heard, thread=source).order_by("pk")
    copies = Message.objects.bulk_create(
        Message(thread=copy, **{name: getattr(row, name) for name in _COPIED}) for row in rows
    )
    # The clock of a copied message is the original's; the column has a default of its own.
    for row, original in zip(copies, rows, strict=True):
        row.created_at = original.created_at
    Message.objects.bulk_update(copies, ["created_at"])


def fork(
    source: Thread, checkpoint: str, *, changes: Mapping[str, Any] | None = None
) -> tuple[Thread, sandbox.Ran | None]:
    """Copy a thread up to a checkpoint, change fields of its state, and let it go on to where it
    waits. Raises CheckpointNotFound (nothing created), SandboxFailed (the copy is there).
    """
    copy = copy_thread(source, checkpoint)
    return copy, go_on(copy, changes=changes)


def go_on(thread: Thread, *, changes: Mapping[str, Any] | None = None) -> sandbox.Ran | None:
    """Change fields of a sandbox thread's state, if any, and run it from where it stands.

    None when nothing was left to run.
    """
    opened = history.opened(thread, thread.head)
    edit = edited(thread, opened.values, changes) if changes else None
    if edit is None and not opened.snapshot_next:
        return None
    ran = sandbox.run(thread, edit=edit, goes_on=True)
    thread.refresh_from_db()
    return ran


# LangGraph's own: the same state under a new id, with nothing written at it.
_ANEW = Edit(update=None, after="__copy__")


def renew(thread: Thread) -> None:
    """Let a sandbox thread that stands at the very checkpoint it was forked at stand at one of its
    own. The original may have been answered at that checkpoint; its answer must not be taken for
    one to the question that is asked again. Raises SandboxBusy, SandboxFailed.
    """
    if thread.head != thread.forked_at:
        return
    has_next = bool(history.opened(thread, thread.head).snapshot_next)
    sandbox.run(thread, edit=_ANEW, goes_on=has_next)
    thread.refresh_from_db()


def edited(thread: Thread, values: Mapping[str, Any], changes: Mapping[str, Any]) -> Edit:
    """What changed fields make of a state. Pure but for finding the agent."""
    return get_agent(thread.agent).edit(values, changes)


@transaction.atomic
def drop(thread: Thread) -> None:
    """Delete a sandbox thread with its checkpoints. A live one is never deleted here."""
    if not thread.sandbox:
        raise ValueError("not a sandbox")
    checkpoints.delete_thread(thread.pk)
    Message.objects.filter(thread=thread).delete()
    Run.objects.filter(thread=thread).delete()
    Thread.objects.filter(pk=thread.pk, sandbox=True).delete()
