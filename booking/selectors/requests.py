"""What waits for somebody: requests for those who decide, check-ins for those who are here."""

from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Exists, OuterRef, QuerySet

from booking.attendance import check_in_window
from booking.models import Booking, Occurrence, Status
from booking.rights import approved_policies

_EARLIEST = timedelta(days=1)
"""No check-in opens longer before its start (policy_deadlines_sane)."""


def requests_for(approver: AbstractBaseUser, *, now: datetime) -> QuerySet[Booking]:
    """The requests that wait for this person's decision, the oldest first, with occurrences."""
    waiting = Occurrence.objects.filter(status=Status.PENDING).blocking(now)
    decided = waiting.filter(room__policy__in=approved_policies(approver).values("pk"))
    others = waiting.exclude(room__policy__in=approved_policies(approver).values("pk"))
    return (
        Booking.objects.filter(
            Exists(decided.filter(booking=OuterRef("pk"))),
            ~Exists(others.filter(booking=OuterRef("pk"))),
        )
        .exclude(organizer_id=approver.pk)
        .with_occurrences()
        .order_by("created_at", "pk")
    )


def due_check_ins(person: AbstractBaseUser, *, now: datetime) -> list[Occurrence]:
    """What the person can check in to now, by start, each with booking and room."""
    booked = (
        Occurrence.objects.filter(
            booking__organizer_id=person.pk, status=Status.BOOKED, ends_at__gt=now
        )
        .blocking(now)
        .with_room()
        .select_related("booking")
        .order_by("during")
    )
    soon = booked.filter(starts_at__lte=now + _EARLIEST)
    return [each for each in soon if check_in_window(each).starts_at <= now]
