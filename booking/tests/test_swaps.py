from datetime import timedelta

import pytest
from django.utils import timezone

from booking import services
from booking.exceptions import (
    AlreadyOver,
    CannotUndo,
    InvalidBooking,
    NotAllowed,
    PolicyViolation,
    RoomNotFound,
    RoomUnavailable,
    SeriesNeedsDate,
    VersionConflict,
)
from booking.models import Booking, Occurrence, Policy, Quota, Room, Status
from booking.tests import world
from booking.tests.test_races import at_once
from booking.tests.world import NOW, TOMORROW, WEDNESDAY, at, book, user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _world(db):
    world.build()


def swap(first, second, **more):
    values = {"by": first.organizer, "now": NOW, "source": "api", **more}
    return services.swap_bookings(first.pk, second.pk, **values)


def slot(booking):
    found = Booking.objects.with_occurrences().get(pk=booking.pk)
    return found.room.code, found.starts_at


def test_two_bookings_exchange_rooms_and_times():
    one, two = book("A302", TOMORROW, "10:00", "11:00"), book("B202", WEDNESDAY, "14:00", "15:00")
    swapped = swap(one, two, first_version=1, second_version=1)
    assert [slot(each) for each in swapped] == [
        ("B202", at(WEDNESDAY, "14:00")),
        ("A302", at(TOMORROW, "10:00")),
    ]
    assert {each.version for each in swapped} == {2}
    [change] = one.changes.filter(action="swapped")
    assert (change.before[0]["room"], change.after[0]["room"]) == ("A302", "B202")


def test_two_neighbours_in_one_room_exchange_their_times():
    one, two = book("A302", TOMORROW, "10:00", "11:00"), book("A302", TOMORROW, "11:00", "13:00")
    swap(one, two)
    assert slot(one) == ("A302", at(TOMORROW, "11:00"))
    assert slot(two) == ("A302", at(TOMORROW, "10:00"))


def test_a_swap_that_one_of_them_may_not_have_changes_nothing():
    one = book("A302", TOMORROW, "10:00", "11:00", headcount=6)
    two = book("B202", TOMORROW, "10:00", "11:00")
    with pytest.raises(PolicyViolation) as caught:
        swap(one, two)
    assert caught.value.refusal.rule == "capacity"
    assert (slot(one)[0], slot(two)[0]) == ("A302", "B202")
    assert one.changes.count() == 1


def test_buffers_of_others_are_minded():
    """A slot keeps the buffers of its time; the policy's new ones may not fit between others."""
    one = book("A302", TOMORROW, "10:00", "11:00")
    book("A302", TOMORROW, "11:00", "12:00", organizer=user("hanmei"))
    two = book("B202", TOMORROW, "14:00", "15:00")
    Policy.objects.update(buffer_after_minutes=15)
    with pytest.raises(RoomUnavailable):
        swap(one, two)
    assert slot(one)[0] == "A302"


def test_whose_and_which_and_when():
    one, two = book("A302", TOMORROW, "10:00", "11:00"), book("B202", TOMORROW, "10:00", "11:00")
    other = book("B202", TOMORROW, "12:00", "13:00", organizer=user("hanmei"))
    with pytest.raises(NotAllowed):
        swap(one, other)
    with pytest.raises(VersionConflict):
        swap(one, two, second_version=3)
    with pytest.raises(InvalidBooking):
        swap(one, one)
    with pytest.raises(AlreadyOver):
        swap(one, two, now=at(TOMORROW, "12:00"))
    series = Booking.objects.get(recurrence__gt="")
    with pytest.raises(SeriesNeedsDate):
        swap(one, series)
    swap(one, series, second_date=WEDNESDAY)
    assert slot(one) == ("A302", at(WEDNESDAY, "09:00"))


def test_a_swap_uses_up_no_quota():
    Quota.objects.create(
        policy=Policy.objects.get(), period="day", max_bookings=3
    )  # one is the world's
    one, two = book("A302", TOMORROW, "10:00", "11:00"), book("B202", TOMORROW, "12:00", "13:00")
    swap(one, two)
    assert slot(one) == ("B202", at(TOMORROW, "12:00"))


@pytest.mark.django_db(transaction=True)
def test_swaps_at_once_never_deadlock_and_never_lose_a_slot():
    bookings = [book(code, TOMORROW, "10:00", "11:00") for code in ("A301", "A302", "B201", "B202")]
    pairs = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 0), (2, 1), (0, 3), (3, 2)]
    at_once(*(lambda a=a, b=b: swap(bookings[a], bookings[b]) for a, b in pairs))
    rooms = sorted(slot(each)[0] for each in bookings)
    assert rooms == ["A301", "A302", "B201", "B202"]


def undo(booking, **more):
    values = {"by": booking.organizer, "source": "portal", "now": timezone.now(), **more}
    return services.restore_booking(booking.pk, **values)


@pytest.fixture
def cancelled():
    """A booking far enough ahead for the real clock, which stamps the history, cancelled."""
    soon = timezone.now() + timedelta(days=3650)
    booking = book("A302", TOMORROW, "10:00", "11:00")
    during = (soon, soon + timedelta(hours=1))
    Occurrence.objects.filter(booking=booking).update(during=during, blocked=during)
    return services.cancel_booking(booking.pk, by=booking.organizer, now=NOW, source="portal")


def test_a_cancellation_is_taken_back(cancelled):
    assert undo(cancelled).status == Status.BOOKED


def test_a_cancellation_is_not_taken_back_by_others_or_later_or_twice(cancelled):
    with pytest.raises(NotAllowed):
        undo(cancelled, by=user("hanmei"))
    with pytest.raises(CannotUndo):
        undo(cancelled, by=user("admin"), source="admin")
    with pytest.raises(CannotUndo):
        undo(cancelled, now=timezone.now() + timedelta(minutes=11))
    undo(cancelled)
    with pytest.raises(CannotUndo):
        undo(cancelled)


def test_what_is_over_or_whose_room_is_out_of_use_is_not_taken_back(cancelled):
    Room.objects.filter(code="A302").update(is_active=False)
    with pytest.raises(RoomNotFound):
        undo(cancelled)
    past = (NOW - timedelta(hours=2), NOW - timedelta(hours=1))
    Occurrence.objects.filter(booking=cancelled).update(during=past, blocked=past)
    with pytest.raises(AlreadyOver):
        undo(cancelled)
