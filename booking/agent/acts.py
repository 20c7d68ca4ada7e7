"""What the agent may write, for the person whose thread it is. Synchronous.

Each is one of the services that every other door uses, called in the transaction of an effect.
Who acts comes from the run's context, never from what anybody wrote.
"""

from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

from django.contrib.auth.models import AbstractBaseUser

from agentruntime.models import Effect
from booking import services
from booking.agent.tools import OwnUse, person
from booking.models import Booking, Source
from booking.selectors import Part


def book(
    effect: Effect, *, owner_id: int, offer: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    """Book exactly what was confirmed, in the effect's transaction.

    Raises what `services.book_room` and `book_series` raise; then nothing was written.
    """
    with services.through(effect):
        return _booked(effect, owner_id=owner_id, offer=offer, now=now)


def _booked(
    effect: Effect, *, owner_id: int, offer: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    common = {
        "organizer": person(owner_id),
        "title": offer["title"],
        "source": Source.CHAT,
        "idempotency_key": offer["intent"],
        "effect": effect,
        "now": now,
    }
    if offer.get("parts"):
        return _together_booked(offer, common)
    if offer.get("recurrence"):
        return _series_booked(offer, common)
    starts_at, ends_at = _span(offer)
    booking = services.book_room(
        room=offer["room"],
        starts_at=starts_at,
        ends_at=ends_at,
        headcount=offer["headcount"],
        **common,
    )
    return _outcome(booking)


def _span(offer: Mapping[str, Any]) -> tuple[datetime, datetime]:
    return datetime.fromisoformat(offer["starts_at"]), datetime.fromisoformat(offer["ends_at"])


def _series_booked(offer: Mapping[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    booking = services.book_series(
        room=offer["room"],
        first=date.fromisoformat(offer["first"]),
        start=time.fromisoformat(offer["start"]),
        minutes=offer["minutes"],
        recurrence=offer["recurrence"],
        on_clash=offer["on_clash"],
        headcount=offer["headcount"],
        **common,
    )
    count = len(booking.occurrences.all())
    return {**_outcome(booking), "dates": count, "rule": booking.recurrence}


def _together_booked(offer: Mapping[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    """Several rooms for one meeting; what is told of the first, the others named with it."""
    starts_at, ends_at = _span(offer)
    parts = [Part(**each) for each in offer["parts"]]
    made = services.book_rooms(parts=parts, starts_at=starts_at, ends_at=ends_at, **common)
    told = [_outcome(each) for each in made]
    is_request = any(each["status"] == "pending" for each in told)
    return {
        **told[0],
        "room_id": offer["room"],
        "status": "pending" if is_request else told[0]["status"],
        "bookings": [each["booking_id"] for each in told],
    }


def change(
    effect: Effect, *, owner_id: int, target: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    """Cancel or move exactly the booking that was confirmed, at the version it was shown in."""
    who = person(owner_id)
    with services.through(effect):
        if target["kind"] == "cancel_booking":
            return _cancelled(who, target, now=now)
        if target.get("scope") in {services.Scope.FOLLOWING, services.Scope.ALL}:
            return _dates_changed(who, target, now=now)
        return _outcome(_changed(who, target, now=now), day=_day(target))


def _day(target: Mapping[str, Any]) -> date | None:
    """The date of a series that is meant."""
    return date.fromisoformat(target["occurrence"]) if target.get("occurrence") else None


def _since(target: Mapping[str, Any]) -> date | None:
    """The date as the services take it: none for a whole series."""
    return None if target.get("scope") == services.Scope.ALL else _day(target)


def _cancelled(
    who: AbstractBaseUser, target: Mapping[str, Any], *, now: datetime
) -> dict[str, Any]:
    booking = services.cancel_booking(
        target["booking"],
        by=who,
        now=now,
        version=target["version"],
        recurrence_date=_since(target),
        scope=target.get("scope"),
        source=Source.CHAT,
    )
    if not target.get("series"):
        return _outcome(booking)
    shown = _outcome(booking, day=_day(target))
    return {**shown, "scope": target["scope"], "dates": target["dates"]}


def _dates_changed(
    who: AbstractBaseUser, target: Mapping[str, Any], *, now: datetime
) -> dict[str, Any]:
    """Change the coming dates of a series; what they are booked for goes with them."""
    booking = services.change_series(
        target["booking"],
        by=who,
        scope=target["scope"],
        recurrence_date=_since(target),
        start=time.fromisoformat(target["new_start"]),
        minutes=target["duration_minutes"],
        room=target["room"],
        recurrence=target["recurrence"],
        on_clash=target["on_clash"],
        now=now,
        version=target["version"],
        source=Source.CHAT,
    )
    if target["headcount"] != target["headcount_before"]:
        booking = services.amend_booking(
            booking.pk, by=who, headcount=target["headcount"], source=Source.CHAT
        )
    shown = _outcome(booking, day=date.fromisoformat(target["first"]))
    return {**shown, "scope": target["scope"], "dates": target["dates"]}


def _changed(who: AbstractBaseUser, target: Mapping[str, Any], *, now: datetime) -> Booking:
    """Move and amend a booking; fewer people first, so that they fit into a smaller room."""
    headcount = target["headcount"]
    before = target.get("headcount_before", headcount)
    version = target["version"]
    if headcount < before:
        amended = services.amend_booking(
            target["booking"], by=who, headcount=headcount, version=version, source=Source.CHAT
        )
        version = amended.version
    booking = services.reschedule_booking(
        target["booking"],
        by=who,
        starts_at=datetime.fromisoformat(target["starts_at"]),
        ends_at=datetime.fromisoformat(target["ends_at"]),
        room=target["room"],
        recurrence_date=_day(target),
        now=now,
        version=version,
        source=Source.CHAT,
    )
    if headcount > before:
        booking = services.amend_booking(
            target["booking"],
            by=who,
            headcount=headcount,
            version=booking.version,
            source=Source.CHAT,
        )
    return booking


def check_in(effect: Effect, *, owner_id: int, use: OwnUse, now: datetime) -> dict[str, Any]:
    """Check in to a booking, or to one date of a series."""
    with services.through(effect):
        booking = services.check_in(
            use.booking,
            by=person(owner_id),
            now=now,
            recurrence_date=use.recurrence_date,
            source=Source.CHAT,
        )
    return _outcome(booking, day=use.recurrence_date)


def _outcome(booking: Booking, *, day: date | None = None) -> dict[str, Any]:
    """What came of it, in the room's zone; of a series, of one of its dates."""
    shown = booking.occurrence
    for each in booking.occurrences.all():
        if day is not None and each.recurrence_date == day:
            shown = each
    zone = shown.room.floor.building.site.zone
    return {
        "booking_id": booking.pk,
        "room_id": shown.room.code,
        "status": str(shown.status),
        "start": shown.starts_at.astimezone(zone).isoformat(),
        "end": shown.ends_at.astimezone(zone).isoformat(),
    }
