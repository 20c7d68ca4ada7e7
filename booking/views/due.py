"""Whether somebody is expected to say that they are there."""

from datetime import datetime

from booking.intervals import Interval
from booking.models import Occurrence, Status
from booking.selectors import check_in_window


def is_due(occurrence: Occurrence, now: datetime) -> bool:
    """Whether the check-in is open."""
    window = window_of(occurrence, now)
    return window is not None and window.starts_at <= now


def window_of(occurrence: Occurrence, now: datetime) -> Interval | None:
    """When one can check in, as long as that is now or ahead."""
    if occurrence.status_at(now) != Status.BOOKED:
        return None
    window = check_in_window(occurrence)
    return window if now < window.ends_at else None
