"""What the portal's templates ask for: the status that counts now, and who decides on requests."""

from typing import Any

from django import template
from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone

from booking.models import Occurrence
from booking.rights import approved_policies

register = template.Library()


@register.inclusion_tag("booking/status.html")
def status(occurrence: Occurrence) -> dict[str, Any]:
    """The badge of an occurrence: a request that ran out is expired before any chore says so."""
    return {"status": occurrence.status_at(timezone.now())}


@register.filter
def decides(user: User | AnonymousUser) -> bool:
    """Whether the person decides on requests at all."""
    return isinstance(user, User) and approved_policies(user).exists()
