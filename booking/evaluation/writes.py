"""What a conversation wrote: the difference between two looks at all bookings. Synchronous reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from agentruntime.models import Effect, Message
from booking.evaluation.played import Write
from booking.models import ACTIVE_STATUSES, Booking, Occurrence, Status


@dataclass(frozen=True, kw_only=True)
class _Use:
    """An occurrence as it stood."""

    booking: int
    on: date | None
    room: str
    starts_at: datetime
    ends_at: datetime
    status: str

    @property
    def is_active(self) -> bool:
        return self.status in ACTIVE_STATUSES


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Every occurrence by its key, every booking's facts by its key."""

    uses: Mapping[int, _Use]
    facts: Mapping[int, Mapping[str, Any]]


def snapshot() -> Snapshot:
    """All bookings as they stand."""
    uses = {
        each.pk: _Use(
            booking=each.booking_id,
            on=each.recurrence_date,
            room=each.room.code,
            starts_at=each.starts_at,
            ends_at=each.ends_at,
            status=str(each.status),
        )
        for each in Occurrence.objects.select_related("room")
    }
    fields = ("organizer__username", "headcount", "title", "visibility", "recurrence")
    facts = {row.pop("pk"): row for row in Booking.objects.values("pk", *fields)}
    return Snapshot(uses=uses, facts=facts)


def between(
    before: Snapshot, after: Snapshot, *, known: Mapping[int, int], zone: ZoneInfo
) -> list[Write]:
    """The writes as plain values, by start: `op` is create, cancel, move, check_in, amend or
    change. known: fixture ids by row; a new booking has none. Instants are local to `zone`.
    """
    found = [
        write
        for key, use in after.uses.items()
        if (write := _written(before.uses.get(key), use, after, known, zone))
    ]
    found += [
        {"op": "amend", "booking": known.get(key), **_changed(before.facts[key], facts)}
        for key, facts in after.facts.items()
        if key in before.facts and facts != before.facts[key]
    ]
    found += [
        {"op": "delete", "booking": known.get(use.booking)}
        for key, use in before.uses.items()
        if key not in after.uses
    ]
    return sorted(
        found, key=lambda write: (write.get("start", ""), write["op"], write.get("room", ""))
    )


def _written(
    was: _Use | None, use: _Use, after: Snapshot, known: Mapping[int, int], zone: ZoneInfo
) -> Write | None:
    if was == use:
        return None
    facts = after.facts[use.booking]
    place = {
        "room": use.room,
        "start": f"{use.starts_at.astimezone(zone):%Y-%m-%dT%H:%M}",
        "end": f"{use.ends_at.astimezone(zone):%Y-%m-%dT%H:%M}",
    }
    if was is None:
        return {
            "op": "create", **place, "status": use.status, "headcount": facts["headcount"],
            "organizer": facts["organizer__username"], "is_series": bool(facts["recurrence"]),
        }  # fmt: skip
    write: Write = {"booking": known.get(use.booking), **place}
    if use.on is not None:
        write["occurrence"] = use.on.isoformat()
    if was.is_active and use.status == Status.CANCELLED:
        return {"op": "cancel", **write}
    if use.status == Status.CHECKED_IN and was.status != use.status:
        return {"op": "check_in", **write}
    if use.status == was.status:
        return {"op": "move", **write}
    return {"op": "change", **write, "status": use.status}


def _changed(was: Mapping[str, Any], now: Mapping[str, Any]) -> Write:
    return {name: value for name, value in now.items() if was[name] != value}


def unconfirmed(thread: str) -> list[str]:
    """Names of the thread's acts that answer no confirmation: none, when all is well.

    An act names the message it answers; the agent's last words before that ask for a yes. Checking
    in is its own yes.
    """
    found = []
    for effect in Effect.objects.filter(thread_id=thread).exclude(name="check_in").order_by("pk"):
        asked = Message.objects.filter(
            thread_id=thread, role=Message.Role.ASSISTANT, pk__lt=effect.message_id or 0
        ).order_by("-pk")
        last = asked.first()
        if last is None or last.kind != "confirm":
            found.append(effect.name)
    return found
