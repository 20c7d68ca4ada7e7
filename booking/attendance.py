"""When one may check in to a room. Reads what is loaded, asks no database."""

from datetime import timedelta

from booking.intervals import Interval
from booking.models import Occurrence


def check_in_window(occurrence: Occurrence) -> Interval:
    """From a while before the start until the room is released, or else until the end.

    Takes the occurrence's room and policy.
    """
    before = timedelta(minutes=occurrence.room.policy.check_in_before_minutes)
    closes = occurrence.lapses_at or occurrence.ends_at
    return Interval(min(occurrence.starts_at - before, closes - before), closes)
