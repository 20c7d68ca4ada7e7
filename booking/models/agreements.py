"""Who uses which room when: bookings, and the occurrences that block rooms."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.contrib.postgres.functions import RandomUUID
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import BooleanField, CheckConstraint, F, Func, Min, Prefetch, Q
from django.db.models.functions import Now
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from agentruntime.models import Effect
from booking.models.places import Room

TITLE_LENGTH = 200
KEY_LENGTH = 200


class Status(models.TextChoices):
    """Where an occurrence stands; the first four block their room."""

    HELD = "held", _("Held")
    PENDING = "pending", _("Waiting for approval")
    BOOKED = "booked", _("Booked")
    CHECKED_IN = "checked_in", _("Checked in")
    COMPLETED = "completed", _("Completed")
    CANCELLED = "cancelled", _("Cancelled")
    REJECTED = "rejected", _("Rejected")
    EXPIRED = "expired", _("Expired")
    RELEASED = "released", _("Released")


ACTIVE_STATUSES = (Status.HELD, Status.PENDING, Status.BOOKED, Status.CHECKED_IN)


class Visibility(models.TextChoices):
    PUBLIC = "public", _("Public")
    PRIVATE = "private", _("Private")


class Source(models.TextChoices):
    """The door a booking or a change came through."""

    CHAT = "chat", _("Assistant")
    PORTAL = "portal", _("Portal")
    ADMIN = "admin", _("Administration")
    API = "api", _("API")
    CALENDAR = "calendar", _("Calendar")
    SYSTEM = "system", _("By itself")


DOORS = tuple(each for each in Source if each != Source.SYSTEM)
"""The doors people come through."""


def spoken_span(starts_at: datetime, ends_at: datetime) -> str:
    """`2026-12-01 15:00-16:00` in the active time zone; the day of the end only if it is another."""
    first, last = localtime(starts_at), localtime(ends_at)
    end = f"{last:%H:%M}" if first.date() == last.date() else f"{last:%Y-%m-%d %H:%M}"
    return f"{first:%Y-%m-%d %H:%M}-{end}"


def spoken_instant(instant: datetime) -> str:
    """`2026-12-01 15:00` in the active time zone."""
    return f"{localtime(instant):%Y-%m-%d %H:%M}"


class BookingQuerySet(models.QuerySet["Booking"]):
    def of(self, organizer: AbstractBaseUser) -> Self:
        return self.filter(organizer_id=organizer.pk)

    def with_occurrences(self, occurrences: "OccurrenceQuerySet | None" = None) -> Self:
        """Load the given occurrences (all of them by default) with rooms and buildings."""
        chosen = Occurrence.objects.all() if occurrences is None else occurrences
        return self.select_related("organizer").prefetch_related(
            Prefetch("occurrences", queryset=chosen.with_room().order_by("during"))
        )

    def in_order(self, condition: Q | None = None) -> Self:
        """Order by the first start among the occurrences that meet `condition`."""
        first = Min("occurrences__starts_at", filter=condition)
        return self.annotate(first_start=first).order_by("first_start", "pk")


class Booking(models.Model):
    """The agreement that somebody may use a room; its occurrences say when and where."""

    organizer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="bookings",
        verbose_name=_("organizer"),
    )
    title = models.CharField(_("title"), max_length=TITLE_LENGTH, blank=True)
    visibility = models.CharField(
        _("visibility"),
        max_length=10,
        choices=Visibility.choices,
        default=Visibility.PUBLIC,
        help_text=_("Others see a private booking only as a busy room."),
    )
    headcount = models.PositiveIntegerField(_("headcount"), validators=[MinValueValidator(1)])
    recurrence = models.CharField(
        _("recurrence"),
        max_length=200,
        blank=True,
        help_text=_("RFC 5545 rule of a series; empty for a single booking."),
    )
    source = models.CharField(_("source"), max_length=10, choices=Source.choices)
    effect = models.ForeignKey(
        Effect,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="bookings",
        verbose_name=_("effect"),
        help_text=_("What the assistant did to make this booking, and in which conversation."),
    )
    continues = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="continued_by",
        verbose_name=_("continues"),
        help_text=_("The series whose coming dates were changed and became this one."),
    )
    calendar_uid = models.UUIDField(
        _("calendar identity"), db_default=RandomUUID(), unique=True, editable=False
    )
    idempotency_key = models.CharField(_("idempotency key"), max_length=KEY_LENGTH)
    request_digest = models.CharField(
        _("request digest"),
        max_length=64,
        help_text=_("Of the first request, to tell a resend from another request."),
    )
    version = models.PositiveIntegerField(_("version"), default=1)
    created_at = models.DateTimeField(_("created"), db_default=Now())
    updated_at = models.DateTimeField(_("updated"), db_default=Now())

    objects = BookingQuerySet.as_manager()

    class Meta:
        verbose_name = _("booking")
        verbose_name_plural = _("bookings")
        ordering = ["-pk"]
        permissions = [
            ("view_private_booking", _("Can see who has a private booking and why")),
            ("approve_booking", _("Can decide on every request")),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["organizer", "idempotency_key"], name="booking_once_per_key"
            ),
            CheckConstraint(condition=Q(headcount__gte=1), name="booking_headcount_positive"),
            CheckConstraint(condition=Q(version__gte=1), name="booking_version_positive"),
            CheckConstraint(condition=~Q(idempotency_key=""), name="booking_has_key"),
            CheckConstraint(condition=Q(source__in=DOORS), name="booking_source_known"),
            CheckConstraint(
                condition=Q(visibility__in=Visibility.values), name="booking_visibility_known"
            ),
            CheckConstraint(
                condition=~Q(source=Source.CHAT) | Q(effect__isnull=False),
                name="booking_chat_has_effect",
                violation_error_message=_("A booking made by the assistant names its effect."),
            ),
        ]

    def __str__(self) -> str:
        # Without its title: this is what logs and lists call it, and it may be private.
        return f"#{self.pk}"

    @property
    def occurrence(self) -> "Occurrence":
        """The single occurrence; of a series, the first of those that were loaded."""
        return min(self.occurrences.all(), key=lambda occurrence: occurrence.starts_at)

    @property
    def is_series(self) -> bool:
        return bool(self.recurrence)

    @property
    def room(self) -> Room:
        return self.occurrence.room

    @property
    def starts_at(self) -> datetime:
        instant: datetime = self.occurrence.starts_at
        return instant

    @property
    def ends_at(self) -> datetime:
        instant: datetime = self.occurrence.ends_at
        return instant

    @property
    def status(self) -> str:
        return self.occurrence.status


class OccurrenceQuerySet(models.QuerySet["Occurrence"]):
    def active(self) -> Self:
        """Those whose status blocks their room."""
        return self.filter(status__in=ACTIVE_STATUSES)

    def blocking(self, now: datetime) -> Self:
        """Those that block their room at `now`: active, and not lapsed since."""
        return self.active().exclude(lapses_at__lte=now)

    def lapsed(self, now: datetime) -> Self:
        """Those that have stopped to count by themselves, though no row says so yet."""
        return self.active().filter(lapses_at__lte=now)

    def within(self, starts_at: datetime | None, ends_at: datetime | None) -> Self:
        """Those that share an instant with `[starts_at, ends_at)`; None leaves a side open."""
        return self.filter(during__overlap=(starts_at, ends_at))

    def with_room(self) -> Self:
        return self.select_related("room__floor__building__site", "room__policy")


def range_shape(table: str, name: str) -> list[models.BaseConstraint]:
    """`[)`, not empty, with two finite ends: the only ranges this system has."""
    return [
        CheckConstraint(
            condition=Q(
                **{
                    f"{name}__isempty": False,
                    f"{name}__lower_inc": True,
                    f"{name}__upper_inc": False,
                    f"{name}__lower_inf": False,
                    f"{name}__upper_inf": False,
                }
            ),
            name=f"{table}_{name}_half_open",
        ),
        CheckConstraint(
            condition=Q(_finite(Func(F(name), function="lower")))
            & Q(_finite(Func(F(name), function="upper"))),
            name=f"{table}_{name}_finite",
        ),
    ]


def _finite(instant: Func) -> Func:
    return Func(instant, function="isfinite", output_field=BooleanField())


class Occurrence(models.Model):
    """One use of one room, `[starts_at, ends_at)`; while active it blocks the room.

    `blocked` is `during` widened by the buffers its policy had when it was booked.
    """

    booking = models.ForeignKey(
        Booking, on_delete=models.CASCADE, related_name="occurrences", verbose_name=_("booking")
    )
    room = models.ForeignKey(
        Room, on_delete=models.PROTECT, related_name="occurrences", verbose_name=_("room")
    )
    during = DateTimeRangeField(_("during"), default_bounds="[)")
    blocked = DateTimeRangeField(_("blocked"), default_bounds="[)")
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
    status = models.CharField(_("status"), max_length=10, choices=Status.choices)
    recurrence_date = models.DateField(
        _("date in the series"),
        null=True,
        blank=True,
        help_text=_("The local day the rule gave; it stays when this occurrence is moved."),
    )
    is_shifted = models.BooleanField(
        _("shifted"),
        db_default=False,
        help_text=_("The clocks skip its wall time that day, and it starts that much later."),
    )
    lapses_at = models.DateTimeField(
        _("lapses"),
        null=True,
        blank=True,
        help_text=_(
            "When it stops to count by itself: a request nobody decided, a room nobody uses."
        ),
    )
    checked_in_at = models.DateTimeField(_("checked in"), null=True, blank=True)

    objects = OccurrenceQuerySet.as_manager()

    class Meta:
        verbose_name = _("occurrence")
        verbose_name_plural = _("occurrences")
        ordering = ["during", "pk"]
        constraints = [
            ExclusionConstraint(
                name="occurrence_room_free",
                expressions=[
                    ("room", RangeOperators.EQUAL),
                    ("blocked", RangeOperators.OVERLAPS),
                ],
                condition=Q(status__in=ACTIVE_STATUSES),
                deferrable=models.Deferrable.IMMEDIATE,
                violation_error_message=_("The room is taken at that time."),
            ),
            *range_shape("occurrence", "during"),
            *range_shape("occurrence", "blocked"),
            CheckConstraint(
                condition=Q(blocked__contains=F("during")), name="occurrence_blocked_covers"
            ),
            CheckConstraint(condition=Q(status__in=Status.values), name="occurrence_status_known"),
            CheckConstraint(
                condition=~Q(status=Status.CHECKED_IN) | Q(lapses_at__isnull=True),
                name="occurrence_checked_in_stays",
            ),
            models.UniqueConstraint(
                fields=["booking", "recurrence_date"],
                nulls_distinct=False,
                name="occurrence_once_per_date",
            ),
        ]
        # A room's diary is read through the exclusion constraint's own gist index.
        indexes = [
            models.Index(fields=["starts_at"], name="occurrence_starts"),
            models.Index(
                fields=["lapses_at"],
                condition=Q(status__in=ACTIVE_STATUSES, lapses_at__isnull=False),
                name="occurrence_lapses",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.room.code} {spoken_span(self.starts_at, self.ends_at)}"

    @property
    def is_active(self) -> bool:
        return self.status in ACTIVE_STATUSES

    @property
    def needs_check_in(self) -> bool:
        """Whether the room is released unless its organizer checks in."""
        return self.status == Status.BOOKED and self.lapses_at is not None

    def has_lapsed(self, now: datetime) -> bool:
        return self.is_active and self.lapses_at is not None and self.lapses_at <= now

    def blocks(self, now: datetime) -> bool:
        """Whether it blocks its room at `now`, or will."""
        return self.is_active and not self.has_lapsed(now)

    def status_at(self, now: datetime) -> Status:
        """What to show: what lapsed or ended is so at once, whoever writes it down when."""
        status = Status(self.status)
        if self.has_lapsed(now):
            return lapsed_status(status)
        return Status.COMPLETED if self.is_active and self.ends_at <= now else status


def lapsed_status(status: Status) -> Status:
    """What an active status becomes when it lapses."""
    return Status.RELEASED if status == Status.BOOKED else Status.EXPIRED
