"""What operators do: each act checks, does, and is written to the ledger, in one transaction.

Permissions are the caller's business (a page, a command); reasons are asked for here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import IO, Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, override

from agentruntime import agents
from agentruntime.agents import get_agent
from agentruntime.exceptions import NotPromotable as CannotPromote
from agentruntime.exceptions import SandboxBusy, SandboxFailed
from agentruntime.models import Message, Thread
from agentruntime.orchestration.policy import CLASSES
from agentruntime.timetravel import forks, history, sandbox
from agentruntime.timetravel import promote as promoting
from agentruntime.timetravel import replay as replaying
from agentruntime.timetravel.variants import Variant, try_variants
from audit import export as exporting
from audit.exceptions import (
    IdMistyped,
    NoCase,
    NotPromotable,
    ReasonMissing,
    RunFailed,
    ThreadBusy,
    ThreadMovedOn,
    UnknownLabel,
)
from audit.models import Correction, Operation, Pin

Kind, Outcome = Operation.Kind, Operation.Outcome
REASON_LENGTH = 300


def record(
    kind: str,
    *,
    by: AbstractBaseUser | None,
    reason: str,
    outcome: str = Outcome.DONE,
    thread: str = "",
    checkpoint: str = "",
    target: str = "",
    details: dict[str, Any] | None = None,
) -> Operation:
    """Write one act to the ledger."""
    return Operation.objects.create(
        kind=kind,
        by_id=by.pk if by else None,
        reason=reason[:REASON_LENGTH],
        outcome=outcome,
        thread=thread,
        checkpoint=checkpoint,
        target=target,
        details=details or {},
    )


def reasoned(reason: str) -> str:
    """The reason without blanks around it, and without what cannot be stored. Raises ReasonMissing."""
    plain = reason.replace("\0", "").strip()
    if not plain:
        raise ReasonMissing
    return plain


@transaction.atomic
def read_raw(
    thread: Thread, checkpoint: str, *, by: AbstractBaseUser, reason: str
) -> dict[str, Any]:
    """The whole state of a checkpoint; that it was read is recorded first.

    Raises ReasonMissing, CheckpointNotFound.
    """
    reason = reasoned(reason)
    values = dict(history.values_of(thread, checkpoint))
    record(Kind.READ_RAW, by=by, reason=reason, thread=thread.pk, checkpoint=checkpoint)
    return values


@transaction.atomic
def pin(
    thread: Thread,
    checkpoint: str,
    *,
    by: AbstractBaseUser,
    reason: str,
    expires_at: datetime | None = None,
) -> Pin:
    """Keep a checkpoint; pinning it again changes reason and end.

    Raises ReasonMissing, CheckpointNotFound.
    """
    reason = reasoned(reason)
    history.require(thread, checkpoint)
    kept, _ = Pin.objects.update_or_create(
        thread=thread,
        checkpoint=checkpoint,
        defaults={"reason": reason[:REASON_LENGTH], "by_id": by.pk, "expires_at": expires_at},
    )
    until = expires_at.isoformat() if expires_at else None
    record(
        Kind.PIN, by=by, reason=reason, thread=thread.pk, checkpoint=checkpoint,
        details={"until": until},
    )  # fmt: skip
    return kept


@transaction.atomic
def unpin(thread: Thread, checkpoint: str, *, by: AbstractBaseUser, reason: str) -> bool:
    """Let pruning have a checkpoint again; whether it was pinned. Raises ReasonMissing."""
    reason = reasoned(reason)
    count, _ = Pin.objects.filter(thread=thread, checkpoint=checkpoint).delete()
    if count:
        record(Kind.UNPIN, by=by, reason=reason, thread=thread.pk, checkpoint=checkpoint)
    return bool(count)


def fork(
    thread: Thread,
    checkpoint: str,
    *,
    by: AbstractBaseUser,
    reason: str,
    changes: Mapping[str, Any] | None = None,
) -> Thread:
    """Copy a thread up to a checkpoint into a sandbox, with fields of its state changed.

    Raises ReasonMissing, CheckpointNotFound (nothing created), RunFailed (the fork is there).
    Not one transaction: the copy has to be there for its run, which has a connection of its own.
    """
    reason = reasoned(reason)
    copy = forks.copy_thread(thread, checkpoint)
    outcome, error = Outcome.DONE, ""
    try:
        forks.go_on(copy, changes=changes)
    except SandboxFailed as failure:
        outcome, error = Outcome.FAILED, str(failure)
    record(
        Kind.FORK, by=by, reason=reason, thread=thread.pk, checkpoint=checkpoint, target=copy.pk,
        outcome=outcome, details={"changed": sorted(changes or {}), "error": error},
    )  # fmt: skip
    if error:
        raise RunFailed(error)
    return copy


def speak(thread: Thread, say: sandbox.Say, *, by: AbstractBaseUser) -> sandbox.Ran:
    """Say something in a sandbox thread. Raises ThreadBusy, RunFailed."""
    outcome = Outcome.FAILED
    try:
        ran = sandbox.run(thread, say=[say])
        outcome = Outcome.DONE
    except SandboxBusy as error:
        raise ThreadBusy from error
    except SandboxFailed as error:
        raise RunFailed(str(error)) from error
    finally:
        record(
            Kind.SPEAK, by=by, reason="", thread=thread.pk, checkpoint=thread.head, outcome=outcome
        )
    return ran


def replay(
    thread: Thread, checkpoint: str, *, by: AbstractBaseUser | None, reason: str
) -> Operation:
    """Run what happened after a checkpoint again; the ledger keeps how it went, step by step.

    Raises ReasonMissing, CheckpointNotFound (nothing created).
    """
    reason = reasoned(reason)
    made = replaying.replay(thread, checkpoint)
    return record(
        Kind.REPLAY, by=by, reason=reason, thread=thread.pk, checkpoint=checkpoint,
        target=made.copy.pk, outcome=Outcome.FAILED if made.error else Outcome.DONE,
        details=replay_details(made),
    )  # fmt: skip


def replay_details(made: replaying.Replay) -> dict[str, Any]:
    """How a replay went, without a word anybody said: ids, nodes and pointers."""
    return {
        "same": made.is_same,
        "stopped": made.stopped,
        "error": made.error,
        "seconds": round(made.seconds, 3),
        "acts": [{"name": each.name, "recorded": each.recorded} for each in made.acts],
        "steps": [
            {
                "number": step.number,
                "turn": step.turn,
                "original": step.original.point.id if step.original else "",
                "replayed": step.replayed.point.id if step.replayed else "",
                "nodes": list(step.original.point.nodes) if step.original else [],
                "nodes_replayed": list(step.replayed.point.nodes) if step.replayed else [],
                "same": step.is_same,
                "pointers": [change.pointer for change in step.changes],
            }
            for step in made.steps
        ],
    }


def what_if(
    thread: Thread,
    checkpoint: str,
    variants: Sequence[Mapping[str, Any]],
    *,
    by: AbstractBaseUser,
    reason: str,
) -> Operation:
    """Try a checkpoint with other values, each in a copy.

    Raises ReasonMissing, CheckpointNotFound (nothing created).
    """
    reason = reasoned(reason)
    found = try_variants(thread, checkpoint, variants)
    return record(
        Kind.WHAT_IF, by=by, reason=reason, thread=thread.pk, checkpoint=checkpoint,
        details={"variants": [_variant_details(each) for each in found]},
    )  # fmt: skip


def _variant_details(variant: Variant) -> dict[str, Any]:
    return {
        "thread": variant.thread.pk,
        "head": variant.thread.head,
        "changed": sorted(variant.changes),
        "steps": list(variant.steps),
        "acts": [{"name": each.name, "recorded": each.recorded} for each in variant.acts],
        "seconds": round(variant.seconds, 3),
        "error": variant.error,
    }


_OBSTACLES = {"busy": ThreadBusy, "moved_on": ThreadMovedOn}


def promote(
    thread: Thread, *, by: AbstractBaseUser, reason: str, expected_head: str, typed: str
) -> Thread:
    """Let a fork take its original's place; who refuses, and why, is recorded too.

    typed: the last eight characters of the original's id, as the operator wrote them.
    Raises ReasonMissing, IdMistyped, ThreadBusy, ThreadMovedOn, NotPromotable; nothing changed.
    """
    reason = reasoned(reason)
    original_id = thread.forked_from_id or ""
    if typed.strip() != original_id[-8:]:
        raise IdMistyped
    with override("zh-hans" if thread.language == "zh" else "en"):
        notice = gettext("An administrator went on with this conversation from an earlier point.")
    try:
        forks.renew(thread)
    except SandboxBusy as error:
        raise ThreadBusy from error
    try:
        with transaction.atomic():
            original = promoting.promote(thread, expected_head=expected_head, notice=notice)
            record(
                Kind.PROMOTE, by=by, reason=reason, thread=thread.pk, checkpoint=thread.head,
                target=original.pk, details={"was_head": expected_head},
            )  # fmt: skip
    except CannotPromote as error:
        record(
            Kind.PROMOTE, by=by, reason=reason, thread=thread.pk, checkpoint=thread.head,
            target=original_id, outcome=Outcome.REFUSED, details={"why": error.why},
        )  # fmt: skip
        raise _OBSTACLES.get(error.why, NotPromotable)() from error
    return original


def export(thread: Thread, out: IO[bytes], *, by: AbstractBaseUser | None, reason: str) -> str:
    """Write a thread as evidence; its seal, which the ledger keeps too. Raises ReasonMissing."""
    reason = reasoned(reason)
    seal = exporting.write(thread, out, at=timezone.now().isoformat())
    record(Kind.EXPORT, by=by, reason=reason, thread=thread.pk, details={"seal": seal})
    return seal


def export_case(thread: Thread, *, by: AbstractBaseUser | None, reason: str) -> dict[str, Any]:
    """A conversation as an evaluation case, masked, with the labels administrators corrected.

    Raises ReasonMissing, NoCase (nothing is recorded: nothing left the house).
    """
    reason = reasoned(reason)
    corrected = Correction.objects.filter(message__thread=thread.pk)
    labels = dict(corrected.values_list("message_id", "label"))
    try:
        case = get_agent(thread.agent).as_case(thread.pk, labels)
    except agents.NoCase as error:
        raise NoCase(str(error)) from error
    record(
        Kind.EXPORT, by=by, reason=reason, thread=thread.pk,
        details={"case": case["id"], "turns": len(case["turns"]), "corrected": len(labels)},
    )  # fmt: skip
    return case


def labels_of(agent: str) -> list[str]:
    """What a message of an agent may be taken to be: beside a run, or when it was read."""
    return sorted({*CLASSES, *get_agent(agent).labels})


@transaction.atomic
def correct(message: Message, *, label: str, by: AbstractBaseUser, reason: str) -> Correction:
    """Say what a message should have been taken to be; saying so again replaces it.

    Raises ReasonMissing, UnknownLabel.
    """
    reason = reasoned(reason)
    if label not in labels_of(message.thread.agent):
        raise UnknownLabel
    correction, _ = Correction.objects.update_or_create(
        message=message,
        defaults={
            "was": message.classification, "label": label, "by_id": by.pk,
            "reason": reason[:REASON_LENGTH], "at": timezone.now(),
        },
    )  # fmt: skip
    record(
        Kind.CORRECT, by=by, reason=reason, thread=message.thread_id, target=f"message {message.pk}",
        details={"was": message.classification, "label": label},
    )  # fmt: skip
    return correction
