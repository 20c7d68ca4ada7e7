from datetime import timedelta

import pytest
from django.contrib.auth.models import Group

from booking import selectors, services
from booking.exceptions import (
    AlreadyDecided,
    BookingNotFound,
    InvalidBooking,
    NotAllowed,
    RoomUnavailable,
    VersionConflict,
)
from booking.models import Booking, BookingChange, Grant, Occurrence, Policy, Status
from booking.tests import world
from booking.tests.test_races import at_once
from booking.tests.world import NOW, TODAY, TOMORROW, WEDNESDAY, at, book, user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _world(db):
    world.build()
    group = Group.objects.create(name="approvers")
    Grant.objects.create(policy=Policy.objects.get(), group=group, right="approve")
    group.user_set.set([user("wangfang"), user("hanmei")])


def request_room(**more):
    return book("A501", TOMORROW, "10:00", "11:00", headcount=15, **more)


def approve(booking, *, by="wangfang", now=NOW, **more):
    values = {"version": booking.version, "source": "portal", **more}
    return services.approve_booking(booking.pk, by=user(by), now=now, **values)


def reject(booking, *, by="wangfang", now=NOW, reason="Needed by the board", **more):
    values = {"version": booking.version, "source": "portal", **more}
    return services.reject_booking(booking.pk, by=user(by), now=now, reason=reason, **values)


def test_an_approved_request_is_booked():
    made = approve(request_room(), reason="Fine")
    assert (made.status, made.version, made.occurrence.lapses_at) == (Status.BOOKED, 2, None)
    change = made.changes.get(action="approved")
    assert (change.by, change.source, change.reason) == (user("wangfang"), "portal", "Fine")
    assert [each["status"] for each in (*change.before, *change.after)] == ["pending", "booked"]


def test_a_rejected_request_frees_the_room_and_says_why():
    rejected = reject(request_room())
    assert rejected.status == Status.REJECTED
    assert rejected.changes.get(action="rejected").reason == "Needed by the board"
    assert request_room(idempotency_key="again").status == Status.PENDING


def test_a_rejection_without_a_reason_is_none():
    booking = request_room()
    with pytest.raises(InvalidBooking) as caught:
        reject(booking, reason=" \0 ")
    assert caught.value.field == "reason"
    assert Booking.objects.get(pk=booking.pk).status == Status.PENDING


def test_only_an_approver_decides_and_never_on_their_own():
    booking = request_room()
    for name in ("zhaoqiang", "lilei"):
        with pytest.raises(NotAllowed):
            approve(booking, by=name)
    own = book("A501", TOMORROW, "14:00", "15:00", organizer=user("wangfang"))
    with pytest.raises(NotAllowed):
        approve(own, by="wangfang")
    assert approve(own, by="hanmei").status == Status.BOOKED
    assert approve(booking, by="admin").status == Status.BOOKED  # by permission
    with pytest.raises(BookingNotFound):
        services.approve_booking(0, by=user("hanmei"), now=NOW, version=1, source="api")


def test_what_changed_since_it_was_read_is_not_approved():
    booking = request_room()
    services.reschedule_booking(
        booking.pk,
        by=booking.organizer,
        starts_at=at(TOMORROW, "12:00"),
        now=NOW,
        source="portal",
    )
    with pytest.raises(VersionConflict):
        approve(booking)
    with pytest.raises(VersionConflict):
        reject(booking)
    assert approve(Booking.objects.get(pk=booking.pk)).starts_at == at(TOMORROW, "12:00")


def test_a_decision_is_not_taken_twice():
    booking = request_room()
    approve(booking)
    for decide in (approve, reject):
        with pytest.raises(AlreadyDecided) as caught:
            decide(booking, by="hanmei")
        assert caught.value.status == Status.BOOKED
    plain = book("A302", TOMORROW, "10:00", "11:00")
    with pytest.raises(AlreadyDecided):
        approve(plain)


