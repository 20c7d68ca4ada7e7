"""Booking several rooms for one meeting: all of them or none."""

from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from agentruntime.models import Effect
from booking.exceptions import InvalidBooking
from booking.locks import lock_rooms
from booking.models import Booking, Visibility
from booking.ranking import Part
from booking.services.bookings import book_room
from booking.services.records import digest
from booking.services.values import check_values
from booking.splits import MOST_ROOMS


def book_rooms(
    *,
    organizer: AbstractBaseUser,
    parts: Sequence[Part],
    starts_at: datetime,
    ends_at: datetime,
    title: str = "",
    visibility: str = Visibility.PUBLIC,
    source: str,
    idempotency_key: str,
    effect: Effect | None = None,
    by: AbstractBaseUser | None = None,
    now: datetime,
) -> list[Booking]:
    """Book every room of a split, each with its people; in the order of `parts`.

    Two or three different rooms. The same key again returns the bookings it made.
    Raises as book_room does, then nothing is booked; InvalidBooking (parts).
    """
    codes = [part.room for part in parts]
    if not 2 <= len(codes) <= MOST_ROOMS or len(set(codes)) < len(codes):
        raise InvalidBooking(field="parts")
    check_values(headcount=1, visibility=visibility, source=source, key=idempotency_key)
    key = digest({"key": idempotency_key})
    with transaction.atomic():
        lock_rooms(*codes)
        return [
            book_room(
                organizer=organizer,
                room=part.room,
                starts_at=starts_at,
                ends_at=ends_at,
                headcount=part.headcount,
                title=title,
                visibility=visibility,
                source=source,
                idempotency_key=f"{key}-{number}",
                effect=effect,
                by=by,
                now=now,
            )
            for number, part in enumerate(parts, start=1)
        ]
