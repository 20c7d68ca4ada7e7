"""Somebody acts on a booking in the moment in which it lapses: one of the two is what happened."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction

from booking import services
from booking.exceptions import AlreadyCancelled, AlreadyDecided, BookingError, CheckInTooLate
from booking.locks import lock_room
from booking.models import BookingChange, Occurrence, Policy, Status
from booking.tests import world
from booking.tests.world import NOW, TOMORROW, at, book, user

pytestmark = pytest.mark.django_db(transaction=True)

LATE = at(TOMORROW, "10:20")
IN_TIME = at(TOMORROW, "10:19")
BLOCKED = """
select pg_stat_clear_snapshot(), count(*) from pg_stat_activity
where wait_event_type = 'Lock' and datname = current_database()
"""


@pytest.fixture(autouse=True)
def _world(transactional_db):
    world.build()
    Policy.objects.update(
        needs_check_in=True, check_in_before_minutes=10, check_in_grace_minutes=20
    )


@pytest.fixture
def meeting():
    return book("A302", TOMORROW, "10:00", "11:00")


@pytest.fixture
def beside():
    """Run a call in a thread of its own, on a connection of its own; a future of what it gives."""
    with ThreadPoolExecutor(2) as pool:

        def run(call):
            def closing():
                try:
                    return call()
                except BookingError as error:
                    return error
                finally:
                    connection.close()

            return pool.submit(closing)

        yield run


def until_one_waits():
    end = time.monotonic() + 5
    with connection.cursor() as cursor:
        while time.monotonic() < end:
            cursor.execute(BLOCKED)
            if cursor.fetchone()[1]:
                return
            time.sleep(0.01)
    raise AssertionError("nobody waits for a lock")


def acts_on(booking):
    return list(BookingChange.objects.filter(booking=booking).values_list("action", flat=True))


def test_a_check_in_that_meets_a_release_is_too_late(meeting, beside):
    with transaction.atomic():
        assert services.release_no_shows(LATE) == 1
        here = beside(
            lambda: services.check_in(
                meeting.pk, by=meeting.organizer, now=IN_TIME, source="portal"
            )
        )
        until_one_waits()

    assert isinstance(here.result(5), CheckInTooLate)
    assert Occurrence.objects.get(booking=meeting).status == Status.RELEASED
    assert acts_on(meeting) == ["booked", "released"]


def test_a_cancel_that_meets_a_release_changes_nothing(meeting, beside):
    with transaction.atomic():
        services.release_no_shows(LATE)
        gone = beside(
            lambda: services.cancel_booking(
                meeting.pk, by=meeting.organizer, now=IN_TIME, source="portal"
            )
        )
        until_one_waits()

    assert isinstance(gone.result(5), AlreadyCancelled)
    assert acts_on(meeting) == ["booked", "released"]


def test_a_request_that_expires_while_it_is_approved_stays_expired(beside):
    Policy.objects.update(needs_approval=True, needs_check_in=False)
    request = book("A302", TOMORROW, "10:00", "11:00")
    assert request.status == Status.PENDING
    lapsed = request.occurrence.lapses_at + timedelta(seconds=1)
    boss = user("admin")
    with transaction.atomic():
        assert services.expire_requests(lapsed) == 1
        yes = beside(
            lambda: services.approve_booking(
                request.pk, by=boss, now=NOW, version=request.version, source="admin"
            )
        )
        until_one_waits()

    decided = yes.result(5)
    assert isinstance(decided, AlreadyDecided)
    assert decided.status == Status.EXPIRED
    assert Occurrence.objects.get(booking=request).status == Status.EXPIRED


def moved(booking, _other):
    return services.reschedule_booking(
        booking.pk, by=booking.organizer, room="A301", now=IN_TIME, source="portal"
    )


def swapped(booking, other):
    return services.swap_bookings(
        booking.pk, other.pk, by=booking.organizer, now=IN_TIME, source="portal"
    )


@pytest.mark.parametrize("change", [moved, swapped])
def test_a_change_that_read_it_before_it_lapsed_changes_nothing(meeting, beside, change):
    """It waits for the room; meanwhile the room is released by who wants none."""
    other = book("A302", TOMORROW, "14:00", "15:00")
    with transaction.atomic():
        lock_room("A302")
        changed = beside(lambda: change(meeting, other))
        until_one_waits()
        assert beside(lambda: services.release_no_shows(LATE)).result(5) == 1

    assert isinstance(changed.result(5), AlreadyCancelled)
    there = Occurrence.objects.select_related("room").get(booking=meeting)
    assert (there.status, there.room.code) == (Status.RELEASED, "A302")
    assert acts_on(meeting) == ["booked", "released"]
