"""When rooms cannot be used at all: blackouts of a room, a building or a whole site."""

from typing import Self

from django.conf import settings
from django.contrib.postgres.fields import DateTimeRangeField
from django.contrib.postgres.indexes import GistIndex
from django.db import models
from django.db.models import CheckConstraint, F, Func, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from booking.models.agreements import range_shape, spoken_span
from booking.models.places import Building, Room, Site


class BlackoutQuerySet(models.QuerySet["Blackout"]):
    def in_force(self) -> Self:
        return self.filter(lifted_at__isnull=True)

    def of_room(self, room: Room) -> Self:
        """Those that shut the room (its floor and building are loaded)."""
        building = room.floor.building
        return self.filter(Q(room=room) | Q(building=building) | Q(site=building.site_id))


class Blackout(models.Model):
    """A time in which a room, every room of a building, or of a site, cannot be used."""

    site = models.ForeignKey(
        Site,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="blackouts",
        verbose_name=_("site"),
    )
    building = models.ForeignKey(
        Building,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="blackouts",
        verbose_name=_("building"),
    )
    room = models.ForeignKey(
        Room,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="blackouts",
        verbose_name=_("room"),
    )
    during = DateTimeRangeField(_("during"), default_bounds="[)")
    starts_at = models.GeneratedField(
        expression=Func(F("during"), function="lower"),
        output_field=models.DateTimeField(),
        db_persist=True,
        verbose_name=_("starts"),
    )
    ends_at = models.GeneratedField(
        expression=Func(F("during"), function="upper"),
        output_field=models.DateTimeField(),
        db_persist=True,
        verbose_name=_("ends"),
    )
    reason = models.CharField(
        _("reason"), max_length=200, help_text=_("People are told it; maintenance, an event.")
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("created by"),
    )
    created_at = models.DateTimeField(_("created"), db_default=Now())
    lifted_at = models.DateTimeField(_("lifted"), null=True, blank=True)

    objects = BlackoutQuerySet.as_manager()

    class Meta:
        verbose_name = _("blackout")
        verbose_name_plural = _("blackouts")
        ordering = ["-during"]
        constraints = [
            CheckConstraint(
                condition=Q(site__isnull=False, building__isnull=True, room__isnull=True)
                | Q(site__isnull=True, building__isnull=False, room__isnull=True)
                | Q(site__isnull=True, building__isnull=True, room__isnull=False),
                name="blackout_of_one_place",
                violation_error_message=_("A blackout is of one site, building or room."),
            ),
            *range_shape("blackout", "during"),
        ]
        indexes = [
            GistIndex(
                fields=["during"],
                condition=Q(lifted_at__isnull=True),
                name="blackout_in_force",
            )
        ]

    def __str__(self) -> str:
        return f"{self.place} {spoken_span(self.starts_at, self.ends_at)}"

    @property
    def place(self) -> Site | Building | Room | None:
        return self.room or self.building or self.site
