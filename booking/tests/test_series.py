"""Series: made whole or not at all, edited without waking the dead, kept to wall time."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import Group

from booking import selectors, services
from booking.exceptions import (
    BookingError,
    IdempotencyMismatch,
    InvalidBooking,
    NonexistentTime,
    PolicyViolation,
    RoomNotFound,
    RoomUnavailable,
    SeriesClash,
)
from booking.models import (
    Booking,
    Grant,
    Occurrence,
    OpeningHours,
    Policy,
    Quota,
    Series,
    SeriesException,
    Site,
    Status,
)
from booking.tests import world
from booking.tests.test_races import at_once
from booking.tests.weekly import cancel, change, dates, series, week
from booking.tests.world import NOW, TODAY, book, user

pytestmark = pytest.mark.django_db
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture(autouse=True)
def _world(db):
    world.build()


def test_a_series_is_on_every_date_of_its_rule():
    made = series()
    assert dates(made) == [week(n) for n in range(5)]
    assert {each.status for each in made.occurrences.all()} == {Status.BOOKED}
    assert made.recurrence == "FREQ=WEEKLY;COUNT=5"
    assert (made.series.start, made.series.zone) == (time(10), "Asia/Shanghai")
    assert len(made.changes.get().after) == 5


def test_the_same_key_is_the_same_series():
    assert series().pk == series().pk
    with pytest.raises(IdempotencyMismatch):
        series(minutes=30)


def test_a_first_day_that_is_not_of_the_rule_begins_with_the_next_that_is():
    made = series(first=TODAY, recurrence="FREQ=WEEKLY;BYDAY=TH;COUNT=2")
    assert (made.series.first, dates(made)) == (week(0), [week(0), week(1)])


def test_one_date_that_is_taken_refuses_the_whole_and_names_it():
    book("B202", week(2), "10:30", "11:30")
    before = Occurrence.objects.count()
    with pytest.raises(SeriesClash) as caught:
        series()
    assert [(each["date"], each["code"]) for each in caught.value.dates] == [
        (week(2).isoformat(), "taken")
    ]
    assert week(2).isoformat() in caught.value.message("zh-hans")
    assert (Occurrence.objects.count(), Series.objects.count()) == (before, 1)


def test_dates_that_are_taken_or_closed_are_skipped_for_good():
    book("B202", week(2), "10:30", "11:30")
    Site.objects.get().special_dates.create(date=week(3), name_en="Outing", name_zh="团建")
    made = series(on_clash="skip")
    assert dates(made) == [week(0), week(1), week(4)]
    kept = list(SeriesException.objects.filter(booking=made).values_list("date", "rule"))
    assert kept == [(week(2), "taken"), (week(3), "holiday")]
    Occurrence.objects.filter(booking__title="").update(status=Status.CANCELLED)
    changed = change(made, start=time(14))
    assert dates(changed) == [week(0), week(1), week(4)]


def test_nothing_left_after_skipping_is_a_clash():
    Site.objects.get().special_dates.create(date=week(0), name_en="x", name_zh="x")
    with pytest.raises(SeriesClash):
        series(recurrence="FREQ=DAILY;COUNT=1", on_clash="skip")


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"minutes": 300}, "max_duration"),
        ({"start": time(10, 5)}, "grid"),
        ({"recurrence": "FREQ=WEEKLY;COUNT=30"}, "horizon"),
        ({"headcount": 9}, "capacity"),
        ({"first": TODAY, "start": time(8), "recurrence": "FREQ=DAILY;COUNT=2"}, "past"),
    ],
)
def test_a_rule_that_is_about_no_single_date_refuses_the_whole(values, rule):
    with pytest.raises(PolicyViolation) as caught:
        series(on_clash="skip", **values)
    assert caught.value.refusal.rule == rule
    assert not Booking.objects.filter(idempotency_key="s").exists()


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"recurrence": "FREQ=WEEKLY"}, "recurrence"),
        ({"recurrence": "every week"}, "recurrence"),
        ({"recurrence": "FREQ=DAILY;UNTIL=99991231"}, "recurrence"),
        ({"recurrence": "FREQ=DAILY;UNTIL=20261101"}, "recurrence"),
        ({"minutes": 0}, "minutes"),
        ({"minutes": 10**9}, "minutes"),
        ({"start": time(10, 0, 1)}, "start"),
        ({"on_clash": "pray"}, "on_clash"),
        ({"title": "x" * 201}, "title"),
        ({"headcount": 0}, "headcount"),
        ({"source": "system"}, "source"),
        ({"first": date(9999, 12, 30), "recurrence": "FREQ=WEEKLY;COUNT=5"}, "recurrence"),
    ],
)
def test_a_value_no_series_can_have_is_named(values, field):
    with pytest.raises(InvalidBooking) as caught:
        series(**values)
    assert caught.value.field == field


def test_a_series_in_a_room_that_asks_waits_as_a_whole_and_is_decided_as_a_whole():
    Policy.objects.update(series_need_approval=True)
    made = series()
    assert {each.status for each in made.occurrences.all()} == {Status.PENDING}
    assert book("B202", week(0), "14:00", "15:00").status == Status.BOOKED
    approved = services.approve_booking(
        made.pk, by=user("admin"), now=NOW, version=1, source="admin"
    )
    assert {each.status for each in approved.occurrences.all()} == {Status.BOOKED}


def test_the_preview_is_what_would_be_booked():
    book("B202", week(2), "10:30", "11:30")
    wish = {"room": "B202", "first": week(0), "start": time(10), "minutes": 60, "now": NOW}
    found = selectors.preview_series(organizer=user("lilei"), rule="freq=weekly;count=5", **wish)
    assert found.rule == "FREQ=WEEKLY;COUNT=5"
    assert [each.date for each in found.clashes] == [week(2)]
    assert [each.date for each in found.possible] == dates(series(on_clash="skip"))
    with pytest.raises(InvalidBooking):
        selectors.preview_series(organizer=user("lilei"), rule="x", **wish)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"room": "Z1"}, "room_not_found"),
        ({"minutes": 0}, "invalid"),
        ({"rule": "FREQ=DAILY;UNTIL=20270901"}, "invalid"),
        ({"rule": "FREQ=DAILY;UNTIL=20261101"}, "invalid"),
    ],
)
def test_a_preview_of_what_cannot_be_says_so(values, code):
    wish = {"room": "B202", "first": week(0), "start": time(10), "minutes": 60, "now": NOW}
    with pytest.raises(BookingError) as caught:
        selectors.preview_series(
            organizer=user("lilei"), **{**wish, "rule": "FREQ=DAILY;COUNT=2", **values}
        )
    assert caught.value.code == code


def test_a_preview_minds_the_rights_of_the_person():
    wish = {
        "room": "B202",
        "first": week(0),
        "start": time(22),
        "minutes": 60,
        "rule": "FREQ=DAILY;COUNT=2",
        "now": NOW,
    }
    assert len(selectors.preview_series(organizer=user("lilei"), **wish).clashes) == 2
    policy, group = Policy.objects.get(), Group.objects.create(name="night watch")
    group.user_set.add(user("lilei"))
    Grant.objects.create(policy=policy, group=group, right="override")
    assert len(selectors.preview_series(organizer=user("lilei"), **wish).possible) == 2
    Grant.objects.create(policy=policy, group=group, right="see")
    with pytest.raises(RoomNotFound):
        selectors.preview_series(organizer=user("hanmei"), **wish)


def test_a_rule_that_gives_only_dates_that_never_come_back_is_refused():
    made = series()
    cancel(made, recurrence_date=week(1))
    with pytest.raises(InvalidBooking) as caught:
        change(made, recurrence=f"FREQ=DAILY;BYMONTHDAY={week(1).day};BYMONTH=12;COUNT=1")
    assert caught.value.field == "recurrence"
    assert len(dates(made)) == 4


def test_quotas_count_every_date():
    Quota.objects.create(policy=Policy.objects.get(), period="month", max_bookings=7)
    with pytest.raises(PolicyViolation) as caught:
        series(recurrence="FREQ=DAILY;COUNT=7", on_clash="skip")
    assert caught.value.refusal.rule == "quota_bookings"
    made = series(recurrence="FREQ=WEEKLY;COUNT=2")  # beside four stand-ups and a demo in December
    assert change(made, start=time(14)).pk == made.pk


@pytest.fixture
def berlin():
    Site.objects.update(time_zone="Europe/Berlin")
    OpeningHours.objects.all().delete()
    policy = Policy.objects.get()
    for weekday in range(1, 8):
        policy.opening_hours.create(weekday=weekday, opens=time(0), closes=time(0))


SPRING = datetime(2027, 3, 20, 12, tzinfo=BERLIN)


def test_nine_stays_nine_across_the_change_of_the_clocks(berlin):
    made = series(
        first=date(2027, 3, 26), start=time(9), recurrence="FREQ=DAILY;COUNT=5", now=SPRING
    )
    local = [each.starts_at.astimezone(BERLIN) for each in made.occurrences.all()]
    assert {each.time() for each in local} == {time(9)}
    assert {each.utcoffset() for each in local} == {timedelta(hours=1), timedelta(hours=2)}


def test_the_hour_that_is_skipped_is_shifted_with_a_mark_in_a_series(berlin):
    made = series(
        first=date(2027, 3, 27), start=time(2, 30), recurrence="FREQ=DAILY;COUNT=3", now=SPRING
    )
    found = [
        (each.starts_at.astimezone(BERLIN).time(), each.is_shifted)
        for each in made.occurrences.all()
    ]
    assert found == [(time(2, 30), False), (time(3, 30), True), (time(2, 30), False)]
    later = change(made, start=time(4), now=SPRING)
    assert not any(each.is_shifted for each in later.occurrences.all())


def test_the_hour_that_is_skipped_is_refused_for_a_single_booking():
    with pytest.raises(NonexistentTime) as caught:
        selectors.local_instant(BERLIN, date(2027, 3, 28), time(2, 30))
    assert "02:30" in caught.value.message("zh-hans")
    twice = selectors.local_instant(BERLIN, date(2027, 10, 31), time(2, 30))
    assert twice.utcoffset() == timedelta(0)
    assert twice.hour == 0


def test_undo_brings_back_what_was_cancelled_while_it_is_free():
    made = series()
    cancelled = cancel(made, recurrence_date=week(3), scope="following")
    moment = cancelled.changes.last().at
    restored = services.restore_booking(
        made.pk, by=made.organizer, now=moment, version=cancelled.version, source="portal"
    )
    assert dates(restored) == [week(n) for n in range(5)]
    assert restored.changes.last().action == "restored"
    cancel(made, recurrence_date=week(3))
    book("B202", week(3), "10:30", "11:00", organizer=user("hanmei"))
    with pytest.raises(RoomUnavailable):
        services.restore_booking(made.pk, by=made.organizer, now=moment, source="portal")


@pytest.mark.django_db(transaction=True)
def test_series_that_cross_at_once_are_one_and_nobody_deadlocks():
    lilei = user("lilei")
    calls = [
        lambda n=n, first=first: series(
            organizer=lilei,
            idempotency_key=f"race-{n}",
            first=week(first),
            recurrence=f"FREQ=WEEKLY;COUNT={5 - first}",
        )
        for n, first in enumerate([0, 1, 2, 3] * 2)
    ]
    results = at_once(*calls)
    assert len([each for each in results if isinstance(each, Booking)]) == 1
    assert {type(each) for each in results} == {Booking, SeriesClash}


@pytest.mark.django_db(transaction=True)
def test_one_key_for_series_in_two_rooms_at_once_makes_one_series():
    lilei = user("lilei")
    calls = [
        lambda code=code: series(organizer=lilei, room=code, idempotency_key="k")
        for code in ("A301", "A302", "A305", "B201", "B202")
    ]
    results = at_once(*calls)
    assert len([each for each in results if isinstance(each, Booking)]) == 1
    assert [type(each) for each in results].count(IdempotencyMismatch) == 4
