"""What if: the same checkpoint with other values, each in a copy of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentruntime.exceptions import SandboxFailed
from agentruntime.models import Message, Thread
from agentruntime.timetravel import forks, history
from agentruntime.timetravel.sandbox import Act

MOST = 5  # as it was, and four others


@dataclass(frozen=True, kw_only=True)
class Variant:
    """What came of one set of changes. asked: the question the copy waits at, if it does."""

    changes: Mapping[str, Any]
    thread: Thread
    described: Mapping[str, Any]
    asked: Message | None
    steps: Sequence[str]
    acts: Sequence[Act]
    seconds: float
    error: str = ""


def try_variants(
    source: Thread, checkpoint: str, variants: Sequence[Mapping[str, Any]]
) -> list[Variant]:
    """Run each set of changes from the checkpoint, at most five; an empty one is as it was.

    Raises CheckpointNotFound, nothing created; ValueError for none or too many.
    """
    if not 1 <= len(variants) <= MOST:
        raise ValueError(f"one to {MOST} variants")
    history.require(source, checkpoint)
    return [_try(source, checkpoint, each) for each in variants]


def _try(source: Thread, checkpoint: str, changes: Mapping[str, Any]) -> Variant:
    copy, error, ran = forks.copy_thread(source, checkpoint), "", None
    try:
        ran = forks.go_on(copy, changes=changes)
    except SandboxFailed as failure:
        error = str(failure)
    copy.refresh_from_db()
    return Variant(
        changes=changes,
        thread=copy,
        described=history.opened(copy, copy.head).point.described,
        asked=question_of(copy),
        steps=[str(each["node"]) for each in ran.steps] if ran else [],
        acts=ran.acts if ran else [],
        seconds=ran.seconds if ran else 0.0,
        error=error,
    )


def question_of(thread: Thread) -> Message | None:
    """The message that asks a thread's open question."""
    if not thread.interrupt:
        return None
    asked = Message.objects.filter(
        thread=thread, interrupt_id=thread.interrupt["id"], role=Message.Role.ASSISTANT
    )
    return asked.order_by("-pk").first()
