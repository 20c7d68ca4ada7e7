"""Who may read what a booking is about. Every output asks here: pages, API, feeds, mail, chat, admin.

That a room is busy everybody may know. Title, organizer and headcount of a private booking are its
organizer's, and of those with the permission to see private bookings.
"""

from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Permission
from django.db.models import Exists, Q, QuerySet

from booking.models import Booking, Visibility
from booking.rights import is_permitted

PERMISSION = "view_private_booking"

Viewer = AbstractBaseUser | AnonymousUser


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A booking as somebody may see it; nothing but a busy room if `is_masked`."""

    booking: int | None
    title: str
    organizer: str
    headcount: int | None
    is_masked: bool


MASKED = Seen(booking=None, title="", organizer="", headcount=None, is_masked=True)


def is_hidden(
    *, visibility: str, organizer: int, viewer: Viewer | None, sees_private: bool | None = None
) -> bool:
    """Whether what a booking is about is hidden from the viewer. The one rule.

    `sees_private`: whether the viewer has the permission, where that is known already.
    """
    if visibility == Visibility.PUBLIC:
        return False
    if viewer is None or viewer.pk is None:
        return True
    if viewer.pk == organizer:
        return False
    return not (is_permitted(viewer, PERMISSION) if sees_private is None else sees_private)


def may_see(booking: Booking, viewer: Viewer | None) -> bool:
    return not is_hidden(
        visibility=booking.visibility, organizer=booking.organizer_id, viewer=viewer
    )


def seen(booking: Booking, viewer: Viewer | None, *, decides: bool = False) -> Seen:
    """The booking (its organizer is loaded) as the viewer may see it.

    `decides`: the viewer has to decide on it as a request, and sees what it is about.
    """
    if not decides and not may_see(booking, viewer):
        return MASKED
    organizer = booking.organizer
    return Seen(
        booking=booking.pk,
        title=booking.title,
        organizer=organizer.get_full_name() or organizer.get_username(),
        headcount=booking.headcount,
        is_masked=False,
    )


def visible_to(viewer: Viewer) -> Q:
    """The condition on bookings that `may_see` is; for lists and searches."""
    if is_permitted(viewer, PERMISSION):
        return Q()
    return Q(visibility=Visibility.PUBLIC) | Q(organizer=viewer.pk)


def permission_of(viewer: Viewer) -> Exists:
    """Whether the viewer was given the permission, as part of another query."""
    given: QuerySet[Permission] = Permission.objects.filter(
        Q(user=viewer.pk) | Q(group__user=viewer.pk),
        content_type__app_label="booking",
        codename=PERMISSION,
    )
    return Exists(given)
