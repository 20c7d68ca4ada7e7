"""Replaying many threads at once: what a change of code, prompt, model or planner would do to them.

The gate before such a change: nothing is booked, copies are deleted, and what differs is named.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from agentruntime.models import Session, Thread
from agentruntime.persistence import pruning
from agentruntime.timetravel import forks
from agentruntime.timetravel.replay import Replay, replay


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Whose threads: those of the last sessions, newest first. outcome, agent: "" for any."""

    last: int = 20
    agent: str = ""
    outcome: str = ""
    since: datetime | None = None
    thread: str = ""


@dataclass
class Verdict:
    """How many threads came out the same, and where the others first differ."""

    same: int = 0
    differ: int = 0
    failed: int = 0
    skipped: int = 0
    where: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.same + self.differ + self.failed

    def add(self, made: Replay) -> None:
        """Count one in."""
        if made.is_same:
            self.same += 1
        elif made.stopped == "failed":
            self.failed += 1
        else:
            self.differ += 1
        first = made.divergence
        if first is not None:
            self.where.update(change.pointer for change in first.changes)


def chosen(choice: Choice) -> list[Thread]:
    """The threads, newest session first."""
    if choice.thread:
        return list(Thread.objects.filter(pk=choice.thread, sandbox=False))
    sessions = Session.objects.filter(thread__sandbox=False).order_by("-pk")
    if choice.agent:
        sessions = sessions.filter(thread__agent=choice.agent)
    if choice.outcome:
        sessions = sessions.filter(outcome=choice.outcome)
    if choice.since:
        sessions = sessions.filter(ended_at__gte=choice.since)
    ids = list(dict.fromkeys(sessions.values_list("thread_id", flat=True)[: choice.last]))
    threads = Thread.objects.in_bulk(ids)
    return [threads[each] for each in ids]


def replayed(
    threads: list[Thread], *, keep: bool = False
) -> Iterator[tuple[Thread, Replay | None]]:
    """Each thread replayed from its first checkpoint; None for one that has none any more.

    keep: leave the copies, to look into.
    """
    for thread in threads:
        first = pruning.ids(thread.pk, limit=1)
        if not first:
            yield thread, None
            continue
        made = replay(thread, first[0])
        yield thread, made
        if not keep:
            forks.drop(made.copy)
