"""What every change leaves behind: the booking's next version and a row of its history."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError
from django.db.models import F
from django.db.models.functions import Now

from agentruntime.models import Effect
from booking.exceptions import IdempotencyMismatch, RoomUnavailable
from booking.models import Booking, BookingChange, Occurrence, Source
from booking.services.outbox import enqueue
from booking.storable import one_line

REASON_LENGTH = 200

Action = BookingChange.Action

_effect: ContextVar[Effect | None] = ContextVar("effect", default=None)


@contextmanager
def through(effect: Effect) -> Iterator[None]:
    """Whatever is recorded within was done by the assistant, with this effect."""
    token = _effect.set(effect)
    try:
        yield
    finally:
        _effect.reset(token)


def pictures(occurrences: Iterable[Occurrence]) -> list[dict[str, Any]]:
    return [BookingChange.picture(each) for each in occurrences]


def record(
    booking: Booking,
    action: Action,
    *,
    by: AbstractBaseUser,
    source: str,
    before: Any,
    after: Any,
    reason: str = "",
) -> BookingChange:
    """Raise the booking's version and keep what happened. The booking's row is held."""
    Booking.objects.filter(pk=booking.pk).update(version=F("version") + 1, updated_at=Now())
    return _kept(
        BookingChange(
            booking=booking,
            by_id=by.pk,
            source=source,
            action=action,
            before=before,
            after=after,
            reason=clean_reason(reason),
        )
    )


def record_first(
    booking: Booking, occurrences: Iterable[Occurrence], *, by: AbstractBaseUser, source: str
) -> BookingChange:
    """The first row of a new booking's history."""
    return _kept(
        BookingChange(
            booking=booking,
            by_id=by.pk,
            source=source,
            action=Action.BOOKED,
            after=pictures(occurrences),
        )
    )


def record_by_itself(booking: Booking, action: Action, *, before: Any, after: Any) -> BookingChange:
    """What nobody did. The version stays: the booking's row is not held by whoever finds it out."""
    return _kept(
        BookingChange(
            booking=booking,
            by=None,
            source=Source.SYSTEM,
            action=action,
            before=before,
            after=after,
        )
    )


def _kept(change: BookingChange) -> BookingChange:
    """The row of history, and with it the mail that tells of it."""
    if change.source == Source.CHAT:
        change.effect = _effect.get()
    change.save(force_insert=True)
    enqueue(change)
    return change


def as_person(user: AbstractBaseUser) -> Any:
    """The user as the foreign keys name its model."""
    return user


def clean_reason(reason: str) -> str:
    """One line as long as is kept."""
    return one_line(reason)[:REASON_LENGTH]


def loaded(booking: Booking) -> Booking:
    """The booking anew, with its occurrences."""
    return Booking.objects.with_occurrences().get(pk=booking.pk)


def made_before(booking: Booking) -> Booking | None:
    """The booking the same key made, if it was for the same request; else IdempotencyMismatch."""
    made = Booking.objects.filter(
        organizer=booking.organizer_id, idempotency_key=booking.idempotency_key
    ).first()
    if made is None:
        return None
    if made.request_digest != booking.request_digest:
        raise IdempotencyMismatch(booking=made.pk)
    return loaded(made)


def digest(request: dict[str, Any]) -> str:
    text = json.dumps(request, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def constraint(error: IntegrityError) -> str:
    diagnostics = getattr(error.__cause__, "diag", None)
    return getattr(diagnostics, "constraint_name", None) or ""


def translated(error: IntegrityError, *, room: str) -> Exception:
    """The violation in the domain's words; one that no person can cause stays what it is."""
    taken = constraint(error) == "occurrence_room_free"
    return RoomUnavailable(room=room) if taken else error