def test_a_request_waits_its_time_and_then_counts_no_more_at_once():
    Policy.objects.update(request_hours=2)
    booking = request_room()
    assert booking.occurrence.lapses_at == NOW + timedelta(hours=2)
    later = NOW + timedelta(hours=2)
    with pytest.raises(RoomUnavailable):
        book("A501", TOMORROW, "10:30", "11:30", organizer=user("hanmei"))
    with pytest.raises(AlreadyDecided) as caught:
        approve(booking, now=later)
    assert caught.value.status == Status.EXPIRED
    assert booking.occurrence.status_at(later) == Status.EXPIRED
    assert not selectors.bookings_of(
        user("lilei"), starts_at=at(TOMORROW, "10:00"), ends_at=at(TOMORROW, "11:00"), now=later
    )
    # Nobody has written it down yet, and still the room is free.
    book("A501", TOMORROW, "10:30", "11:30", organizer=user("hanmei"), now=later)
    change = booking.changes.get(action="expired")
    assert (change.by, change.source) == (None, "system")
    assert Booking.objects.get(pk=booking.pk).status == Status.EXPIRED


def test_a_request_expires_when_the_slot_could_not_be_booked_any_more():
    booking = book("A501", TODAY, "11:00", "12:00", headcount=15)
    assert booking.occurrence.lapses_at == at(TODAY, "11:15")
    assert services.expire_requests(at(TODAY, "11:14")) == 0
    assert services.expire_requests(at(TODAY, "11:15")) == 1
    assert services.expire_requests(at(TODAY, "11:15")) == 0
    assert Booking.objects.get(pk=booking.pk).status == Status.EXPIRED
    assert BookingChange.objects.get(booking=booking, action="expired").before


def test_a_running_approved_meeting_made_longer_waits_again_and_is_not_lost_at_once():
    booking = approve(book("A501", TODAY, "10:00", "11:00", headcount=15))
    longer = services.reschedule_booking(
        booking.pk,
        by=booking.organizer,
        ends_at=at(TODAY, "11:30"),
        now=at(TODAY, "10:40"),
        source="portal",
    )
    assert longer.status == Status.PENDING
    assert longer.occurrence.blocks(at(TODAY, "11:00"))


def test_requests_wait_for_those_who_may_decide_oldest_first():
    Policy.objects.update(needs_approval=True)
    first, second = request_room(), book("A302", WEDNESDAY, "10:00", "11:00")
    mine = book("A305", WEDNESDAY, "10:00", "11:00", organizer=user("hanmei"))
    waiting = list(selectors.requests_for(user("wangfang"), now=NOW))
    assert waiting == [first, second, mine]
    assert list(selectors.requests_for(user("hanmei"), now=NOW)) == [first, second]
    assert list(selectors.requests_for(user("zhaoqiang"), now=NOW)) == []
    reject(first)
    assert list(selectors.requests_for(user("hanmei"), now=NOW)) == [second]
    assert not selectors.requests_for(user("hanmei"), now=at(WEDNESDAY, "12:00"))


@pytest.mark.django_db(transaction=True)
def test_two_decisions_on_one_request_at_once_are_one():
    booking = request_room()
    results = at_once(
        lambda: approve(booking), lambda: reject(booking, by="hanmei"), lambda: approve(booking)
    )
    assert sorted(type(each).__name__ for each in results) == [
        "AlreadyDecided",
        "AlreadyDecided",
        "Booking",
    ]
    assert booking.changes.exclude(action="booked").count() == 1


@pytest.mark.django_db(transaction=True)
def test_competing_requests_for_one_slot_are_one_and_one_is_approved():
    results = at_once(
        *(
            lambda name=name: request_room(organizer=user(name), idempotency_key=f"by-{name}")
            for name in ("lilei", "zhaoqiang", "hanmei")
        )
    )
    [made] = [each for each in results if isinstance(each, Booking)]
    assert Occurrence.objects.filter(room__code="A501").count() == 1
    decided = at_once(*[lambda: approve(made)] * 3)
    assert len([each for each in decided if isinstance(each, Booking)]) == 1
