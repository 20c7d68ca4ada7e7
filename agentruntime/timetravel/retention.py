"""Keeping histories small: checkpoints of a thread, whole threads, one person's words.

A thread's row is locked while rows of it are deleted: no run begins meanwhile, and a thread that
runs is left alone. Everything can be stopped between two batches and begun again.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from agentruntime.agents import get_agent
from agentruntime.exceptions import UnknownAgent
from agentruntime.models import Effect, Message, Run, Thread
from agentruntime.persistence import checkpoints, pruning
from agentruntime.persistence.pruning import Rule, Tally
from agentruntime.timetravel.diff import without

BATCH = 500
_HASHED_AT_ONCE = 100


@dataclass(frozen=True, kw_only=True)
class Pruned:
    """What a thread lost. skipped: why it was left alone: `running`, or "". finished: whether all
    that could go is gone. verified: whether every kept state read back as before, None if not asked.
    """

    thread: str
    planned: Tally
    gone: Tally
    skipped: str = ""
    finished: bool = True
    verified: bool | None = None


@contextmanager
def held(thread: str) -> Iterator[Thread | None]:
    """The thread's row, locked for this transaction; None while a worker may be running it."""
    with transaction.atomic():
        found = (
            Thread.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(Q(lease_owner=None) | Q(lease_until__lt=Now()), pk=thread)
            .exclude(status=Thread.Status.RUNNING)
            .first()
        )
        yield found


def prune_thread(
    thread: str,
    *,
    keep_last: int,
    before: datetime | None,
    pinned: Sequence[str] = (),
    batch: int = BATCH,
    deadline: float | None = None,
    dry: bool = False,
    verify: bool = False,
) -> Pruned:
    """Delete checkpoints of one thread by a rule.

    deadline: on the monotonic clock; between batches nobody goes on past it.
    """
    rule = Rule(keep_last=keep_last, before=before, pinned=pinned)
    with held(thread) as found:
        if found is None:
            return Pruned(thread=thread, planned=Tally(), gone=Tally(), skipped="running")
        rule = replace(rule, boundary=pruning.boundary(thread, keep_last))
        planned = pruning.plan(thread, rule)
    if dry or planned == Tally():
        untouched = True if verify and not dry else None
        return Pruned(thread=thread, planned=planned, gone=Tally(), verified=untouched)
    before_hashes = hashes(thread) if verify else {}
    gone, finished, skipped = _delete(thread, rule, batch=batch, deadline=deadline)
    verified = _is_kept(thread, before_hashes) if verify else None
    return Pruned(
        thread=thread,
        planned=planned,
        gone=gone,
        skipped=skipped,
        finished=finished,
        verified=verified,
    )


def _delete(
    thread: str, rule: Rule, *, batch: int, deadline: float | None
) -> tuple[Tally, bool, str]:
    gone = Tally()
    for is_blobs in (False, True):
        while True:
            if deadline is not None and time.monotonic() > deadline:
                return gone, False, ""
            with held(thread) as found:
                if found is None:
                    return gone, False, "running"
                lost = (
                    pruning.delete_unreferenced(thread, limit=batch * 4)
                    if is_blobs
                    else pruning.delete_batch(thread, rule, limit=batch)
                )
            gone += lost
            if lost == Tally():
                break
    return gone, True, ""


def hashes(thread: str) -> dict[str, str]:
    """SHA-256 of the state and the pending writes of every checkpoint, by id."""
    found: dict[str, str] = {}
    last = ""
    while page := pruning.ids(thread, after=last, limit=_HASHED_AT_ONCE):
        reader = checkpoints.CheckpointReader()
        reader.keep(thread, page)
        for each in page:
            saved = reader.get_tuple(
                {"configurable": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": each}}
            )
            if saved is not None:
                whole = [saved.checkpoint["channel_values"], saved.metadata, saved.pending_writes]
                text = json.dumps(whole, sort_keys=True, default=repr)
                found[each] = hashlib.sha256(text.encode()).hexdigest()
        last = page[-1]
    return found


def _is_kept(thread: str, before: Mapping[str, str]) -> bool:
    """Whether every checkpoint that is there was there before, and reads as it did."""
    after = hashes(thread)
    return all(before.get(each, digest) == digest for each, digest in after.items())


def remove_thread(thread: str, *, erase: bool = False) -> str:
    """Delete a thread with its messages, runs and checkpoints.

    Where it did something outside (its effects), that stays, with the thread as an empty, archived
    row that says so; `erase` also takes personal words out of what the effects were asked.
    Returns `deleted`, `emptied` or `running` (left alone).
    """
    with held(thread) as found:
        if found is None:
            return "running"
        checkpoints.delete_thread(thread)
        effects = Effect.objects.filter(thread=thread)
        if erase:
            _mask(found, effects)
        effects.update(message=None)
        Message.objects.filter(thread=thread).delete()
        Run.objects.filter(thread=thread, effects=None).delete()
        if not effects.exists():
            found.delete()
            return "deleted"
        Run.objects.filter(thread=thread).update(steps=[], flushed=None, error="")
        Thread.objects.filter(pk=thread).update(
            status=Thread.Status.ARCHIVED,
            head="",
            interrupt=None,
            summary={"pruned": True},
            title="",
            unread=0,
            turn=found.turn + 1,
            run_version=found.run_version + 1,
            updated_at=Now(),
        )
    return "emptied"


def _mask(thread: Thread, effects: Any) -> None:
    try:
        personal = get_agent(thread.agent).personal
    except UnknownAgent:
        return
    for effect in effects:
        effect.arguments = without(effect.arguments, personal)
        effect.result = without(effect.result, personal)
        effect.save(update_fields=["arguments", "result"])
