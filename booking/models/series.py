"""What makes a booking a series: where and when it is by its rule, and the dates it never had."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from booking.models.agreements import Booking
from booking.models.places import Room


class Series(models.Model):
    """The room, the local wall time and the zone by which the rule of a booking gives its dates.

    The rule itself is `Booking.recurrence`. What stands in the occurrences counts: one of them
    may have been moved, and a cancelled one stays cancelled.
    """

    booking = models.OneToOneField(
        Booking,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="series",
        verbose_name=_("booking"),
    )
    room = models.ForeignKey(
        Room, on_delete=models.PROTECT, related_name="+", verbose_name=_("room")
    )
    zone = models.CharField(_("time zone"), max_length=60)
    first = models.DateField(_("first date"))
    start = models.TimeField(_("start"))
    minutes = models.PositiveSmallIntegerField(_("minutes"), validators=[MinValueValidator(1)])

    class Meta:
        verbose_name = _("series")
        verbose_name_plural = _("series")
        constraints = [
            CheckConstraint(condition=Q(minutes__gte=1), name="series_takes_time"),
            CheckConstraint(condition=~Q(zone=""), name="series_has_zone"),
        ]

    def __str__(self) -> str:
        return f"{self.booking_id} {self.booking.recurrence}"


class SeriesException(models.Model):
    """A date of the rule the series does not have: it was skipped. It never comes back."""

    booking = models.ForeignKey(
        Booking, on_delete=models.CASCADE, related_name="exceptions", verbose_name=_("booking")
    )
    date = models.DateField(_("date"))
    rule = models.CharField(
        _("why"), max_length=30, help_text=_("taken, or the rule that did not allow it.")
    )

    class Meta:
        verbose_name = _("skipped date")
        verbose_name_plural = _("skipped dates")
        ordering = ["date"]
        constraints = [
            UniqueConstraint(fields=["booking", "date"], name="series_exception_once_per_date")
        ]

    def __str__(self) -> str:
        return f"{self.date}: {self.rule}"
