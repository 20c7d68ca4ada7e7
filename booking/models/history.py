"""What happened to bookings: who did what, through which door, and what it was before."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from agentruntime.models import Effect
from booking.models.agreements import Booking, Occurrence, Source


class BookingChange(models.Model):
    """One act on a booking: who, through which door, what it was and what it became."""

    class Action(models.TextChoices):
        BOOKED = "booked", _("Booked")
        MOVED = "moved", _("Moved")
        AMENDED = "amended", _("Details changed")
        CANCELLED = "cancelled", _("Cancelled")
        APPROVED = "approved", _("Approved")
        REJECTED = "rejected", _("Rejected")
        EXPIRED = "expired", _("Expired")
        CHECKED_IN = "checked_in", _("Checked in")
        RELEASED = "released", _("Released")
        SWAPPED = "swapped", _("Swapped")
        RESTORED = "restored", _("Restored")
        SPLIT = "split", _("Coming dates split off")

    booking = models.ForeignKey(
        Booking, on_delete=models.CASCADE, related_name="changes", verbose_name=_("booking")
    )
    at = models.DateTimeField(_("at"), db_default=Now())
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        null=True,
        blank=True,
        verbose_name=_("by"),
        help_text=_("Empty: nobody, it came by itself."),
    )
    source = models.CharField(_("source"), max_length=10, choices=Source.choices)
    action = models.CharField(_("action"), max_length=10, choices=Action.choices)
    effect = models.ForeignKey(
        Effect,
        on_delete=models.PROTECT,
        related_name="booking_changes",
        null=True,
        blank=True,
        verbose_name=_("effect"),
        help_text=_("What the assistant did it with."),
    )
    before = models.JSONField(_("before"), default=dict)
    after = models.JSONField(_("after"), default=dict)
    reason = models.CharField(_("reason"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("change")
        verbose_name_plural = _("history")
        ordering = ["pk"]
        constraints = [
            CheckConstraint(condition=Q(source__in=Source.values), name="change_source_known"),
            CheckConstraint(
                condition=Q(by__isnull=True, source=Source.SYSTEM)
                | (Q(by__isnull=False) & ~Q(source=Source.SYSTEM)),
                name="change_by_somebody_or_itself",
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.booking_id} · {self.get_action_display()}"

    @staticmethod
    def picture(occurrence: Occurrence) -> dict[str, Any]:
        """An occurrence as the history keeps it: plain JSON, instants in UTC."""
        return {
            "occurrence": occurrence.pk,
            "room": occurrence.room.code,
            "starts_at": occurrence.starts_at.isoformat(),
            "ends_at": occurrence.ends_at.isoformat(),
            "status": str(occurrence.status),
        }
