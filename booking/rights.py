"""Who may decide on other people's bookings. Reads only."""

from collections.abc import Collection

from django.contrib.auth.models import AbstractBaseUser, PermissionsMixin
from django.db.models import QuerySet

from booking.models import Booking, Grant, Policy, Source


def is_permitted(person: object, permission: str) -> bool:
    """Whether the person has that permission of this app."""
    return isinstance(person, PermissionsMixin) and person.has_perm(f"booking.{permission}")


def may_change(person: AbstractBaseUser, booking: Booking, *, source: str) -> bool:
    """One's own booking; other people's through the administration only, by permission."""
    is_own = booking.organizer_id == person.pk
    return is_own or (source == Source.ADMIN and is_permitted(person, "change_booking"))


def hidden_policies(person: AbstractBaseUser) -> QuerySet[Policy]:
    """The policies whose rooms the person may not see: some may, and they have no right there."""
    mine = Grant.objects.filter(group__user=person.pk).values("policy")
    seen_by_some = Grant.objects.filter(right=Grant.Right.SEE).values("policy")
    return Policy.objects.filter(pk__in=seen_by_some).exclude(pk__in=mine)


def approved_policies(person: AbstractBaseUser) -> QuerySet[Policy]:
    """The policies whose requests the person may decide on."""
    if is_permitted(person, "approve_booking"):
        return Policy.objects.all()
    granted = Grant.objects.filter(right=Grant.Right.APPROVE, group__user=person.pk)
    return Policy.objects.filter(pk__in=granted.values("policy"))


def may_approve(person: AbstractBaseUser, booking: Booking, policies: Collection[int]) -> bool:
    """Whether the person may decide on a request for rooms of these policies; never on their own."""
    if booking.organizer_id == person.pk:
        return False
    return approved_policies(person).filter(pk__in=policies).count() == len(set(policies))
