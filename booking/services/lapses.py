"""Writing down what has stopped to count by itself: requests nobody decided, rooms nobody used.

When they lapse is in the data, and everybody reads it there: nothing waits for this. It is done
by whoever books such a room next, and by a chore.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby

from django.db import transaction

from booking.intervals import Interval
from booking.models import BookingChange, Occurrence, Room, Status, lapsed_status
from booking.models.agreements import OccurrenceQuerySet
from booking.services.records import Action, pictures, record_by_itself

BATCH = 200

_ACTIONS = {Status.EXPIRED: Action.EXPIRED, Status.RELEASED: Action.RELEASED}


def free_lapsed(room: Room, around: Interval, *, now: datetime) -> None:
    """Let the constraint see that what lapsed in that room is free. The room's row is held."""
    overlapping = Occurrence.objects.filter(
        room=room, blocked__overlap=(around.starts_at, around.ends_at)
    )
    write_lapsed(overlapping.lapsed(now).order_by("pk").select_for_update(of=("self",)))


@transaction.atomic
def release_no_shows(now: datetime) -> int:
    """Release the rooms whose organizers did not check in; how many."""
    return _write_batch(Occurrence.objects.filter(status=Status.BOOKED).lapsed(now))


@transaction.atomic
def expire_requests(now: datetime) -> int:
    """End the requests that nobody decided in time; how many."""
    waiting = Occurrence.objects.filter(status__in=[Status.HELD, Status.PENDING])
    return _write_batch(waiting.lapsed(now))


def _write_batch(lapsed: OccurrenceQuerySet) -> int:
    # What somebody else holds just now is theirs to settle, or the next round's.
    found = lapsed.order_by("lapses_at", "pk")[:BATCH]
    return len(write_lapsed(found.select_for_update(of=("self",), skip_locked=True)))


def write_lapsed(lapsed: Iterable[Occurrence]) -> list[Occurrence]:
    """Give the locked occurrences the status they lapsed to, and their bookings a row of history."""
    found = sorted(lapsed, key=lambda each: (each.booking_id, each.pk))
    for status in (Status.EXPIRED, Status.RELEASED):
        ended = [each for each in found if lapsed_status(Status(each.status)) == status]
        for _booking, group in groupby(ended, key=lambda each: each.booking_id):
            _write(list(group), status)
    return found


def _write(occurrences: list[Occurrence], status: Status) -> BookingChange:
    before = pictures(occurrences)
    for each in occurrences:
        each.status = status
    Occurrence.objects.filter(pk__in=[each.pk for each in occurrences]).update(status=status)
    return record_by_itself(
        occurrences[0].booking, _ACTIONS[status], before=before, after=pictures(occurrences)
    )
