"""Putting mail about a change into the outbox, in the change's own transaction."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet

from booking.models import BookingChange, Grant, Mail, Status

SILENT = frozenset({BookingChange.Action.CHECKED_IN, BookingChange.Action.SPLIT})
"""Changes nobody has to be told of: they did it themselves, or another change tells it."""


def enqueue(change: BookingChange) -> None:
    """A calendar message to the organizer, and where something now waits, word to who decides."""
    if change.action in SILENT:
        return
    mails = []
    if _is_reachable(change.booking.organizer):
        mails.append((change.booking.organizer_id, Mail.Purpose.CALENDAR))
    if any(each.get("status") == Status.PENDING for each in _pictures(change.after)):
        mails += [(pk, Mail.Purpose.REQUEST) for pk in _approvers(change)]
    Mail.objects.bulk_create(
        [
            Mail(change=change, booking=change.booking, recipient_id=pk, purpose=purpose)
            for pk, purpose in mails
        ]
    )


def _pictures(after: object) -> Iterable[dict[str, object]]:
    return after if isinstance(after, list) else ()


def _is_reachable(person: object) -> bool:
    return bool(getattr(person, "email", "") and getattr(person, "is_active", False))


def _approvers(change: BookingChange) -> QuerySet[Any, int]:
    """Who was granted the decision on one of the rooms, but not on their own booking."""
    policies = change.booking.occurrences.filter(status=Status.PENDING).values("room__policy")
    groups = Grant.objects.filter(right=Grant.Right.APPROVE, policy__in=policies).values("group")
    people = get_user_model()._default_manager.filter(
        ~Q(email=""), is_active=True, groups__in=groups
    )
    return people.exclude(pk=change.booking.organizer_id).distinct().values_list("pk", flat=True)
