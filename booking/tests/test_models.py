from datetime import datetime, time

import pytest
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, ProgrammingError, connection, transaction
from django.utils.translation import override

from booking.models import (
    Booking,
    BookingChange,
    Building,
    Floor,
    Occurrence,
    OpeningHours,
    Policy,
    Room,
    Site,
    SpecialDate,
)
from booking.tests import world
from booking.tests.world import TOMORROW, at, book, user
from booking.visibility import may_see

pytestmark = pytest.mark.django_db
SLOT = "tstzrange('2026-12-01 10:00+08', '2026-12-01 11:00+08', '{}')"


@pytest.fixture(autouse=True)
def _world(db):
    world.build()


def run(sql, *params):
    with connection.cursor() as cursor:
        cursor.execute(sql, params)


def leave_only(constraint):
    """Drop the other checks of the table (until the test's end): it must hold by itself."""
    run("SET CONSTRAINTS ALL IMMEDIATE")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE contype = 'c' AND conname <> %s"
            " AND conrelid = 'booking_occurrence'::regclass",
            [constraint],
        )
        others = [name for (name,) in cursor.fetchall()]
    for name in others:
        run(f'ALTER TABLE booking_occurrence DROP CONSTRAINT "{name}"')


def violated(sql, *params):
    """The constraint that stops a raw statement."""
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        run(sql, *params)
    return caught.value.__cause__.diag.constraint_name


def ranges(during, blocked="during"):
    blocked = during if blocked == "during" else blocked
    return f"UPDATE booking_occurrence SET during = {during}, blocked = {blocked} WHERE id = %s"  # noqa: S608


@pytest.mark.parametrize(
    ("statement", "constraint"),
    [
        (ranges("'empty'::tstzrange", SLOT.format("[)")), "occurrence_during_half_open"),
        (ranges(SLOT.format("[]")), "occurrence_during_half_open"),
        (ranges(SLOT.format("()")), "occurrence_during_half_open"),
        (ranges("tstzrange(NULL, now())"), "occurrence_during_half_open"),
        (ranges("tstzrange(now(), NULL)"), "occurrence_during_half_open"),
        (ranges("tstzrange(now(), 'infinity')"), "occurrence_during_finite"),
        (ranges("tstzrange('-infinity', now())"), "occurrence_during_finite"),
        (ranges(SLOT.format("[)"), SLOT.format("[]")), "occurrence_blocked_half_open"),
        (ranges(SLOT.format("[)"), "tstzrange('2026-12-01 10:00+08', 'infinity')"), "occurrence_blocked_finite"),
        (ranges(SLOT.format("[)"), "tstzrange('2026-12-01 10:15+08', '2026-12-01 11:00+08')"), "occurrence_blocked_covers"),
        ("UPDATE booking_occurrence SET status = 'maybe' WHERE id = %s", "occurrence_status_known"),
    ],
)  # fmt: skip
def test_an_occurrence_keeps_its_shape(statement, constraint):
    occurrence = book("A302", TOMORROW, "10:00", "11:00").occurrence
    leave_only(constraint)
    assert violated(statement, occurrence.pk) == constraint


@pytest.mark.parametrize(
    ("assignment", "constraint"),
    [
        ("headcount = 0", "booking_headcount_positive"),
        ("version = 0", "booking_version_positive"),
        ("idempotency_key = ''", "booking_has_key"),
        ("source = 'fax'", "booking_source_known"),
        ("visibility = 'secret'", "booking_visibility_known"),
        ("source = 'chat'", "booking_chat_has_effect"),
        ("organizer_id = NULL", None),
    ],
)
def test_a_booking_keeps_its_values(assignment, constraint):
    booking = book("A302", TOMORROW, "10:00", "11:00")
    found = violated(f"UPDATE booking_booking SET {assignment} WHERE id = %s", booking.pk)  # noqa: S608
    assert found == constraint


def test_a_title_has_a_length():
    with pytest.raises(DataError), transaction.atomic():
        Booking.objects.update(title="x" * 201)


def test_a_key_makes_one_booking_of_a_person():
    book("A302", TOMORROW, "10:00", "11:00", idempotency_key="one")
    other = book("A302", TOMORROW, "12:00", "13:00", idempotency_key="two")
    statement = "UPDATE booking_booking SET idempotency_key = 'one' WHERE id = %s"
    assert violated(statement, other.pk) == "booking_once_per_key"


@pytest.mark.parametrize("status", ["held", "pending", "booked", "checked_in"])
def test_two_active_occurrences_never_overlap_in_a_room(status):
    book("A302", TOMORROW, "10:00", "11:00")
    other = book("A302", TOMORROW, "11:00", "12:00").occurrence
    Occurrence.objects.filter(pk=other.pk).update(status=status)
    statement = ranges("tstzrange('2026-12-01 10:45+08', '2026-12-01 11:45+08')")
    assert violated(statement, other.pk) == "occurrence_room_free"


@pytest.mark.parametrize("status", ["completed", "cancelled", "rejected", "expired", "released"])
def test_an_occurrence_that_is_no_longer_active_blocks_nothing(status):
    gone = book("A302", TOMORROW, "10:00", "11:00").occurrence
    Occurrence.objects.filter(pk=gone.pk).update(status=status)
    book("A302", TOMORROW, "10:00", "11:00", idempotency_key="again")


