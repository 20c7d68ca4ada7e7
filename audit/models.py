"""What operators did with conversations, and why: the ledger, and the checkpoints they keep."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from agentruntime.models import Thread

VIEW = "audit.view_auditedthread"
VIEW_RAW = "audit.view_raw_state"
REPLAY = "audit.replay_thread"
FORK = "audit.fork_thread"
PROMOTE = "audit.promote_thread"
PRUNE = "audit.prune_checkpoints"
EXPORT = "audit.export_thread"
PIN = "audit.pin_checkpoint"
CORRECT = "audit.correct_label"


class AuditedThread(Thread):
    """A thread as the administration shows it; carries the permissions of everything done there."""

    class Meta:
        proxy = True
        verbose_name = _("thread")
        verbose_name_plural = _("threads")
        default_permissions = ("view",)
        permissions = [
            ("view_raw_state", _("Can read the raw state of a thread")),
            ("replay_thread", _("Can replay a thread in a sandbox")),
            ("fork_thread", _("Can fork a thread into a sandbox")),
            ("promote_thread", _("Can make a fork the live thread")),
            ("prune_checkpoints", _("Can prune checkpoints and erase people's words")),
            ("export_thread", _("Can export a thread as evidence")),
            ("pin_checkpoint", _("Can pin checkpoints")),
            ("correct_label", _("Can correct what a message was taken to be")),
        ]


class Pin(models.Model):
    """A checkpoint that pruning keeps, with all it hangs from, until the pin expires."""

    thread = models.ForeignKey(
        Thread, on_delete=models.CASCADE, related_name="pins", verbose_name=_("thread")
    )
    checkpoint = models.CharField(_("checkpoint"), max_length=60)
    reason = models.CharField(_("reason"), max_length=300)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("pinned by"),
    )
    created_at = models.DateTimeField(_("pinned"), db_default=Now())
    expires_at = models.DateTimeField(_("until"), null=True, blank=True)

    class Meta:
        verbose_name = _("pin")
        verbose_name_plural = _("pins")
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(fields=["thread", "checkpoint"], name="pin_once"),
            models.CheckConstraint(condition=~Q(reason=""), name="pin_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.thread_id} {self.checkpoint}"


class Operation(models.Model):
    """One act of an operator: who, when, why, on what, to what end. Never changed, never deleted.

    The database refuses both (a trigger). `thread` is no foreign key: the ledger outlives what it
    tells of. `by` is None for a command run on the machine.
    """

    class Kind(models.TextChoices):
        READ_RAW = "read_raw", _("Read raw state")
        FORK = "fork", _("Forked")
        SPEAK = "speak", _("Spoke in a sandbox")
        REPLAY = "replay", _("Replayed")
        WHAT_IF = "what_if", _("Tried variants")
        PROMOTE = "promote", _("Made a fork live")
        PIN = "pin", _("Pinned")
        UNPIN = "unpin", _("Unpinned")
        PRUNE = "prune", _("Pruned checkpoints")
        PRUNE_THREADS = "prune_threads", _("Deleted threads")
        ERASE = "erase", _("Erased a person's words")
        EXPORT = "export", _("Exported")
        CORRECT = "correct", _("Corrected a label")
        RETENTION = "retention", _("Changed retention")

    class Outcome(models.TextChoices):
        DONE = "done", _("Done")
        REFUSED = "refused", _("Refused")
        FAILED = "failed", _("Failed")

    at = models.DateTimeField(_("when"), db_default=Now())
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("who"),
    )
    kind = models.CharField(_("what"), max_length=20, choices=Kind.choices)
    thread = models.CharField(_("thread"), max_length=120, db_default="")
    checkpoint = models.CharField(_("from"), max_length=60, db_default="")
    target = models.CharField(_("to"), max_length=120, db_default="")
    reason = models.CharField(_("why"), max_length=300, db_default="")
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome.choices)
    details = models.JSONField(_("details"), db_default=models.Value({}, models.JSONField()))

    class Meta:
        verbose_name = _("operation")
        verbose_name_plural = _("operations")
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["thread", "-id"], name="operation_of_thread"),
            models.Index(fields=["-at"], name="operation_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} · {self.pk}"


class RetentionRule(models.Model):
    """How long an agent's checkpoints and forks are kept; carried out nightly where switched on."""

    agent = models.CharField(_("agent"), max_length=40, unique=True)
    keep_last = models.PositiveIntegerField(
        _("keep the newest"),
        default=50,
        help_text=_("So many checkpoints of a thread stay, however old they are."),
    )
    older_than_days = models.PositiveIntegerField(
        _("keep for days"), default=30, help_text=_("Younger checkpoints stay.")
    )
    sandbox_days = models.PositiveIntegerField(
        _("keep forks for days"),
        default=30,
        help_text=_("Forks, replays and variants nobody touched for longer are deleted."),
    )
    is_on = models.BooleanField(
        _("carried out nightly"), default=False, help_text=_("By one of the server processes.")
    )
    ran_at = models.DateTimeField(_("carried out last"), null=True, editable=False)

    class Meta:
        verbose_name = _("retention rule")
        verbose_name_plural = _("retention rules")
        default_permissions = ()

    def __str__(self) -> str:
        return self.agent


class Correction(models.Model):
    """What a message should have been taken to be, by an administrator: feeds the evaluation."""

    message = models.OneToOneField(
        "agentruntime.Message",
        on_delete=models.CASCADE,
        related_name="correction",
        verbose_name=_("message"),
    )
    was = models.CharField(_("was taken for"), max_length=40)
    label = models.CharField(_("should have been"), max_length=40)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("corrected by"),
    )
    reason = models.CharField(_("reason"), max_length=300)
    at = models.DateTimeField(_("when"), db_default=Now())

    class Meta:
        verbose_name = _("correction")
        verbose_name_plural = _("corrections")
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"{self.message_id} {self.label}"
