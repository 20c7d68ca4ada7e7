from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from booking import services
from booking.exceptions import (
    AlreadyCancelled,
    AlreadyOver,
    BookingNotFound,
    IdempotencyMismatch,
    InvalidBooking,
    NotAllowed,
    PolicyViolation,
    RoomNotFound,
    RoomUnavailable,
    SeriesNeedsDate,
    VersionConflict,
)
from booking.models import Booking, BookingChange, Occurrence, Policy, Room, Source, Status
from booking.tests import world
from booking.tests.world import NOW, TODAY, TOMORROW, WEDNESDAY, at, book, user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _world(db):
    world.build()


def move(booking, **more):
    values = {"by": booking.organizer, "now": NOW, "source": Source.PORTAL}
    return services.reschedule_booking(booking.pk, **{**values, **more})


def cancel(booking, **more):
    values = {"by": booking.organizer, "now": NOW, "source": Source.PORTAL}
    return services.cancel_booking(booking.pk, **{**values, **more})


def amend(booking, **more):
    values = {"by": booking.organizer, "source": Source.PORTAL}
    return services.amend_booking(booking.pk, **{**values, **more})


def actions(booking):
    return list(BookingChange.objects.filter(booking=booking).values_list("action", flat=True))


def refused(call):
    """The rule that refuses a call, which writes nothing."""
    before = list(Occurrence.objects.order_by("pk").values())
    with pytest.raises(PolicyViolation) as caught:
        call()
    assert list(Occurrence.objects.order_by("pk").values()) == before
    return caught.value.refusal.rule


def test_a_booking_holds_what_was_asked_for():
    booking = book("A302", TOMORROW, "10:00", "11:00", headcount=5, title=" Plan \n 2027 ")
    assert (booking.room.code, booking.starts_at, booking.ends_at) == (
        "A302",
        at(TOMORROW, "10:00"),
        at(TOMORROW, "11:00"),
    )
    assert (booking.title, booking.headcount, booking.status) == ("Plan 2027", 5, Status.BOOKED)
    assert (booking.organizer.username, booking.source, booking.version) == ("lilei", "portal", 1)
    assert actions(booking) == ["booked"]


def test_back_to_back_is_free_and_an_overlap_is_taken():
    book("A302", TOMORROW, "10:00", "11:00")
    book("A302", TOMORROW, "11:00", "12:00")
    with pytest.raises(RoomUnavailable) as caught:
        book("A302", TOMORROW, "10:45", "11:15")
    assert (caught.value.code, caught.value.room) == ("taken", "A302")


def test_buffers_keep_bookings_apart():
    Policy.objects.update(buffer_before_minutes=15, buffer_after_minutes=15)
    booking = book("A302", TOMORROW, "10:00", "11:00")
    blocked = booking.occurrence.blocked
    assert (blocked.lower, blocked.upper) == (at(TOMORROW, "09:45"), at(TOMORROW, "11:15"))
    with pytest.raises(RoomUnavailable):
        book("A302", TOMORROW, "11:15", "12:00")
    book("A302", TOMORROW, "11:30", "12:00")


def test_a_request_for_approval_blocks_the_slot():
    pending = book("A501", TOMORROW, "10:00", "11:00")
    assert pending.status == Status.PENDING
    with pytest.raises(RoomUnavailable):
        book("A501", TOMORROW, "10:30", "11:30", organizer=user("hanmei"))


def test_a_policy_that_needs_approval_makes_requests_too():
    Policy.objects.update(needs_approval=True)
    assert book("A302", TOMORROW, "10:00", "11:00").status == Status.PENDING


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"day": TODAY, "starts": "08:00", "ends": "09:00"}, "past"),
        ({"starts": "20:30", "ends": "21:30"}, "opening_hours"),
        ({"starts": "10:05", "ends": "11:00"}, "grid"),
        ({"ends": "15:00"}, "max_duration"),
        ({"ends": "10:00"}, "min_duration"),
        ({"ends": "09:00"}, "min_duration"),
        ({"headcount": 7}, "capacity"),
    ],
)
def test_a_rule_is_checked_again_inside(values, rule):
    wanted = {"room": "A302", "day": TOMORROW, "starts": "10:00", "ends": "11:00", **values}
    bookings = Booking.objects.count()
    assert refused(lambda: book(**wanted)) == rule
    assert Booking.objects.count() == bookings


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"headcount": 0}, "headcount"),
        ({"headcount": 10**9}, "headcount"),
        ({"title": "x" * 201}, "title"),
        ({"visibility": "secret"}, "visibility"),
        ({"source": "fax"}, "source"),
        ({"idempotency_key": ""}, "idempotency_key"),
        ({"idempotency_key": "k" * 201}, "idempotency_key"),
        ({"starts_at": at(TOMORROW, "10:00").replace(tzinfo=None)}, "starts_at"),
    ],
)
def test_a_value_no_booking_can_have_is_named(values, field):
    with pytest.raises(InvalidBooking) as caught:
        book("A302", TOMORROW, "10:00", "11:00", **values)
    assert caught.value.field == field


