"""What happens when people want the same thing at the same moment, on real connections."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from booking import services
from booking.exceptions import BookingError, IdempotencyMismatch, RoomUnavailable, VersionConflict
from booking.locks import lock_room
from booking.models import Booking, BookingChange, Occurrence, Source
from booking.tests import world
from booking.tests.world import NOW, TOMORROW, at, book, user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _world(transactional_db):
    world.build()


def move(booking, **more):
    values = {"by": booking.organizer, "now": NOW, "source": Source.PORTAL}
    return services.reschedule_booking(booking.pk, **{**values, **more})


def cancel(booking, **more):
    return services.cancel_booking(
        booking.pk, by=booking.organizer, now=NOW, source=Source.PORTAL, **more
    )


def at_once(*calls):
    """Run the calls in threads with their own connections; results or BookingErrors, in order."""

    def run(call):
        try:
            return call()
        except BookingError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_forty_at_once_for_one_slot_make_one_booking():
    people = [user(name) for name in ("lilei", "wangfang", "hanmei", "zhaoqiang")]
    results = at_once(
        *(
            lambda number=number: book(
                "B202",
                TOMORROW,
                "10:00",
                "11:00",
                organizer=people[number % 4],
                idempotency_key=f"race-{number}",
            )
            for number in range(40)
        )
    )
    won = [each for each in results if isinstance(each, Booking)]
    assert len(won) == 1
    assert [type(each) for each in results].count(RoomUnavailable) == 39
    assert Occurrence.objects.filter(room__code="B202").count() == 1
    assert Booking.objects.filter(idempotency_key__startswith="race").count() == 1


def test_overlaps_from_all_sides_at_once_never_deadlock():
    spans = [("10:00", "11:00"), ("10:30", "11:30"), ("10:15", "10:45"), ("09:30", "12:00")] * 4
    hanmei = user("hanmei")
    results = at_once(
        *(
            lambda number=number, first=first, last=last: book(
                "B202", TOMORROW, first, last, organizer=hanmei, idempotency_key=f"race-{number}"
            )
            for number, (first, last) in enumerate(spans)
        )
    )
    assert len([each for each in results if isinstance(each, Booking)]) == 1
    assert {type(each) for each in results} == {Booking, RoomUnavailable}


def test_the_same_key_at_once_makes_one_booking_that_all_get():
    lilei = user("lilei")
    results = at_once(
        *[lambda: book("B202", TOMORROW, "10:00", "11:00", organizer=lilei, idempotency_key="k")]
        * 12
    )
    assert len({each.pk for each in results}) == 1
    assert BookingChange.objects.filter(booking=results[0]).count() == 1


def test_the_same_key_for_two_rooms_at_once_makes_one_booking():
    lilei = user("lilei")
    calls = [
        lambda code=code: book(
            code, TOMORROW, "10:00", "11:00", organizer=lilei, idempotency_key="k"
        )
        for code in ("A301", "A302", "A305", "B201", "B202", "A501", "B801")
    ]
    results = at_once(*calls)
    assert len([each for each in results if isinstance(each, Booking)]) == 1
    assert [type(each) for each in results].count(IdempotencyMismatch) == 6


def test_two_moves_into_one_slot_and_swaps_at_once_leave_everything_consistent():
    one = book("A302", TOMORROW, "10:00", "11:00")
    other = book("B202", TOMORROW, "10:00", "11:00", organizer=user("hanmei"))
    results = at_once(
        lambda: move(one, room="A301"),
        lambda: move(other, room="A301"),
    )
    assert {type(each) for each in results} == {Booking, RoomUnavailable}
    swap = at_once(lambda: move(one, room="B202"), lambda: move(other, room="A302"))
    assert all(isinstance(each, Booking | RoomUnavailable) for each in swap)


def test_a_move_and_a_cancel_of_one_version_at_once_are_one_winner():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    results = at_once(
        lambda: cancel(booking, version=1),
        lambda: move(booking, starts_at=at(TOMORROW, "12:00"), version=1),
    )
    assert {type(each) for each in results} == {Booking, VersionConflict}
    assert Booking.objects.get(pk=booking.pk).version == 2


def test_a_key_in_flight_for_another_room_is_waited_for():
    """The second insert waits for the first in the unique index, then sees what it made."""
    lilei = user("lilei")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            first = book("A302", TOMORROW, "10:00", "11:00", idempotency_key="k")
            second = pool.submit(
                at_once,
                lambda: book(
                    "B202", TOMORROW, "10:00", "11:00", organizer=lilei, idempotency_key="k"
                ),
            )
            wait_for_a_waiter()
        [result] = second.result()
    assert isinstance(result, IdempotencyMismatch)
    assert result.booking == first.pk


def test_a_move_queues_at_the_room_it_leaves_too():
    """So two people who swap rooms take both in one order, and never wait for each other."""
    booking = book("B202", TOMORROW, "10:00", "11:00")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock_room("B202")
            moved = pool.submit(at_once, lambda: move(booking, room="A302"))
            wait_for_a_waiter()
        [result] = moved.result()
    assert isinstance(result, Booking)
    assert result.room.code == "A302"


def wait_for_a_waiter():
    """Return when another connection waits for a lock."""
    deadline = time.monotonic() + 10
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(waiting)
            if cursor.fetchone()[0]:
                return
        time.sleep(0.01)
    raise AssertionError("nobody waits")
