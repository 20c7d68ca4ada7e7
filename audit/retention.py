"""Pruning as operators ask for it: which threads, what is pinned, and the ledger.

The doing is `agentruntime.timetravel.retention`.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from datetime import time as time_of_day
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q
from django.utils import timezone

from agentruntime.models import Thread
from agentruntime.persistence.pruning import Tally
from agentruntime.timetravel import retention
from agentruntime.timetravel.retention import Pruned
from audit import services
from audit.models import Operation, Pin, RetentionRule

PAGE = 200
# The chore looks this often whether a rule is due; a rule is carried out once a night.
NIGHTLY_SECONDS = 900.0
NIGHT = (time_of_day(1), time_of_day(5))
RULE_SECONDS = 600.0


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Which checkpoints may go. before: only older ones. agent, thread: "" for all."""

    keep_last: int = 50
    before: datetime | None = None
    agent: str = ""
    thread: str = ""


@dataclass
class Report:
    """Totals over threads. failed: threads of which a kept state did not read back as before."""

    threads: int = 0
    planned: Tally = field(default_factory=Tally)
    gone: Tally = field(default_factory=Tally)
    skipped: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    finished: bool = True
    seconds: float = 0.0

    def add(self, pruned: Pruned) -> None:
        """Count one thread in."""
        self.threads += bool(pruned.planned.checkpoints or pruned.planned.blobs)
        self.planned += pruned.planned
        self.gone += pruned.gone
        self.finished &= pruned.finished
        if pruned.skipped:
            self.skipped.append(pruned.thread)
        if pruned.verified is False:
            self.failed.append(pruned.thread)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, for `--json` and the ledger."""
        return {
            "threads": self.threads,
            "planned": tally_json(self.planned),
            "gone": tally_json(self.gone),
            "skipped": self.skipped,
            "failed": self.failed,
            "finished": self.finished,
            "seconds": round(self.seconds, 3),
        }


def tally_json(tally: Tally) -> dict[str, int]:
    """Rows and bytes."""
    return {
        "checkpoints": tally.checkpoints,
        "blobs": tally.blobs,
        "writes": tally.writes,
        "bytes": tally.bytes,
    }


def prune(
    wish: Wish,
    *,
    dry: bool,
    max_seconds: float | None = None,
    batch: int = retention.BATCH,
    verify: bool = False,
    told: Callable[[Pruned], None] = lambda pruned: None,
) -> Report:
    """Plan (`dry`) or prune thread by thread, `told` of each. Stops after `max_seconds`; what is
    left is found again by the next run.
    """
    began = time.monotonic()
    deadline = began + max_seconds if max_seconds is not None else None
    report = Report()
    for thread, pinned in _candidates(wish):
        if deadline is not None and time.monotonic() > deadline:
            report.finished = False
            break
        pruned = retention.prune_thread(
            thread,
            keep_last=wish.keep_last,
            before=wish.before,
            pinned=pinned,
            batch=batch,
            deadline=deadline,
            dry=dry,
            verify=verify,
        )
        report.add(pruned)
        told(pruned)
    report.seconds = time.monotonic() - began
    return report


def _candidates(wish: Wish) -> Iterator[tuple[str, list[str]]]:
    """Threads and their pinned checkpoints, by id, a page at a time."""
    threads = Thread.objects.exclude(head="").order_by("pk")
    if wish.agent:
        threads = threads.filter(agent=wish.agent)
    if wish.thread:
        threads = threads.filter(pk=wish.thread)
    last = ""
    while page := list(threads.filter(pk__gt=last).values_list("pk", flat=True)[:PAGE]):
        pins = pinned_in(page)
        for thread in page:
            yield thread, pins.get(thread, [])
        last = page[-1]


def pinned_in(threads: list[str]) -> dict[str, list[str]]:
    """The checkpoints with a pin that has not expired, by thread."""
    current = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    found: dict[str, list[str]] = {}
    for thread, checkpoint in Pin.objects.filter(current, thread_id__in=threads).values_list(
        "thread_id", "checkpoint"
    ):
        found.setdefault(thread, []).append(checkpoint)
    return found


def recorded(
    report: Report, wish: Wish, *, by: AbstractBaseUser | None, reason: str
) -> Operation | None:
    """Write a pruning that took something to the ledger."""
    if report.gone == Tally() and not report.failed:
        return None
    return services.record(
        Operation.Kind.PRUNE,
        by=by,
        reason=reason,
        thread=wish.thread,
        outcome=Operation.Outcome.FAILED if report.failed else Operation.Outcome.DONE,
        details={
            **report.as_json(),
            "keep_last": wish.keep_last,
            "before": wish.before.isoformat() if wish.before else None,
            "agent": wish.agent,
        },
    )


@dataclass
class Removal:
    """Threads by what became of them."""

    outcomes: dict[str, int] = field(default_factory=dict)
    running: list[str] = field(default_factory=list)

    def add(self, thread: str, outcome: str) -> None:
        """Count one thread in."""
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        if outcome == "running":
            self.running.append(thread)


def old_threads(*, before: datetime, agent: str = "", only_forks: bool = False) -> Iterator[str]:
    """Threads nobody touched since, but those with a pin; an emptied one is not found again."""
    pinned = Pin.objects.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()))
    found = (
        Thread.objects.filter(updated_at__lt=before)
        .exclude(pk__in=pinned.values("thread_id"))
        .exclude(summary__has_key="pruned")
    )
    if agent:
        found = found.filter(agent=agent)
    if only_forks:
        found = found.filter(sandbox=True)
    yield from found.order_by("pk").values_list("pk", flat=True).iterator(chunk_size=PAGE)


def prune_threads(
    threads: Iterator[str], *, by: AbstractBaseUser | None, reason: str, dry: bool
) -> Removal:
    """Delete whole threads; what they did outside, and its bookings, stay and say so."""
    removal = Removal()
    for thread in threads:
        removal.add(thread, "would go" if dry else retention.remove_thread(thread))
    if not dry and removal.outcomes:
        services.record(
            Operation.Kind.PRUNE_THREADS,
            by=by,
            reason=reason,
            details={"outcomes": removal.outcomes},
        )
    return removal


def erase_person(
    user: AbstractBaseUser, *, by: AbstractBaseUser | None, reason: str, dry: bool = False
) -> Removal:
    """Delete what a person said and every state it led to, forks included; facts of bookings stay.

    Raises ReasonMissing. Pins do not hold it up. Threads that run just now are left and named.
    """
    reason = services.reasoned(reason)
    removal = Removal()
    owned = Thread.objects.filter(owner_id=user.pk).exclude(summary__has_key="pruned")
    for thread in owned.order_by("-sandbox", "pk").values_list("pk", flat=True):
        if dry:
            removal.add(thread, "would go")
            continue
        Pin.objects.filter(thread_id=thread).delete()
        removal.add(thread, retention.remove_thread(thread, erase=True))
    if not dry:
        services.record(
            Operation.Kind.ERASE, by=by, reason=reason, target=f"user {user.pk}",
            outcome=Operation.Outcome.FAILED if removal.running else Operation.Outcome.DONE,
            details={"outcomes": removal.outcomes},
        )  # fmt: skip
    return removal


def nightly(*, now: datetime | None = None) -> Mapping[str, Report]:
    """Carry out every rule that is switched on; what each pruned, by agent."""
    now = now or timezone.now()
    done = {}
    for rule in RetentionRule.objects.filter(is_on=True).order_by("agent"):
        wish = Wish(
            agent=rule.agent,
            keep_last=rule.keep_last,
            before=now - timedelta(days=rule.older_than_days),
        )
        forks = old_threads(
            before=now - timedelta(days=rule.sandbox_days), agent=rule.agent, only_forks=True
        )
        prune_threads(forks, by=None, reason="retention rule", dry=False)
        report = prune(wish, dry=False, max_seconds=RULE_SECONDS)
        recorded(report, wish, by=None, reason="retention rule")
        RetentionRule.objects.filter(pk=rule.pk).update(ran_at=now)
        done[rule.agent] = report
    return done


def nightly_chore() -> None:
    """Called every quarter of an hour by one process: carry out the rules once a night."""
    now = timezone.localtime()
    if NIGHT[0] <= now.time() < NIGHT[1]:
        due = RetentionRule.objects.filter(is_on=True).exclude(ran_at__date=now.date())
        if due.exists():
            nightly(now=now)