def test_two_bookings_swap_rooms_when_the_check_is_deferred():
    one = book("A302", TOMORROW, "10:00", "11:00").occurrence
    other = book("B202", TOMORROW, "10:00", "11:00").occurrence
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS occurrence_room_free DEFERRED")
        Occurrence.objects.filter(pk=one.pk).update(room=other.room)
        Occurrence.objects.filter(pk=other.pk).update(room=one.room)
        cursor.execute("SET CONSTRAINTS occurrence_room_free IMMEDIATE")
    one.refresh_from_db()
    assert one.room.code == "B202"


def test_a_date_of_a_series_and_a_single_booking_have_one_occurrence():
    insert = (
        "INSERT INTO booking_occurrence (booking_id, room_id, during, blocked, status, recurrence_date)"
        " SELECT booking_id, room_id, during, blocked, 'cancelled', recurrence_date"
        " FROM booking_occurrence WHERE id = %s"
    )
    single = book("A302", TOMORROW, "10:00", "11:00").occurrence
    dated = Occurrence.objects.filter(recurrence_date__isnull=False).first()
    assert violated(insert, single.pk) == "occurrence_once_per_date"
    assert violated(insert, dated.pk) == "occurrence_once_per_date"


def test_the_ends_of_an_occurrence_are_its_range():
    occurrence = book("A302", TOMORROW, "10:00", "11:00").occurrence
    assert (occurrence.starts_at, occurrence.ends_at) == (
        at(TOMORROW, "10:00"),
        at(TOMORROW, "11:00"),
    )
    with pytest.raises(ProgrammingError, match="generated"), transaction.atomic():
        run("UPDATE booking_occurrence SET starts_at = now()")


@pytest.mark.parametrize(
    ("table", "assignment", "constraint"),
    [
        ("room", "seats = 0", "room_has_seats"),
        ("room", "code = ''", "room_has_code"),
        ("building", "code = ''", "building_has_code"),
        ("profile", "language = 'fr'", "profile_language_known"),
        ("openinghours", "weekday = 0", "opening_hours_weekday"),
        ("openinghours", "closes = opens", "opening_hours_not_empty"),
        ("policy", "min_minutes = 0", "policy_duration_sane"),
        ("policy", "min_minutes = 300", "policy_duration_sane"),
        ("policy", "max_minutes = 1500", "policy_duration_sane"),
        ("policy", "grid_minutes = 7", "policy_grid_divides_hour"),
        ("policy", "grid_minutes = 0", "policy_grid_divides_hour"),
        ("policy", "horizon_days = 5000", "policy_reach_sane"),
        ("policy", "buffer_after_minutes = 5000", "policy_reach_sane"),
        ("bookingchange", "source = 'fax'", "change_source_known"),
    ],
)
def test_places_and_rules_keep_their_values(table, assignment, constraint):
    book("A302", TOMORROW, "10:00", "11:00")
    statement = (
        f"UPDATE booking_{table} SET {assignment} WHERE id = (SELECT min(id) FROM booking_{table})"  # noqa: S608
    )
    assert violated(statement) == constraint


@pytest.mark.parametrize("model", [SpecialDate, Building, Floor, OpeningHours])
def test_a_second_of_the_same_is_refused(model):
    again = model.objects.first()
    again.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        again.save(force_insert=True)


def test_a_room_code_is_unique():
    room = Room.objects.first()
    room.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        room.save(force_insert=True)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (Policy(name="x", min_minutes=60, max_minutes=30), "at least the shortest"),
        (Policy(name="x", grid_minutes=7), "divides an hour"),
        (Policy(name="x", horizon_days=2000), "three years"),
        (Site(name_en="x", name_zh="x", time_zone="Mars/Olympus"), "no IANA time zone"),
        (OpeningHours(weekday=1, opens=time(9), closes=time(8)), "closes after it opens"),
    ],
)
def test_forms_say_what_is_wrong_in_words(broken, says):
    if isinstance(broken, OpeningHours):
        broken.policy = Policy.objects.first()
    with override("en"), pytest.raises(ValidationError, match=says):
        broken.full_clean()


def test_a_midnight_close_is_allowed():
    OpeningHours.objects.update(closes=time(0))
    assert str(OpeningHours.objects.first()).endswith("08:00-00:00")


def test_names_follow_the_readers_language():
    hall = Room.objects.get(code="B801")
    with override("zh-hans"):
        assert str(hall) == "B801 大礼堂"
    with override("en"):
        assert str(hall) == "B801 Main Hall"
        assert str(hall.floor) == "B 8F"
    hall.name_en = "B801"
    with override("en"):
        assert str(hall) == "B801"


def test_only_the_organizer_sees_a_private_booking():
    secret = Booking.objects.get(visibility="private")
    assert may_see(secret, user("wangfang"))
    assert not may_see(secret, user("lilei"))
    assert not may_see(secret, None)
    assert may_see(Booking.objects.filter(visibility="public").first(), user("hanmei"))
    assert "Secret" not in str(secret)


def test_history_is_plain_json():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    [change] = BookingChange.objects.filter(booking=booking)
    [after] = change.after
    assert after["room"] == "A302"
    assert datetime.fromisoformat(after["starts_at"]) == at(TOMORROW, "10:00")
    assert str(change) == f"#{booking.pk} · Booked"
    assert str(booking) == f"#{booking.pk}"
    assert str(user("lilei").profile) == "lilei"
    assert str(Policy.objects.first()) == "Office hours"
