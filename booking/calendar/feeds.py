"""Calendars under secret addresses: a person's own bookings, and a room as that person may see it."""

from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _
from django.utils.translation import override
from icalendar import Event

from booking import closures, diary
from booking.calendar import ics
from booking.calendar.ics import Invitation
from booking.intervals import Interval
from booking.models import Blackout, Booking, CalendarFeed, Occurrence, Profile, Room
from booking.policies import Access
from booking.storable import is_storable
from booking.visibility import seen

BEFORE, AFTER = timedelta(days=31), timedelta(days=400)
"""How much of the past and of the future a feed shows."""


def reader_of(token: str) -> AbstractBaseUser | None:
    """Whose address it is; None for one that never was, was revoked, or whose person has left."""
    if not is_storable(token):
        return None
    feed = (
        CalendarFeed.objects.filter(token=token, revoked_at__isnull=True, person__is_active=True)
        .select_related("person")
        .first()
    )
    return None if feed is None else feed.person


def person_feed(person: AbstractBaseUser, *, now: datetime) -> bytes:
    """Everything the person has booked, from a month ago on, in their language."""
    recent = Occurrence.objects.filter(
        booking=OuterRef("pk"), ends_at__gt=now - BEFORE, starts_at__lt=now + AFTER
    )
    mine = (
        Booking.objects.of(person)
        .filter(Exists(recent))
        .with_occurrences()
        .select_related("series")
        .order_by("pk")
    )
    with override(language_of(person)):
        events = [
            event
            for booking in mine
            for event in ics.events_of(
                booking,
                Invitation(sequence=booking.version - 1, stamp=booking.updated_at, now=now),
            )
        ]
        return ics.calendar("PUBLISH", events, name=_("My rooms"))


def room_feed(code: str, *, viewer: AbstractBaseUser, now: datetime) -> bytes | None:
    """What is in a room, as the viewer may see it; None for a room that is not for them."""
    active = diary.rooms().filter(is_active=True)
    room = active.filter(code=code).first() if is_storable(code) else None
    if room is None:
        return None
    regime = diary.regimes({room.policy_id}, user=viewer, now=now)[room.policy_id]
    if regime.access is Access.NONE:
        return None
    around = Interval(now - BEFORE, now + AFTER)
    uses = (
        Occurrence.objects.blocking(now)
        .filter(room=room)
        .within(around.starts_at, around.ends_at)
        .select_related("booking__organizer")
        .order_by("during")
    )
    with override(language_of(viewer)):
        events = [_use(each, viewer) for each in uses]
        events += [_shut(each, room) for each in closures.blackouts_of(room, around)]
        return ics.calendar("PUBLISH", events, name=str(room))


def language_of(person: AbstractBaseUser) -> str:
    """The person's language, by the profile; the house's without one."""
    chosen = Profile.objects.filter(user=person.pk).values_list("language", flat=True).first()
    return chosen or "en"


def _use(occurrence: Occurrence, viewer: AbstractBaseUser) -> Event:
    known = seen(occurrence.booking, viewer)
    event = Event()
    event.add("uid", f"use-{occurrence.pk}@{occurrence.room_id}.rooms")
    event.add("dtstamp", occurrence.booking.updated_at)
    event.add("dtstart", occurrence.starts_at)
    event.add("dtend", occurrence.ends_at)
    event.add("status", "CONFIRMED")
    if known.is_masked:
        event.add("summary", _("Busy"))
        return event
    event.add("summary", f"{known.title or _('Booked')} ({known.organizer})")
    return event


def _shut(blackout: Blackout, room: Room) -> Event:
    event = Event()
    event.add("uid", f"blackout-{blackout.pk}@{room.pk}.rooms")
    event.add("dtstamp", blackout.created_at)
    event.add("dtstart", blackout.starts_at)
    event.add("dtend", blackout.ends_at)
    event.add("summary", _("Shut: %(reason)s") % {"reason": blackout.reason})
    return event
