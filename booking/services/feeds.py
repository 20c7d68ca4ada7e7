"""Giving a calendar program a secret address, and taking it back."""

from datetime import datetime

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from booking.models import CalendarFeed


@transaction.atomic
def issue_feed(person: AbstractBaseUser, *, now: datetime) -> CalendarFeed:
    """A new address; the one before stops to work."""
    get_user_model()._default_manager.select_for_update(no_key=True).get(pk=person.pk)
    revoke_feed(person, now=now)
    return CalendarFeed.objects.create(person_id=person.pk)


def revoke_feed(person: AbstractBaseUser, *, now: datetime) -> int:
    """End the person's address, if there is one; how many."""
    in_force = CalendarFeed.objects.filter(person=person.pk, revoked_at__isnull=True)
    return in_force.update(revoked_at=now)
