"""Bookings and uses of rooms, by person."""

from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from booking.models import ACTIVE_STATUSES, Booking, BookingChange, Occurrence, Status
from booking.rights import may_approve
from booking.visibility import may_see


def bookings_of(
    user: AbstractBaseUser,
    *,
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    only_active: bool = True,
    now: datetime | None = None,
) -> QuerySet[Booking]:
    """A person's bookings with an occurrence in `[starts_at, ends_at)`, by their first start in it.

    Each booking's `occurrences.all()`, and with it `.occurrence`, `.room`, `.starts_at`, `.status`,
    hold only the occurrences asked for. An open side is None. `now` is the clock's by default.
    """
    now = now or timezone.now()
    condition = Q(occurrences__during__overlap=(starts_at, ends_at))
    chosen = Occurrence.objects.within(starts_at, ends_at)
    if only_active:
        condition &= Q(occurrences__status__in=ACTIVE_STATUSES)
        condition &= Q(occurrences__lapses_at__isnull=True) | Q(occurrences__lapses_at__gt=now)
        chosen = chosen.blocking(now)
    has_some = Exists(chosen.filter(booking=OuterRef("pk")))
    mine = Booking.objects.of(user).filter(has_some).with_occurrences(chosen)
    return mine.in_order(condition)


def occurrences_of(
    user: AbstractBaseUser,
    *,
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    only_active: bool = True,
    now: datetime | None = None,
) -> QuerySet[Occurrence]:
    """A person's uses of rooms in `[starts_at, ends_at)` by start, each with booking and room."""
    mine = (
        Occurrence.objects.filter(booking__organizer_id=user.pk)
        .within(starts_at, ends_at)
        .with_room()
        .select_related("booking__organizer")
        .order_by("during", "pk")
    )
    return mine.blocking(now or timezone.now()) if only_active else mine


def booking_of(user: AbstractBaseUser, booking_id: int) -> Booking | None:
    """One booking of this person with all its occurrences; absent and another's look the same."""
    return Booking.objects.of(user).with_occurrences().filter(pk=booking_id).first()


def visible_booking(viewer: AbstractBaseUser, booking_id: int) -> Booking | None:
    """A booking the viewer may see: `may_see`, or decides on as a request. With all occurrences.

    Absent and hidden look the same.
    """
    booking = Booking.objects.with_occurrences().filter(pk=booking_id).first()
    if booking is None:
        return None
    return booking if may_see(booking, viewer) or decides_on(viewer, booking) else None


def decides_on(person: AbstractBaseUser, booking: Booking) -> bool:
    """Whether it waits for a decision that is the person's to take. Occurrences are loaded."""
    waiting = [each for each in booking.occurrences.all() if each.status == Status.PENDING]
    policies = {each.room.policy_id for each in waiting}
    return bool(waiting) and may_approve(person, booking, policies)


def history_of(booking: Booking, viewer: AbstractBaseUser) -> list[BookingChange]:
    """Everything that happened to it, in order; nothing for whom it is hidden from."""
    if not may_see(booking, viewer):
        return []
    return list(booking.changes.select_related("by").order_by("pk"))
