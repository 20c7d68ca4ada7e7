"""What the runtime remembers about conversations; the admin and the migrations read it here.

The hot path writes the same tables through `persistence.store`. No booking, no LangGraph.
"""

import secrets
import time
import uuid

from django.conf import settings
from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


def uuid7() -> uuid.UUID:
    """A time-ordered UUID (RFC 9562 section 5.7): sortable by the millisecond it was made in."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds & (2**48 - 1)) << 80 | 0x7 << 76 | secrets.randbits(12) << 64
    return uuid.UUID(int=value | 0b10 << 62 | secrets.randbits(62))


class Thread(models.Model):
    """One conversation: one LangGraph thread, its lease and the truth its followers see.

    The lease columns change at every renewal and are in no index, so that the update stays in
    its page (heap-only tuple).
    """

    class Status(models.TextChoices):
        IDLE = "idle", _("Idle")
        RUNNING = "running", _("Running")
        WAITING = "waiting", _("Waiting for an answer")
        ARCHIVED = "archived", _("Archived")

    id = models.CharField(
        _("thread"), primary_key=True, max_length=120, help_text=_("<agent>-<owner>-<uuid7>")
    )
    agent = models.CharField(_("agent"), max_length=40)
    agent_version = models.PositiveIntegerField(_("agent version"), db_default=1)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("owner"),
    )
    language = models.CharField(_("language"), max_length=10, db_default="en")
    status = models.CharField(
        _("status"), max_length=10, choices=Status.choices, db_default=Status.IDLE
    )
    run_version = models.BigIntegerField(
        _("run version"), db_default=0, help_text=_("The fencing token; every claim raises it.")
    )
    lease_owner = models.CharField(_("lease owner"), max_length=60, null=True)  # noqa: DJ001 - free is not ""
    lease_until = models.DateTimeField(_("lease until"), null=True)
    unread = models.PositiveIntegerField(
        _("unread"), db_default=0, help_text=_("Messages stored since the last claim.")
    )
    turn = models.BigIntegerField(
        _("turn"), db_default=0, help_text=_("Rises with every commit its followers should see.")
    )
    head = models.CharField(_("head checkpoint"), max_length=60, db_default="")
    interrupt = models.JSONField(
        _("open question"),
        null=True,
        help_text=_("Id and kind of the interrupt that waits; its words are a message."),
    )
    summary = models.JSONField(
        _("summary"),
        db_default=models.Value({}, models.JSONField()),
        help_text=_("The agent's own description of its state."),
    )
    title = models.CharField(_("title"), max_length=120, db_default="")
    stop_version = models.BigIntegerField(
        _("stop asked for"), db_default=-1, help_text=_("The run version its person wants stopped.")
    )
    session_at = models.DateTimeField(_("session since"), null=True)
    session_turn = models.BigIntegerField(_("turns before the session"), db_default=0)
    session_open = models.BooleanField(_("session open"), db_default=False)
    quarantined_at = models.DateTimeField(
        _("quarantined"),
        null=True,
        help_text=_("Since when messages are set aside because running them ended their worker."),
    )
    sandbox = models.BooleanField(
        _("sandbox"), db_default=False, help_text=_("A copy to try things in: it never acts.")
    )
    forked_from = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        related_name="forks",
        verbose_name=_("forked from"),
    )
    forked_at = models.CharField(_("forked at checkpoint"), max_length=60, db_default="")
    created_at = models.DateTimeField(_("created"), db_default=Now())
    updated_at = models.DateTimeField(_("updated"), db_default=Now())

    class Meta:
        verbose_name = _("thread")
        verbose_name_plural = _("threads")
        indexes = [
            models.Index(fields=["owner", "agent", "-id"], name="thread_of_owner"),
            models.Index(
                fields=["session_at"], condition=Q(session_open=True), name="thread_in_session"
            ),
            models.Index(
                fields=["quarantined_at"],
                condition=Q(quarantined_at__isnull=False),
                name="thread_quarantined",
            ),
        ]

    def __str__(self) -> str:
        return self.id


class Run(models.Model):
    """One invocation of the graph on a thread, under one run version."""

    class Status(models.TextChoices):
        RUNNING = "running", _("Running")
        WAITING = "waiting", _("Ended with a question")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        SUPERSEDED = "superseded", _("Superseded")
        STOPPED = "stopped", _("Stopped by its person")
        LOST = "lost", _("Lost with its worker")
        QUARANTINED = "quarantined", _("Given up: it ended its workers")

    class Kind(models.TextChoices):
        START = "start", _("Start")
        RESUME = "resume", _("Resume")
        RECOVERY = "recovery", _("Recovery")

    id = models.UUIDField(primary_key=True, default=uuid7, db_default=RandomUUID())
    thread = models.ForeignKey(
        Thread,
        on_delete=models.CASCADE,
        related_name="runs",
        db_index=False,  # the unique constraint starts with it
        verbose_name=_("thread"),
    )
    version = models.BigIntegerField(_("run version"))
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices)
    status = models.CharField(
        _("status"), max_length=11, choices=Status.choices, db_default=Status.RUNNING
    )
    worker = models.CharField(_("worker"), max_length=60)
    attempt = models.PositiveSmallIntegerField(_("attempt"), db_default=1)
    turn = models.BigIntegerField(_("turn"), null=True)
    newest = models.BigIntegerField(
        _("newest message"), db_default=0, help_text=_("What was said later waits for its turn.")
    )
    base = models.CharField(_("checkpoint before"), max_length=60, db_default="")
    head = models.CharField(_("checkpoint after"), max_length=60, db_default="")
    steps = models.JSONField(_("steps"), db_default=models.Value([], models.JSONField()))
    flushed = models.JSONField(
        _("saved so far"), null=True, help_text=_("Where a recovery of a long run goes on.")
    )
    error = models.CharField(_("error"), max_length=500, db_default="")
    started_at = models.DateTimeField(_("started"), db_default=Now())
    ended_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        constraints = [
            models.UniqueConstraint(fields=["thread", "version"], name="run_once_per_version")
        ]

    def __str__(self) -> str:
        return f"{self.thread_id} v{self.version}"


class Message(models.Model):
    """One thing said, by a person or by the agent; a row before it is acknowledged."""

    class Role(models.TextChoices):
        USER = "user", _("User")
        ASSISTANT = "assistant", _("Assistant")

    class Status(models.TextChoices):
        PENDING = "pending", _("Waiting to be read")
        CONSUMED = "consumed", _("Read")
        REFUSED = "refused", _("Refused")
        WITHDRAWN = "withdrawn", _("Taken back")
        QUARANTINED = "quarantined", _("Set aside: it ended its workers")
        SAID = "said", _("Said")

    thread = models.ForeignKey(
        Thread,
        on_delete=models.CASCADE,
        related_name="messages",
        db_index=False,  # an index of its own below
        verbose_name=_("thread"),
    )
    role = models.CharField(_("role"), max_length=10, choices=Role.choices)
    status = models.CharField(_("status"), max_length=11, choices=Status.choices)
    client_id = models.CharField(_("client's id"), max_length=64, null=True)  # noqa: DJ001 - absent is not ""
    kind = models.CharField(_("kind"), max_length=20, db_default="text")
    text = models.TextField(_("text"), db_default="")
    data = models.JSONField(_("data"), db_default=models.Value({}, models.JSONField()))
    interrupt_id = models.CharField(_("answers question"), max_length=64, db_default="")
    classification = models.CharField(_("class"), max_length=40, db_default="")
    rule = models.CharField(_("rule"), max_length=60, db_default="")
    run_version = models.BigIntegerField(
        _("run version"), null=True, help_text=_("The run that read it.")
    )
    beside = models.BigIntegerField(
        _("beside run version"),
        null=True,
        help_text=_("The run in progress when it came: the one it ended, joined or waited for."),
    )
    turn = models.BigIntegerField(_("turn"), null=True)
    created_at = models.DateTimeField(_("created"), db_default=Now())

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        constraints = [
            models.UniqueConstraint(
                fields=["thread", "client_id"],
                condition=Q(client_id__isnull=False),
                name="message_once_per_client_id",
            )
        ]
        indexes = [
            models.Index(fields=["thread", "id"], name="message_of_thread"),
            models.Index(fields=["thread"], condition=Q(status="pending"), name="message_pending"),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.pk}"


class Effect(models.Model):
    """Something done outside the graph's state, recorded in the transaction that did it.

    `task` catches a retry of the same step, `intent` a replay or a second path to it.
    """

    thread = models.ForeignKey(
        Thread,
        on_delete=models.PROTECT,
        related_name="effects",
        db_index=False,  # the unique constraint starts with it
        verbose_name=_("thread"),
    )
    run = models.ForeignKey(
        Run, on_delete=models.PROTECT, related_name="effects", verbose_name=_("run")
    )
    run_version = models.BigIntegerField(_("run version"))
    name = models.CharField(_("effect"), max_length=60)
    task = models.CharField(_("LangGraph task"), max_length=64)
    intent = models.CharField(_("intent"), max_length=120, unique=True)
    checkpoint = models.CharField(_("checkpoint"), max_length=60)
    message = models.ForeignKey(
        Message,
        on_delete=models.PROTECT,
        null=True,
        related_name="effects",
        verbose_name=_("confirming message"),
    )
    arguments = models.JSONField(_("arguments"), db_default=models.Value({}, models.JSONField()))
    result = models.JSONField(_("result"), null=True)
    created_at = models.DateTimeField(_("created"), db_default=Now())

    class Meta:
        verbose_name = _("effect")
        verbose_name_plural = _("effects")
        constraints = [
            models.UniqueConstraint(fields=["thread", "task", "name"], name="effect_once_per_task")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.pk}"


class Session(models.Model):
    """One attempt at a task inside a thread, written when it ends. Metrics count these."""

    class Outcome(models.TextChoices):
        SUCCESS = "success", _("Success")
        CANCELLED = "cancelled", _("Cancelled")
        FAILED = "failed", _("Failed")
        TIMEOUT = "timeout", _("Timed out")

    thread = models.ForeignKey(
        Thread, on_delete=models.CASCADE, related_name="sessions", verbose_name=_("thread")
    )
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome.choices)
    phase = models.CharField(_("phase"), max_length=40, db_default="")
    language = models.CharField(_("language"), max_length=10, db_default="")
    turns = models.PositiveIntegerField(_("turns"), db_default=0)
    started_at = models.DateTimeField(_("started"))
    ended_at = models.DateTimeField(_("ended"), db_default=Now())

    class Meta:
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        indexes = [models.Index(fields=["ended_at"], name="session_by_end")]

    def __str__(self) -> str:
        return f"{self.thread_id} {self.outcome}"


class Worker(models.Model):
    """One server process and how it is, by its own heartbeat and by the monitor's judgement."""

    class Status(models.TextChoices):
        IDLE = "idle", _("Idle")
        PROCESSING = "processing", _("Processing")
        ERROR = "error", _("Error")
        TERMINATING = "terminating", _("Terminating")
        ENDED = "ended", _("Ended")

    class Health(models.TextChoices):
        HEALTHY = "healthy", _("Healthy")
        DEGRADED = "degraded", _("Degraded")
        UNHEALTHY = "unhealthy", _("Unhealthy")
        DEAD = "dead", _("Dead")

    id = models.CharField(_("worker"), primary_key=True, max_length=60)
    host = models.CharField(_("host"), max_length=120)
    pid = models.PositiveIntegerField(_("process id"))
    status = models.CharField(_("status"), max_length=12, choices=Status.choices)
    health = models.CharField(
        _("health"), max_length=10, choices=Health.choices, db_default=Health.HEALTHY
    )
    reason = models.CharField(_("reason"), max_length=200, db_default="")
    threads = models.JSONField(_("threads"), db_default=models.Value([], models.JSONField()))
    runs = models.JSONField(_("runs"), db_default=models.Value([], models.JSONField()))
    step = models.CharField(
        _("step"), max_length=60, db_default="", help_text=_("Of the run that moved least lately.")
    )
    steps = models.PositiveBigIntegerField(_("steps so far"), db_default=0)
    tool = models.CharField(_("last tool call"), max_length=60, db_default="")
    still_seconds = models.FloatField(
        _("seconds without progress"),
        db_default=0.0,
        help_text=_("Since the run that moved least lately began its step."),
    )
    cpu_percent = models.FloatField(_("CPU %"), db_default=0.0)
    memory_mb = models.FloatField(_("memory MB"), db_default=0.0)
    loop_lag_ms = models.FloatField(_("event loop lag ms"), db_default=0.0)
    beat_seconds = models.FloatField(_("beat s"), db_default=3.0)
    started_at = models.DateTimeField(_("started"), db_default=Now())
    seen_at = models.DateTimeField(_("last heartbeat"), db_default=Now())
    ended_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        verbose_name = _("worker")
        verbose_name_plural = _("workers")

    def __str__(self) -> str:
        return self.id


class Chore(models.Model):
    """Work that one process of all does every so often; the row is its schedule and its lock."""

    name = models.CharField(_("chore"), primary_key=True, max_length=60)
    every_seconds = models.FloatField(_("every s"))
    due_at = models.DateTimeField(_("due"), db_default=Now())
    started_at = models.DateTimeField(_("last started"), null=True)
    took_ms = models.FloatField(_("last took ms"), null=True)
    worker = models.CharField(_("last done by"), max_length=60, db_default="")
    error = models.CharField(_("last error"), max_length=500, db_default="")

    class Meta:
        verbose_name = _("chore")
        verbose_name_plural = _("chores")

    def __str__(self) -> str:
        return self.name