def test_a_nul_in_a_title_is_a_space():
    assert book("A302", TOMORROW, "10:00", "11:00", title="a\0b").title == "a b"


def test_an_unknown_or_closed_room_is_not_found():
    Room.objects.filter(code="A302").update(is_active=False)
    for code in ("A302", "Z1"):
        with pytest.raises(RoomNotFound):
            book(code, TOMORROW, "10:00", "11:00")


def test_the_same_key_again_is_the_same_booking_even_after_a_move():
    booking = book("A302", TOMORROW, "10:00", "11:00", idempotency_key="k")
    assert book("A302", TOMORROW, "10:00", "11:00", idempotency_key="k") == booking
    move(booking, starts_at=at(TOMORROW, "12:00"))
    again = book("A302", TOMORROW, "10:00", "11:00", idempotency_key="k")
    assert (again, again.starts_at) == (booking, at(TOMORROW, "12:00"))
    assert actions(booking) == ["booked", "moved"]


@pytest.mark.parametrize("values", [{"room": "B202"}, {"ends": "11:15"}, {"title": "Other"}])
def test_the_same_key_for_another_request_is_a_mismatch(values):
    wanted = {"room": "A302", "day": TOMORROW, "starts": "10:00", "ends": "11:00"}
    book(**wanted, idempotency_key="k")
    with pytest.raises(IdempotencyMismatch):
        book(**{**wanted, **values}, idempotency_key="k")


def test_another_persons_key_is_another_key():
    book("A302", TOMORROW, "10:00", "11:00", idempotency_key="k")
    book("B202", TOMORROW, "10:00", "11:00", idempotency_key="k", organizer=user("hanmei"))


def test_a_refusal_leaves_the_callers_transaction_usable():
    book("A302", TOMORROW, "10:00", "11:00")
    with transaction.atomic():
        with pytest.raises(RoomUnavailable):
            book("A302", TOMORROW, "10:30", "11:30")
        kept = book("B202", TOMORROW, "10:30", "11:30")
    assert Booking.objects.filter(pk=kept.pk).exists()


def test_booking_takes_few_statements(django_assert_max_num_queries):
    lilei = user("lilei")
    with django_assert_max_num_queries(12):  # two of them are the savepoint's
        book("A302", TOMORROW, "10:00", "11:00", organizer=lilei)


def test_cancelling_frees_the_slot_and_is_told_once():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    done = cancel(booking, reason="no\nneed")
    assert (done.status, done.version) == (Status.CANCELLED, 2)
    assert BookingChange.objects.get(booking=booking, action="cancelled").reason == "no need"
    with pytest.raises(AlreadyCancelled):
        cancel(booking)
    book("A302", TOMORROW, "10:00", "11:00", organizer=user("hanmei"))


def test_what_is_over_is_not_cancelled_nor_moved():
    booking = book("A302", TODAY, "10:00", "11:00")
    later = at(TODAY, "11:00")
    with pytest.raises(AlreadyOver):
        cancel(booking, now=later)
    with pytest.raises(AlreadyOver):
        move(booking, starts_at=at(TOMORROW, "10:00"), now=later)


@pytest.mark.parametrize("act", [cancel, move, amend])
def test_a_booking_is_its_organizers(act):
    booking = book("A302", TOMORROW, "10:00", "11:00")
    with pytest.raises(NotAllowed):
        act(booking, by=user("hanmei"))
    with pytest.raises(NotAllowed):
        act(booking, by=user("hanmei"), source=Source.ADMIN)
    with pytest.raises(NotAllowed):
        act(booking, by=user("admin"), source=Source.CHAT)


@pytest.mark.parametrize("act", [cancel, move, amend])
def test_a_stale_version_or_a_missing_booking_is_refused(act):
    booking = book("A302", TOMORROW, "10:00", "11:00")
    with pytest.raises(VersionConflict) as caught:
        act(booking, version=7)
    assert caught.value.version == 1
    booking.pk = 0
    with pytest.raises(BookingNotFound):
        act(booking)


def test_a_booking_by_chat_without_its_effect_is_a_bug_not_a_refusal():
    with pytest.raises(IntegrityError, match="booking_chat_has_effect"):
        book("A302", TOMORROW, "10:00", "11:00", source=Source.CHAT)


def test_an_administrator_cancels_through_the_administration():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    done = cancel(booking, by=user("admin"), source=Source.ADMIN)
    assert done.status == Status.CANCELLED


def test_moving_the_start_keeps_the_duration_and_the_end_changes_it():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    moved = move(booking, starts_at=at(TOMORROW, "12:00"), version=1)
    assert (moved.ends_at, moved.version) == (at(TOMORROW, "13:00"), 2)
    longer = move(booking, ends_at=at(TOMORROW, "14:00"), version=2)
    assert (longer.starts_at, longer.ends_at) == (at(TOMORROW, "12:00"), at(TOMORROW, "14:00"))
    change = BookingChange.objects.filter(booking=booking).last()
    assert change.before[0]["ends_at"] != change.after[0]["ends_at"]


