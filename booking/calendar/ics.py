"""Bookings as iCalendar (RFC 5545) and its scheduling messages (iTIP, RFC 5546). No queries.

A series is one event with its rule in local time, an EXDATE for every date it does not have, and
an event of its own for every date that stands elsewhere than the rule puts it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from icalendar import Calendar, Event, vCalAddress, vRecur, vText

from booking import recurrence
from booking.models import Booking, Occurrence, Series, Status, Visibility

PRODUCT = "-//Roomwise//Rooms//EN"


@dataclass(frozen=True, kw_only=True)
class Party:
    """Somebody in an invitation: a name and a mail address."""

    name: str
    email: str


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """What an event of a booking says beside its time.

    `sequence` rises with every change; `host` is who invites, `guest` whose booking it is.
    """

    sequence: int
    stamp: datetime
    now: datetime
    host: Party | None = None
    guest: Party | None = None


def calendar(method: str, events: Iterable[Event], *, name: str = "") -> bytes:
    """The events as one file, with the time zones they name."""
    whole = Calendar()
    whole.add("prodid", PRODUCT)
    whole.add("version", "2.0")
    whole.add("method", method)
    if name:
        whole.add("x-wr-calname", name)
    for each in events:
        whole.add_component(each)
    whole.add_missing_timezones()
    return bytes(whole.to_ical())


def events_of(booking: Booking, told: Invitation) -> list[Event]:
    """The events of a booking whose occurrences, rooms and series are loaded."""
    live = [each for each in booking.occurrences.all() if is_live(each, told.now)]
    if not booking.is_series:
        return [_single(booking, each, told) for each in live]
    return _series(booking, booking.series, live, told) if live else []


def cancellation_of(booking: Booking, told: Invitation) -> list[Event]:
    """The event that takes the whole booking back."""
    occurrences = sorted(booking.occurrences.all(), key=lambda each: each.starts_at)
    if not occurrences:
        return []
    event = _event(booking, occurrences[0], told, status="CANCELLED")
    _time(event, occurrences[0].starts_at, occurrences[0].ends_at, _zone(occurrences[0]))
    return [event]


def is_live(occurrence: Occurrence, now: datetime) -> bool:
    """Whether it is in calendars: wanted, booked, used or over; not cancelled and not lapsed."""
    return occurrence.blocks(now) or occurrence.status == Status.COMPLETED


def _single(booking: Booking, occurrence: Occurrence, told: Invitation) -> Event:
    event = _event(booking, occurrence, told)
    _time(event, occurrence.starts_at, occurrence.ends_at, _zone(occurrence))
    return event


def _series(
    booking: Booking, series: Series, live: list[Occurrence], told: Invitation
) -> list[Event]:
    zone = ZoneInfo(series.zone)
    by_date = {each.recurrence_date: each for each in live}
    days = recurrence.dates(booking.recurrence, series.first)
    slots = {day: recurrence.slot(zone, day, series.start, series.minutes) for day in days}
    master = _event(booking, live[0], told)
    begins = datetime.combine(series.first, series.start, zone)
    _time(master, begins, begins + timedelta(minutes=series.minutes), zone, is_wall=True)
    master.add("rrule", _rule(booking.recurrence, zone, series))
    overrides = []
    for day, slot in slots.items():
        wall = datetime.combine(day, series.start, zone)
        occurrence = by_date.pop(day, None)
        if occurrence is None:
            master.add("exdate", wall)
            continue
        span = occurrence.starts_at, occurrence.ends_at
        # As a program counts it from the first date: by the wall clock, also where it is put back.
        ends = (wall + timedelta(minutes=series.minutes)).astimezone(UTC)
        is_ruled = (slot.during.starts_at, ends) == span and not slot.is_shifted
        if not is_ruled or occurrence.room_id != live[0].room_id or _differs(occurrence, live[0]):
            overrides.append(_override(booking, occurrence, told, wall, zone))
    return [master, *overrides]


def _differs(occurrence: Occurrence, first: Occurrence) -> bool:
    return _status(occurrence) != _status(first)


def _override(
    booking: Booking, occurrence: Occurrence, told: Invitation, wall: datetime, zone: ZoneInfo
) -> Event:
    event = _event(booking, occurrence, told)
    event.add("recurrence-id", wall)
    _time(event, occurrence.starts_at, occurrence.ends_at, zone)
    return event


def _rule(text: str, zone: ZoneInfo, series: Series) -> vRecur:
    """The rule with its UNTIL in UTC, as a start with a zone demands (RFC 5545, 3.3.10)."""
    rule: vRecur = vRecur.from_ical(text)
    if "UNTIL" in rule:
        last: date = rule["UNTIL"][0]
        last = last.date() if isinstance(last, datetime) else last
        rule["UNTIL"] = [datetime.combine(last, series.start, zone).astimezone(UTC)]
    return rule


def _event(
    booking: Booking, occurrence: Occurrence, told: Invitation, *, status: str = ""
) -> Event:
    event = Event()
    event.add("uid", str(booking.calendar_uid))
    event.add("sequence", told.sequence)
    event.add("dtstamp", told.stamp)
    event.add("last-modified", booking.updated_at)
    event.add("summary", booking.title or _("Room %(room)s") % {"room": occurrence.room.code})
    event.add("location", location_of(occurrence))
    event.add("status", status or _status(occurrence))
    event.add("class", "PRIVATE" if booking.visibility == Visibility.PRIVATE else "PUBLIC")
    if told.host is not None and told.guest is not None:
        event["organizer"] = _address(told.host)
        guest = _address(told.guest)
        guest.params["PARTSTAT"] = vText("ACCEPTED")
        guest.params["ROLE"] = vText("REQ-PARTICIPANT")
        event.add("attendee", guest, encode=False)
    return event


def _address(party: Party) -> vCalAddress:
    address = vCalAddress(f"mailto:{party.email}")
    address.params["CN"] = vText(party.name)
    return address


def _time(
    event: Event, starts_at: datetime, ends_at: datetime, zone: ZoneInfo, *, is_wall: bool = False
) -> None:
    for name, instant in (("dtstart", starts_at), ("dtend", ends_at)):
        event.add(name, instant if is_wall else _shown(instant, zone))


def _shown(instant: datetime, zone: ZoneInfo) -> datetime:
    """The instant in the zone; in UTC where the zone's clock shows it a second time."""
    local = instant.astimezone(zone)
    return local if local.fold == 0 else instant.astimezone(UTC)


def _zone(occurrence: Occurrence) -> ZoneInfo:
    return occurrence.room.floor.building.site.zone


def _status(occurrence: Occurrence) -> str:
    return "TENTATIVE" if occurrence.status in {Status.PENDING, Status.HELD} else "CONFIRMED"


def location_of(occurrence: Occurrence) -> str:
    """The room, its floor and building, and the site, in the active language."""
    room = occurrence.room
    floor = room.floor
    return f"{room}, {floor.building} {floor.number}F, {floor.building.site}"
