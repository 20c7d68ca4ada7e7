"""What leaves the house: mail that waits to be sent, and the secret addresses of calendar feeds."""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from booking.models.agreements import Booking
from booking.models.history import BookingChange


def new_token() -> str:
    """256 bits nobody guesses, fit for an address."""
    return secrets.token_urlsafe(32)


class Mail(models.Model):
    """One message to one person about one change, written in the change's own transaction.

    What it says is composed when it is sent, from the booking as it is then.
    """

    class Purpose(models.TextChoices):
        CALENDAR = "calendar", _("Calendar")
        REQUEST = "request", _("Request to decide on")

    class Status(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        SENT = "sent", _("Sent")
        SUPERSEDED = "superseded", _("Superseded by a newer one")
        FAILED = "failed", _("Given up")

    change = models.ForeignKey(
        BookingChange, on_delete=models.CASCADE, related_name="mails", verbose_name=_("change")
    )
    booking = models.ForeignKey(
        Booking, on_delete=models.CASCADE, related_name="mails", verbose_name=_("booking")
    )
    recipient = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        verbose_name=_("recipient"),
    )
    purpose = models.CharField(_("purpose"), max_length=10, choices=Purpose.choices)
    status = models.CharField(
        _("status"), max_length=10, choices=Status.choices, default=Status.WAITING
    )
    created_at = models.DateTimeField(_("created"), db_default=Now())
    due_at = models.DateTimeField(_("due"), db_default=Now())
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    sent_at = models.DateTimeField(_("sent"), null=True, blank=True)
    error = models.CharField(_("last error"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("mail")
        verbose_name_plural = _("outbox")
        ordering = ["-pk"]
        constraints = [
            UniqueConstraint(
                fields=["change", "recipient", "purpose"], name="mail_once_per_change"
            ),
            CheckConstraint(
                condition=Q(status__in=["waiting", "sent", "superseded", "failed"]),
                name="mail_status_known",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(status="waiting"), name="mail_due"),
            models.Index(fields=["booking", "recipient", "purpose", "-id"], name="mail_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.get_purpose_display()} {self.booking_id}"


class CalendarFeed(models.Model):
    """The secret part of the address under which a calendar program reads a person's bookings."""

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="calendar_feeds",
        verbose_name=_("person"),
    )
    token = models.CharField(_("token"), max_length=64, unique=True, default=new_token)
    created_at = models.DateTimeField(_("created"), db_default=Now())
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)

    class Meta:
        verbose_name = _("calendar feed")
        verbose_name_plural = _("calendar feeds")
        ordering = ["-pk"]
        constraints = [
            UniqueConstraint(
                fields=["person"],
                condition=Q(revoked_at__isnull=True),
                name="calendar_feed_one_in_force",
            )
        ]

    def __str__(self) -> str:
        return f"{self.person}"
