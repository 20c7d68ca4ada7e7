from datetime import timedelta

import pytest

from booking import selectors, services
from booking.exceptions import (
    AlreadyCancelled,
    AlreadyOver,
    CheckInTooEarly,
    CheckInTooLate,
    NotAllowed,
    NotApproved,
    RoomUnavailable,
    SeriesNeedsDate,
)
from booking.models import Booking, Occurrence, Policy, Status
from booking.tests import world
from booking.tests.test_races import at_once
from booking.tests.world import NOW, TODAY, TOMORROW, WEDNESDAY, at, book, user, wish

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _world(db):
    world.build()
    Policy.objects.update(
        needs_check_in=True, check_in_before_minutes=10, check_in_grace_minutes=20
    )


def check_in(booking, wall, *, day=TOMORROW, **more):
    values = {"by": booking.organizer, "source": "portal", **more}
    return services.check_in(booking.pk, now=at(day, wall), **values)


def test_checking_in_keeps_the_room():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    assert booking.occurrence.lapses_at == at(TOMORROW, "10:20")
    here = check_in(booking, "09:55")
    assert (here.status, here.version) == (Status.CHECKED_IN, 2)
    assert here.occurrence.checked_in_at == at(TOMORROW, "09:55")
    assert services.release_no_shows(at(TOMORROW, "10:30")) == 0
    assert here.changes.get(action="checked_in").source == "portal"


def test_checking_in_twice_is_one_check_in():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    check_in(booking, "10:00")
    assert check_in(booking, "10:40").version == 2


@pytest.mark.parametrize("wall", ["09:49", "08:00"])
def test_too_early_says_from_when(wall):
    booking = book("A302", TOMORROW, "10:00", "11:00")
    with pytest.raises(CheckInTooEarly) as caught:
        check_in(booking, wall)
    assert caught.value.opens_at == at(TOMORROW, "09:50")
    assert "09:50" in caught.value.message("zh-hans")


@pytest.mark.parametrize("is_written", [False, True])
def test_too_late_says_since_when_and_the_room_is_free_at_once(is_written):
    booking = book("A302", TOMORROW, "10:00", "11:00")
    late = at(TOMORROW, "10:20")
    if is_written:
        assert services.release_no_shows(late) == 1
    with pytest.raises(CheckInTooLate) as caught:
        check_in(booking, "10:20")
    assert caught.value.closed_at == late
    assert booking.occurrence.status_at(late) == Status.RELEASED
    other = user("hanmei")
    found = selectors.search(wish(TOMORROW, "10:15", 45, 6, room="A302"), user=other, now=late)
    assert [each.room for each in found.candidates] == ["A302"]
    assert not selectors.room_now("A302", viewer=other, now=late).is_busy
    book("A302", TOMORROW, "10:15", "11:00", organizer=other, now=late)
    assert Booking.objects.get(pk=booking.pk).status == Status.RELEASED
    assert booking.changes.get(action="released").by is None


def test_until_the_grace_is_over_the_room_is_kept():
    book("A302", TOMORROW, "10:00", "11:00")
    with pytest.raises(RoomUnavailable):
        book("A302", TOMORROW, "10:15", "11:00", now=at(TOMORROW, "10:19"))


def test_a_room_booked_in_the_middle_has_its_own_grace():
    booking = book("A302", TODAY, "10:00", "11:00", now=at(TODAY, "10:10"))
    assert booking.occurrence.lapses_at == at(TODAY, "10:30")
    short = book("B202", TODAY, "10:00", "10:15", now=at(TODAY, "10:10"))
    assert short.occurrence.lapses_at == at(TODAY, "10:15")


def test_who_may_check_in_and_to_what():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    with pytest.raises(NotAllowed):
        check_in(booking, "10:00", by=user("hanmei"))
    pending = book("A501", TOMORROW, "10:00", "11:00")
    with pytest.raises(NotApproved):
        check_in(pending, "09:55")
    services.cancel_booking(booking.pk, by=booking.organizer, now=NOW, source="portal")
    with pytest.raises(AlreadyCancelled):
        check_in(booking, "10:00")


def test_without_a_need_one_may_check_in_until_the_end():
    Policy.objects.update(needs_check_in=False)
    booking = book("A302", TOMORROW, "10:00", "11:00")
    assert booking.occurrence.lapses_at is None
    assert check_in(booking, "10:59").status == Status.CHECKED_IN
    over = book("A302", TOMORROW, "12:00", "13:00")
    with pytest.raises(AlreadyOver):
        check_in(over, "13:00")


def test_a_series_is_checked_in_to_by_the_date_whose_time_it_is():
    series = Booking.objects.get(recurrence__gt="")
    with pytest.raises(SeriesNeedsDate):
        check_in(series, "12:00")
    check_in(series, "09:05", day=WEDNESDAY)
    statuses = list(series.occurrences.order_by("during").values_list("status", flat=True))
    assert statuses == ["checked_in", "booked", "booked", "booked"]
    with pytest.raises(CheckInTooEarly):
        check_in(series, "12:00", recurrence_date=WEDNESDAY + timedelta(weeks=1))


def test_what_can_be_checked_in_to_now_is_found_by_person():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    lilei = user("lilei")

    def due(wall, who=lilei):
        return [each.booking for each in selectors.due_check_ins(who, now=at(TOMORROW, wall))]

    assert due("09:49") == []
    assert due("09:50") == due("10:19") == [booking]
    assert due("10:20") == []
    assert due("10:00", user("hanmei")) == []
    check_in(booking, "10:00")
    assert due("10:01") == []


def test_moving_asks_for_a_check_in_at_the_new_time():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    moved = services.reschedule_booking(
        booking.pk,
        by=booking.organizer,
        starts_at=at(TOMORROW, "12:00"),
        now=NOW,
        source="portal",
    )
    assert moved.occurrence.lapses_at == at(TOMORROW, "12:20")


@pytest.mark.django_db(transaction=True)
def test_a_check_in_and_a_release_at_once_are_one_of_them():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    late = at(TOMORROW, "10:20")
    taken = at_once(
        lambda: check_in(booking, "10:19"),
        lambda: book("A302", TOMORROW, "10:15", "11:00", organizer=user("hanmei"), now=late),
        lambda: services.release_no_shows(late),
    )
    active = Occurrence.objects.active().filter(room__code="A302", starts_at__date=TOMORROW)
    assert active.count() == 1 or not any(isinstance(each, Booking) for each in taken)
    statuses = set(active.values_list("status", flat=True))
    assert statuses in ({"checked_in"}, {"booked"})
