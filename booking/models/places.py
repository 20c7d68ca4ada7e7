"""Where people meet: sites down to rooms, and the profiles of people."""

from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from booking.models.names import Named
from booking.models.rules import Policy

LANGUAGE_CHOICES = [("en", "English"), ("zh-hans", "简体中文")]


class Site(Named):
    time_zone = models.CharField(
        _("time zone"),
        max_length=60,
        help_text=_("IANA name, for example Asia/Shanghai; opening hours are local to it."),
    )

    class Meta:
        verbose_name = _("site")
        verbose_name_plural = _("sites")

    def clean(self) -> None:
        if self.time_zone not in available_timezones():
            message = _("“%(name)s” is no IANA time zone.")
            raise ValidationError(
                {"time_zone": ValidationError(message, params={"name": self.time_zone})}
            )

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)


class Building(Named):
    site = models.ForeignKey(
        Site, on_delete=models.PROTECT, related_name="buildings", verbose_name=_("site")
    )
    code = models.CharField(_("code"), max_length=10, help_text=_("What people call it: A."))

    class Meta:
        verbose_name = _("building")
        verbose_name_plural = _("buildings")
        ordering = ["code"]
        constraints = [
            models.UniqueConstraint(fields=["site", "code"], name="building_code_once_per_site"),
            models.CheckConstraint(condition=~Q(code=""), name="building_has_code"),
        ]


class Floor(models.Model):
    building = models.ForeignKey(
        Building, on_delete=models.PROTECT, related_name="floors", verbose_name=_("building")
    )
    number = models.SmallIntegerField(_("number"))

    class Meta:
        verbose_name = _("floor")
        verbose_name_plural = _("floors")
        ordering = ["building__code", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["building", "number"], name="floor_number_once_per_building"
            )
        ]

    def __str__(self) -> str:
        return f"{self.building.code} {self.number}F"


class Feature(Named):
    code = models.SlugField(_("code"), unique=True, help_text=_("For programs: video_conference."))

    class Meta:
        verbose_name = _("feature")
        verbose_name_plural = _("features")
        ordering = ["code"]


class Room(Named):
    floor = models.ForeignKey(
        Floor, on_delete=models.PROTECT, related_name="rooms", verbose_name=_("floor")
    )
    code = models.CharField(_("code"), max_length=20, unique=True)
    aliases = ArrayField(
        models.CharField(max_length=60),
        verbose_name=_("aliases"),
        default=list,
        blank=True,
        help_text=_("Other names people use, separated by commas."),
    )
    seats = models.PositiveIntegerField(
        _("seats"), validators=[MinValueValidator(1), MaxValueValidator(100_000)]
    )
    features = models.ManyToManyField(Feature, blank=True, verbose_name=_("features"))
    policy = models.ForeignKey(
        Policy, on_delete=models.PROTECT, related_name="rooms", verbose_name=_("policy")
    )
    needs_approval = models.BooleanField(
        _("needs approval"),
        default=False,
        help_text=_("Bookings of this room wait as requests, whatever its policy says."),
    )
    is_active = models.BooleanField(
        _("active"), default=True, help_text=_("Inactive rooms are neither offered nor booked.")
    )

    class Meta:
        verbose_name = _("room")
        verbose_name_plural = _("rooms")
        ordering = ["code"]
        constraints = [
            models.CheckConstraint(condition=Q(seats__gte=1), name="room_has_seats"),
            models.CheckConstraint(condition=~Q(code=""), name="room_has_code"),
        ]

    def __str__(self) -> str:
        name = super().__str__()
        return self.code if name == self.code else f"{self.code} {name}"


class RoomPhoto(models.Model):
    """A room's photo, beside the room: whoever reads rooms reads no pictures.

    Kept in the database: every server has it, and so does every backup.
    """

    room = models.OneToOneField(
        Room,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="photo",
        verbose_name=_("room"),
    )
    content = models.BinaryField(_("content"))
    digest = models.CharField(_("digest"), max_length=64)
    width = models.PositiveIntegerField(_("width"))
    height = models.PositiveIntegerField(_("height"))

    class Meta:
        verbose_name = _("photo")
        verbose_name_plural = _("photos")

    def __str__(self) -> str:
        return str(self.room)


class Profile(models.Model):
    """What Roomwise knows of a person beyond the account: the home building and the language."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="profile",
        verbose_name=_("user"),
    )
    building = models.ForeignKey(
        Building,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("home building"),
        help_text=_("Its rooms are offered first."),
    )
    language = models.CharField(
        _("language"),
        max_length=10,
        choices=LANGUAGE_CHOICES,
        blank=True,
        help_text=_("Empty: as the browser asks."),
    )

    class Meta:
        verbose_name = _("profile")
        verbose_name_plural = _("profiles")
        constraints = [
            models.CheckConstraint(
                condition=Q(language__in=["", *(code for code, _name in LANGUAGE_CHOICES)]),
                name="profile_language_known",
            )
        ]

    def __str__(self) -> str:
        return str(self.user)
