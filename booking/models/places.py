"""Where people meet and by which rules: sites down to rooms, policies, profiles."""

from datetime import time
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

LANGUAGE_CHOICES = [("en", "English"), ("zh-hans", "简体中文")]


class Named(models.Model):
    """Something with a name in both languages, shown in the reader's."""

    name_en = models.CharField(_("English name"), max_length=100)
    name_zh = models.CharField(_("Chinese name"), max_length=100)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name_zh if (get_language() or "").startswith("zh") else self.name_en


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


class ClosedDate(Named):
    """A local day on which a whole site is closed, whatever the weekday's opening hours say."""

    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="closed_dates", verbose_name=_("site")
    )
    date = models.DateField(_("date"))

    class Meta:
        verbose_name = _("closed date")
        verbose_name_plural = _("closed dates")
        ordering = ["date"]
        constraints = [
            models.UniqueConstraint(fields=["site", "date"], name="closed_date_once_per_site")
        ]


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


class Policy(models.Model):
    """The rules of a group of rooms; times are wall-clock times of the room's site."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    min_minutes = models.PositiveSmallIntegerField(_("shortest booking, minutes"), default=15)
    max_minutes = models.PositiveSmallIntegerField(_("longest booking, minutes"), default=240)
    grid_minutes = models.PositiveSmallIntegerField(
        _("grid, minutes"), default=15, help_text=_("Starts and ends fall on multiples of it.")
    )
    horizon_days = models.PositiveSmallIntegerField(
        _("horizon, days"), default=90, help_text=_("How far ahead a booking may start.")
    )
    grace_minutes = models.PositiveSmallIntegerField(
        _("grace, minutes"),
        default=15,
        help_text=_("How long after its start a slot may still be booked (“right now”)."),
    )
    buffer_before_minutes = models.PositiveSmallIntegerField(
        _("buffer before, minutes"), default=0, help_text=_("Kept free before each booking.")
    )
    buffer_after_minutes = models.PositiveSmallIntegerField(
        _("buffer after, minutes"), default=0, help_text=_("Kept free after each booking.")
    )
    needs_approval = models.BooleanField(
        _("needs approval"), default=False, help_text=_("Bookings wait as requests.")
    )

    class Meta:
        verbose_name = _("policy")
        verbose_name_plural = _("policies")
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(min_minutes__gte=1)
                & Q(max_minutes__gte=F("min_minutes"))
                & Q(max_minutes__lte=1440),
                name="policy_duration_sane",
                violation_error_message=_(
                    "The longest booking is at least the shortest and at most a day."
                ),
            ),
            models.CheckConstraint(
                condition=Q(grid_minutes__in=[1, 5, 10, 15, 20, 30, 60]),
                name="policy_grid_divides_hour",
                violation_error_message=_("The grid divides an hour: 1, 5, 10, 15, 20, 30 or 60."),
            ),
            models.CheckConstraint(
                condition=Q(horizon_days__lte=1100)
                & Q(grace_minutes__lte=1440)
                & Q(buffer_before_minutes__lte=1440)
                & Q(buffer_after_minutes__lte=1440),
                name="policy_reach_sane",
                violation_error_message=_(
                    "The horizon is at most three years, grace and buffers at most a day."
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class OpeningHours(models.Model):
    """One interval of one weekday in which rooms of a policy may be used."""

    class Weekday(models.IntegerChoices):
        MONDAY = 1, _("Monday")
        TUESDAY = 2, _("Tuesday")
        WEDNESDAY = 3, _("Wednesday")
        THURSDAY = 4, _("Thursday")
        FRIDAY = 5, _("Friday")
        SATURDAY = 6, _("Saturday")
        SUNDAY = 7, _("Sunday")

    policy = models.ForeignKey(
        Policy, on_delete=models.CASCADE, related_name="opening_hours", verbose_name=_("policy")
    )
    weekday = models.PositiveSmallIntegerField(_("weekday"), choices=Weekday.choices)
    opens = models.TimeField(_("opens"))
    closes = models.TimeField(_("closes"), help_text=_("00:00 is the midnight the day ends with."))

    class Meta:
        verbose_name = _("opening hours")
        verbose_name_plural = _("opening hours")
        ordering = ["weekday", "opens"]
        constraints = [
            models.UniqueConstraint(
                fields=["policy", "weekday", "opens"], name="opening_hours_once"
            ),
            models.CheckConstraint(
                condition=Q(weekday__gte=1) & Q(weekday__lte=7), name="opening_hours_weekday"
            ),
            models.CheckConstraint(
                condition=Q(closes__gt=F("opens")) | Q(closes=time(0)),
                name="opening_hours_not_empty",
                violation_error_message=_("A room closes after it opens."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_weekday_display()} {self.opens:%H:%M}-{self.closes:%H:%M}"


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
