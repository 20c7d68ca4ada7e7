"""Bookings that arrive as calendar messages (iTIP): the door of mail and calendar programs.

A REQUEST books the room its LOCATION names, or changes what the same UID booked before; a CANCEL
cancels it. Whose booking it is says who brings the message, never the message.
"""

import re
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractBaseUser
from icalendar import Calendar, Event, vRecur

from booking import services
from booking.exceptions import BookingNotFound, InvalidBooking, RoomNotFound
from booking.models import Booking, Room, Source, Visibility
from booking.models.agreements import KEY_LENGTH
from booking.storable import is_storable

MAX_BYTES = 64 * 1024
MAX_EVENTS = 20
DEFAULT_HEADCOUNT = 1


def take(
    content: bytes,
    *,
    person: AbstractBaseUser,
    headcount: int = DEFAULT_HEADCOUNT,
    now: datetime,
) -> list[Booking]:
    """Do what the message asks, as the person; the bookings it is about, in its order.

    The same message again changes nothing. Each event is a transaction of its own, and the first
    that cannot be had ends the rest. Raises InvalidBooking (calendar, uid, recurrence, ...) and
    whatever the services raise.
    """
    whole = _parsed(content)
    is_cancel = str(whole.get("METHOD", "REQUEST")).upper() == "CANCEL"
    events = [each for each in whole.walk("VEVENT") if isinstance(each, Event)]
    if not 1 <= len(events) <= MAX_EVENTS:
        raise InvalidBooking(field="calendar")
    return [
        _cancelled(each, person=person, now=now)
        if is_cancel or str(each.get("STATUS", "")).upper() == "CANCELLED"
        else _taken(each, person=person, headcount=headcount, now=now)
        for each in events
    ]


def _parsed(content: bytes) -> Calendar:
    if len(content) > MAX_BYTES:
        raise InvalidBooking(field="calendar")
    try:
        found = Calendar.from_ical(content)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise InvalidBooking(field="calendar") from error
    if not isinstance(found, Calendar):
        raise InvalidBooking(field="calendar")
    return found


def _taken(event: Event, *, person: AbstractBaseUser, headcount: int, now: datetime) -> Booking:
    key, room = _key(event), _room(event)
    starts_at, ends_at = _span(event, room)
    known = Booking.objects.of(person).filter(idempotency_key=key).first()
    if known is not None:
        return _changed(known, event, room, starts_at, ends_at, person=person, now=now)
    details: dict[str, Any] = {
        "organizer": person,
        "room": room.code,
        "headcount": headcount,
        "title": str(event.get("SUMMARY", "")),
        "visibility": _visibility(event),
        "source": Source.CALENDAR,
        "idempotency_key": key,
        "now": now,
    }
    if "RRULE" not in event:
        return services.book_room(starts_at=starts_at, ends_at=ends_at, **details)
    first = starts_at.astimezone(room.floor.building.site.zone)
    return services.book_series(
        first=first.date(),
        start=first.time(),
        minutes=int((ends_at - starts_at) / timedelta(minutes=1)),
        recurrence=_rule(event),
        **details,
    )


def _changed(
    known: Booking,
    event: Event,
    room: Room,
    starts_at: datetime,
    ends_at: datetime,
    *,
    person: AbstractBaseUser,
    now: datetime,
) -> Booking:
    """The booking the same UID made, as the message has it now; a series keeps its times."""
    acting: dict[str, Any] = {"by": person, "source": Source.CALENDAR}
    booking = services.amend_booking(
        known.pk, title=str(event.get("SUMMARY", "")), visibility=_visibility(event), **acting
    )
    if booking.is_series:
        return booking
    return services.reschedule_booking(
        known.pk, room=room.code, starts_at=starts_at, ends_at=ends_at, now=now, **acting
    )


def _cancelled(event: Event, *, person: AbstractBaseUser, now: datetime) -> Booking:
    known = Booking.objects.of(person).filter(idempotency_key=_key(event)).first()
    if known is None:
        raise BookingNotFound(booking=None)
    day = None
    if "RECURRENCE-ID" in event:
        zone = known.series.zone if known.is_series else "UTC"
        day = _local_day(event.decoded("RECURRENCE-ID"), ZoneInfo(zone))
    return services.cancel_booking(
        known.pk, by=person, now=now, recurrence_date=day, source=Source.CALENDAR
    )


def _key(event: Event) -> str:
    key = f"ics-{event.get('UID', '')}"
    if len(key) == len("ics-") or len(key) > KEY_LENGTH or not is_storable(key):
        raise InvalidBooking(field="uid")
    return key


def _room(event: Event) -> Room:
    """The one room whose code stands in the location."""
    location = str(event.get("LOCATION", ""))
    words = {word.upper() for word in re.findall(r"[\w-]+", location) if is_storable(word)}
    found = list(Room.objects.select_related("floor__building__site").filter(code__in=words)[:2])
    if len(found) != 1:
        raise RoomNotFound(room=location[:60])
    return found[0]


def _span(event: Event, room: Room) -> tuple[datetime, datetime]:
    """Start and end; a time without a zone is the room's."""
    zone = room.floor.building.site.zone
    try:
        starts_at = event.decoded("DTSTART")
        ends_at = (
            event.decoded("DTEND") if "DTEND" in event else starts_at + event.decoded("DURATION")
        )
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise InvalidBooking(field="starts_at") from error
    for field, instant in (("starts_at", starts_at), ("ends_at", ends_at)):
        if not isinstance(instant, datetime):  # all day long
            raise InvalidBooking(field=field)
    return _in_zone(starts_at, zone), _in_zone(ends_at, zone)


def _in_zone(instant: datetime, zone: ZoneInfo) -> datetime:
    return instant.replace(tzinfo=zone) if instant.tzinfo is None else instant


def _rule(event: Event) -> str:
    rule = event["RRULE"]
    if not isinstance(rule, vRecur):  # several rules
        raise InvalidBooking(field="recurrence")
    return str(rule.to_ical().decode())  # type: ignore[no-untyped-call]


def _visibility(event: Event) -> str:
    is_private = str(event.get("CLASS", "")).upper() in {"PRIVATE", "CONFIDENTIAL"}
    return Visibility.PRIVATE if is_private else Visibility.PUBLIC


def _local_day(value: object, zone: ZoneInfo) -> date:
    if isinstance(value, datetime):
        return value.astimezone(zone).date() if value.tzinfo else value.date()
    if isinstance(value, date):
        return value
    raise InvalidBooking(field="calendar")