def test_moving_over_its_own_slot_is_free():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    assert move(booking, starts_at=at(TOMORROW, "10:30")).starts_at == at(TOMORROW, "10:30")


def test_the_old_slot_is_kept_when_the_new_one_is_taken():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    book("A302", TOMORROW, "12:00", "13:00", organizer=user("hanmei"))
    with pytest.raises(RoomUnavailable):
        move(booking, starts_at=at(TOMORROW, "12:30"))
    with pytest.raises(RoomUnavailable):
        book("A302", TOMORROW, "10:00", "11:00", organizer=user("zhaoqiang"))
    assert Booking.objects.get(pk=booking.pk).version == 1


def test_moving_to_where_it_is_writes_nothing():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    assert move(booking, starts_at=at(TOMORROW, "10:00"), room="A302").version == 1
    assert actions(booking) == ["booked"]


def test_a_move_into_a_room_on_request_waits_again_and_back_is_booked():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    assert move(booking, room="A501").status == Status.PENDING
    assert move(booking, room="A302").status == Status.BOOKED


def test_an_approved_booking_moved_in_time_waits_again():
    booking = book("A501", TOMORROW, "10:00", "11:00")
    Occurrence.objects.filter(booking=booking).update(status=Status.BOOKED)
    assert move(booking, starts_at=at(TOMORROW, "12:00")).status == Status.PENDING


def test_a_move_obeys_the_rules():
    booking = book("A302", TOMORROW, "10:00", "11:00", headcount=6)
    assert refused(lambda: move(booking, starts_at=at(TOMORROW, "22:00"))) == "opening_hours"
    assert refused(lambda: move(booking, starts_at=at(TODAY, "09:00"))) == "past"
    assert refused(lambda: move(booking, room="B202")) == "capacity"
    with pytest.raises(InvalidBooking):
        move(booking, ends_at=at(TOMORROW, "09:00"))
    with pytest.raises(RoomNotFound):
        move(booking, room="Z1")
    cancel(booking)
    with pytest.raises(AlreadyCancelled):
        move(booking, starts_at=at(TOMORROW, "12:00"))


def test_a_running_meeting_may_be_made_longer():
    booking = book("A302", TODAY, "10:00", "11:00")
    Occurrence.objects.filter(booking=booking).update(status=Status.CHECKED_IN)
    longer = move(booking, ends_at=at(TODAY, "11:30"), now=at(TODAY, "10:40"))
    assert (longer.ends_at, longer.status) == (at(TODAY, "11:30"), Status.CHECKED_IN)
    assert (
        refused(lambda: move(booking, starts_at=at(TODAY, "10:15"), now=at(TODAY, "10:40")))
        == "past"
    )


def test_details_change_without_a_move():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    changed = amend(booking, title="New", visibility="private", headcount=6)
    assert (changed.title, changed.visibility, changed.headcount) == ("New", "private", 6)
    assert changed.version == 2
    assert refused(lambda: amend(booking, headcount=7)) == "capacity"
    with pytest.raises(InvalidBooking):
        amend(booking, visibility="secret")
    assert amend(booking, title="New").version == 2
    cancel(booking)
    with pytest.raises(AlreadyCancelled):
        amend(booking, title="Late")


def test_one_date_of_a_series_is_moved_and_the_rest_stays():
    series = Booking.objects.get(recurrence__gt="")
    day = WEDNESDAY + timedelta(weeks=1)
    with pytest.raises(SeriesNeedsDate):
        move(series, starts_at=at(day, "14:00"))
    move(series, starts_at=at(day, "14:00"), recurrence_date=day)
    times = [each.starts_at for each in series.occurrences.order_by("recurrence_date")]
    assert times == [
        at(WEDNESDAY, "09:00"),
        at(day, "14:00"),
        at(day + timedelta(weeks=1), "09:00"),
        at(day + timedelta(weeks=2), "09:00"),
    ]
    with pytest.raises(BookingNotFound):
        move(series, starts_at=at(TOMORROW, "14:00"), recurrence_date=TOMORROW)


def test_a_series_is_cancelled_by_the_date_or_from_now_on():
    series = Booking.objects.get(recurrence__gt="")
    cancel(series, recurrence_date=WEDNESDAY + timedelta(weeks=2))
    cancel(series, now=at(WEDNESDAY, "10:00"))
    statuses = [each.status for each in series.occurrences.order_by("recurrence_date")]
    assert statuses == ["booked", "cancelled", "cancelled", "cancelled"]
    with pytest.raises(AlreadyCancelled):
        cancel(series, recurrence_date=WEDNESDAY + timedelta(weeks=2))
