"""By which rules rooms are booked: policies with their hours, quotas and grants, special dates."""

from datetime import time

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from booking.models.names import Named


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
    notice_minutes = models.PositiveSmallIntegerField(
        _("notice, minutes"),
        default=0,
        help_text=_(
            "How long before its start a booking is made at the latest; 0: up to the start."
        ),
    )
    one_room_at_a_time = models.BooleanField(
        _("one room at a time"),
        default=False,
        help_text=_("Nobody books one of these rooms while they have another room."),
    )
    needs_approval = models.BooleanField(
        _("needs approval"), default=False, help_text=_("Bookings wait as requests.")
    )
    approval_over_minutes = models.PositiveSmallIntegerField(
        _("approval if longer than, minutes"),
        null=True,
        blank=True,
        help_text=_("Empty: the length alone never asks for approval."),
    )
    series_need_approval = models.BooleanField(_("series need approval"), default=False)
    request_hours = models.PositiveSmallIntegerField(
        _("requests wait, hours"),
        default=24,
        help_text=_("Then they expire; at the latest when the room would have been used."),
    )
    needs_check_in = models.BooleanField(
        _("needs check-in"),
        default=False,
        help_text=_("Rooms whose organizer does not check in are released."),
    )
    check_in_before_minutes = models.PositiveSmallIntegerField(
        _("check-in opens before the start, minutes"), default=15
    )
    check_in_grace_minutes = models.PositiveSmallIntegerField(
        _("released after the start, minutes"), default=15
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
            models.CheckConstraint(
                condition=Q(notice_minutes__lte=20160)
                & Q(request_hours__gte=1)
                & Q(request_hours__lte=2160)
                & Q(check_in_before_minutes__lte=1440)
                & Q(check_in_grace_minutes__gte=1)
                & Q(check_in_grace_minutes__lte=1440),
                name="policy_deadlines_sane",
                violation_error_message=_(
                    "Notice is at most two weeks, requests wait an hour to 90 days, check-in"
                    " opens at most a day before and a room is released after 1 to 1440 minutes."
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Weekday(models.IntegerChoices):
    MONDAY = 1, _("Monday")
    TUESDAY = 2, _("Tuesday")
    WEDNESDAY = 3, _("Wednesday")
    THURSDAY = 4, _("Thursday")
    FRIDAY = 5, _("Friday")
    SATURDAY = 6, _("Saturday")
    SUNDAY = 7, _("Sunday")


class OpeningHours(models.Model):
    """One interval of one weekday in which rooms of a policy may be used."""

    Weekday = Weekday

    policy = models.ForeignKey(
        Policy, on_delete=models.CASCADE, related_name="opening_hours", verbose_name=_("policy")
    )
    weekday = models.PositiveSmallIntegerField(_("weekday"), choices=Weekday.choices)
    opens = models.TimeField(_("opens"))
    closes = models.TimeField(_("closes"), help_text=_("00:00 is the midnight the day ends with."))
    valid_from = models.DateField(
        _("valid from"), null=True, blank=True, help_text=_("Empty: since ever.")
    )
    valid_until = models.DateField(
        _("valid until"), null=True, blank=True, help_text=_("The last day; empty: for good.")
    )

    class Meta:
        verbose_name = _("opening hours")
        verbose_name_plural = _("opening hours")
        ordering = ["weekday", "opens"]
        constraints = [
            models.UniqueConstraint(
                fields=["policy", "weekday", "opens", "valid_from"],
                nulls_distinct=False,
                name="opening_hours_once",
            ),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True)
                | Q(valid_until__isnull=True)
                | Q(valid_until__gte=F("valid_from")),
                name="opening_hours_valid_in_order",
                violation_error_message=_("Opening hours are valid until a day after their first."),
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


class SpecialDate(Named):
    """A local day of a site that is no ordinary weekday: closed, or a make-up working day."""

    site = models.ForeignKey(
        "booking.Site",
        on_delete=models.CASCADE,
        related_name="special_dates",
        verbose_name=_("site"),
    )
    date = models.DateField(_("date"))
    follows_weekday = models.PositiveSmallIntegerField(
        _("opens like a"),
        choices=Weekday.choices,
        null=True,
        blank=True,
        help_text=_("For a make-up working day, the weekday whose hours hold; empty: closed."),
    )

    class Meta:
        verbose_name = _("special date")
        verbose_name_plural = _("holidays and make-up days")
        ordering = ["date"]
        constraints = [
            UniqueConstraint(fields=["site", "date"], name="special_date_once_per_site"),
            CheckConstraint(
                condition=Q(follows_weekday__isnull=True)
                | Q(follows_weekday__gte=1, follows_weekday__lte=7),
                name="special_date_weekday",
            ),
        ]


class Grant(models.Model):
    """A right that a group has in the rooms of a policy.

    Rooms are seen, and booked, by everybody unless some group is granted that right; requesting,
    overriding and approving nobody may unless granted.
    """

    class Right(models.TextChoices):
        SEE = "see", _("See")
        BOOK = "book", _("Book")
        REQUEST = "request", _("Book as a request")
        OVERRIDE = "override", _("Override the rules")
        APPROVE = "approve", _("Approve requests")

    policy = models.ForeignKey(
        Policy, on_delete=models.CASCADE, related_name="grants", verbose_name=_("policy")
    )
    group = models.ForeignKey(
        Group, on_delete=models.CASCADE, related_name="+", verbose_name=_("group")
    )
    right = models.CharField(_("right"), max_length=10, choices=Right.choices)

    class Meta:
        verbose_name = _("grant")
        verbose_name_plural = _("who may do what")
        ordering = ["right", "group"]
        constraints = [
            UniqueConstraint(fields=["policy", "group", "right"], name="grant_once"),
            CheckConstraint(
                condition=Q(right__in=["see", "book", "request", "override", "approve"]),
                name="grant_right_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.group}: {self.get_right_display()}"


class Quota(models.Model):
    """How much one person may book of a policy's rooms in each local day, week or month."""

    class Period(models.TextChoices):
        DAY = "day", _("Day")
        WEEK = "week", _("Week from Monday")
        MONTH = "month", _("Month")

    policy = models.ForeignKey(
        Policy, on_delete=models.CASCADE, related_name="quotas", verbose_name=_("policy")
    )
    period = models.CharField(_("period"), max_length=5, choices=Period.choices)
    max_bookings = models.PositiveIntegerField(
        _("most bookings"), null=True, blank=True, help_text=_("Empty: any number.")
    )
    max_minutes = models.PositiveIntegerField(
        _("most minutes"), null=True, blank=True, help_text=_("Empty: any length.")
    )

    class Meta:
        verbose_name = _("quota")
        verbose_name_plural = _("quotas")
        ordering = ["period"]
        constraints = [
            UniqueConstraint(fields=["policy", "period"], name="quota_once_per_period"),
            CheckConstraint(
                condition=Q(max_bookings__isnull=False) | Q(max_minutes__isnull=False),
                name="quota_limits_something",
                violation_error_message=_("A quota limits the bookings, the minutes or both."),
            ),
            CheckConstraint(
                condition=Q(period__in=["day", "week", "month"]), name="quota_period_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.policy}: {self.get_period_display()}"


class QuotaCounter(models.Model):
    """What one person has used of a quota in one period. Its row is what their bookings queue at.

    The numbers are counted anew from the occurrences whenever the row is held, so that they
    cannot drift from them.
    """

    quota = models.ForeignKey(
        Quota, on_delete=models.CASCADE, related_name="counters", verbose_name=_("quota")
    )
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        verbose_name=_("person"),
    )
    starts_on = models.DateField(_("first day"))
    bookings = models.PositiveIntegerField(_("bookings"), default=0)
    minutes = models.PositiveIntegerField(_("minutes"), default=0)

    class Meta:
        verbose_name = _("quota counter")
        verbose_name_plural = _("quota counters")
        ordering = ["-starts_on"]
        constraints = [
            UniqueConstraint(
                fields=["quota", "person", "starts_on"], name="quota_counter_once_per_period"
            )
        ]

    def __str__(self) -> str:
        return f"{self.person}, {self.quota}, {self.starts_on}"
