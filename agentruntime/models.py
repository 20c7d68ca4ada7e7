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
    created_at = models.DateTimeField(_("created"), db_default=Now())
    updated_at = models.DateTimeField(_("updated"), db_default=Now())

    class Meta:
        verbose_name = _("thread")
        verbose_name_plural = _("threads")
        indexes = [models.Index(fields=["owner", "agent", "-id"], name="thread_of_owner")]

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
        _("status"), max_length=10, choices=Status.choices, db_default=Status.RUNNING
    )
    worker = models.CharField(_("worker"), max_length=60)
    attempt = models.PositiveSmallIntegerField(_("attempt"), db_default=1)
    turn = models.BigIntegerField(_("turn"), null=True)
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
        SAID = "said", _("Said")

    thread = models.ForeignKey(
        Thread,
        on_delete=models.CASCADE,
        related_name="messages",
        db_index=False,  # an index of its own below
        verbose_name=_("thread"),
    )
    role = models.CharField(_("role"), max_length=10, choices=Role.choices)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices)
    client_id = models.CharField(_("client's id"), max_length=64, null=True)  # noqa: DJ001 - absent is not ""
    kind = models.CharField(_("kind"), max_length=20, db_default="text")
    text = models.TextField(_("text"), db_default="")
    data = models.JSONField(_("data"), db_default=models.Value({}, models.JSONField()))
    interrupt_id = models.CharField(_("answers question"), max_length=64, db_default="")
    classification = models.CharField(_("class"), max_length=40, db_default="")
    rule = models.CharField(_("rule"), max_length=60, db_default="")
    run_version = models.BigIntegerField(_("run version"), null=True)
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
