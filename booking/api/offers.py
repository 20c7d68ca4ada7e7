"""What could be had instead of a room that is taken or too small, told with the refusal."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from booking.exceptions import PolicyViolation, RoomUnavailable
from booking.selectors import RoomRequest, search


@contextmanager
def offering(user: User, wanted: Mapping[str, Any]) -> Iterator[None]:
    """`wanted` has room, starts_at, ends_at and headcount; the refusal gets its `alternatives`."""
    try:
        yield
    except (RoomUnavailable, PolicyViolation) as error:
        if isinstance(error, PolicyViolation) and error.refusal.rule != "capacity":
            raise
        names = ("room", "starts_at", "ends_at", "headcount")
        request = RoomRequest(**{name: wanted[name] for name in names})
        found = search(request, user=user, now=timezone.now()).alternatives
        error.data["alternatives"] = [
            {
                "kind": each.kind,
                "room": each.room,
                "starts_at": each.starts_at.isoformat(),
                "ends_at": each.ends_at.isoformat(),
                "detail": each.detail,
                "parts": [asdict(part) for part in each.parts],
            }
            for each in found
        ]
        raise
