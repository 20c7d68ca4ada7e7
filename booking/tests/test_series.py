"""Series: made whole or not at all, edited without waking the dead, kept to wall time."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import Group

from booking import selectors, services
from booking.exceptions import (
    AlreadyOver,
    BookingError,
    BookingNotFound,
    IdempotencyMismatch,
    InvalidBooking,
    NonexistentTime,
    NotAllowed,
    PolicyViolation,
    RoomNotFound,
    RoomUnavailable,
    SeriesClash,
    VersionConflict,
)
from booking.models import (
    Booking,
    BookingChange,
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
from booking.tests.world import NOW, TODAY, TOMORROW, at, book, user

pytestmark = pytest.mark.django_db
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture(autouse=True)
def _world(db):
    world.build()


def week(number):
    """Thursdays: nothing else of the world is on them."""
    return date(2026, 12, 3) + timedelta(weeks=number)


def series(**more):
    values = {
        "organizer": user("lilei"),
        "room": "B202",
        "first": week(0),
        "start": time(10),
        "minutes": 60,
        "recurrence": "FREQ=WEEKLY;COUNT=5",
        "headcount": 3,
        "title": "Weekly",
        "source": "portal",
        "idempotency_key": "s",
        "now": NOW,
    }
    return services.book_series(**{**values, **more})


def change(booking, **more):
    values = {"by": booking.organizer, "scope": "all", "source": "portal", "now": NOW, **more}
    return services.change_series(booking.pk, **values)


def cancel(booking, **more):
    values = {"by": booking.organizer, "source": "portal", "now": NOW, **more}
    return services.cancel_booking(booking.pk, **values)


def dates(booking, *, active=True):
    """The local days on which the series is."""
    found = Occurrence.objects.filter(booking=booking)
    found = found.active() if active else found
    return sorted(each.starts_at.astimezone(world.SHANGHAI).date() for each in found)


def starts(booking):
    found = Occurrence.objects.active().filter(booking=booking).order_by("during")
    return [each.starts_at for each in found]


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


def test_all_coming_dates_move_in_place_when_none_is_over():
    made = series()
    moved = change(made, start=time(14), minutes=90, room="A302")
    assert moved.pk == made.pk
    assert starts(moved) == [at(week(n), "14:00") for n in range(5)]
    assert {each.room.code for each in moved.occurrences.all()} == {"A302"}
    record = moved.changes.get(action="moved")
    assert (len(record.before), len(record.after), moved.version) == (5, 5, 2)


def test_dates_that_pass_through_each_others_slots_do_not_clash_with_themselves():
    made = series(recurrence="FREQ=DAILY;COUNT=2", minutes=120)
    hour_later = change(made, start=time(11))
    assert starts(hour_later) == [at(week(0), "11:00"), at(week(0) + timedelta(days=1), "11:00")]


def test_this_and_following_become_a_series_of_their_own():
    made = series()
    rest = change(made, scope="following", recurrence_date=week(2), start=time(15))
    made.refresh_from_db()
    assert (rest.continues, rest.recurrence, made.recurrence) == (
        made,
        "FREQ=WEEKLY;COUNT=3",
        "FREQ=WEEKLY;COUNT=2",
    )
    assert starts(made) == [at(week(0), "10:00"), at(week(1), "10:00")]
    assert starts(rest) == [at(week(n), "15:00") for n in (2, 3, 4)]
    assert made.changes.get(action="split").after == []
    assert rest.changes.get().action == "booked"
    again = change(rest, scope="following", recurrence_date=week(4), start=time(16))
    assert starts(again) == [at(week(4), "16:00")]


def test_a_change_of_all_never_touches_the_past():
    made = series()
    later = at(week(1), "12:00")
    rest = change(made, start=time(15), now=later)
    assert rest.pk != made.pk
    assert starts(made) == [at(week(0), "10:00"), at(week(1), "10:00")]
    assert starts(rest) == [at(week(n), "15:00") for n in (2, 3, 4)]
    running = at(week(3), "15:30")
    last = change(rest, start=time(9), now=running)
    assert at(week(3), "15:00") in starts(rest)
    assert starts(last) == [at(week(4), "09:00")]


def test_an_edit_never_resurrects_a_cancelled_date():
    made = series()
    cancel(made, recurrence_date=week(1))
    cancel(made, recurrence_date=week(3))
    moved = change(made, start=time(14))
    assert dates(moved) == [week(0), week(2), week(4)]
    longer = change(moved, recurrence="FREQ=WEEKLY;COUNT=7")
    assert dates(longer) == [week(n) for n in (0, 2, 4, 5, 6)]
    rest = change(longer, scope="following", recurrence_date=week(2), start=time(16))
    assert dates(rest) == [week(n) for n in (2, 4, 5, 6)]
    cancelled = Occurrence.objects.filter(status=Status.CANCELLED)
    assert sorted(each.recurrence_date for each in cancelled) == [week(1), week(3)]


def test_a_date_moved_by_itself_stays_where_it_was_put():
    made = series()
    services.reschedule_booking(
        made.pk,
        by=made.organizer,
        starts_at=at(week(1), "16:00"),
        recurrence_date=week(1),
        now=NOW,
        source="portal",
    )
    moved = change(made, start=time(14))
    assert starts(moved) == [
        at(week(0), "14:00"),
        at(week(1), "16:00"),
        *(at(week(n), "14:00") for n in (2, 3, 4)),
    ]
    with pytest.raises(SeriesClash) as caught:
        change(moved, start=time(15, 30), recurrence="FREQ=DAILY;UNTIL=20270101")
    assert "holiday" in {each["code"] for each in caught.value.dates}


def test_another_rule_gives_other_dates_and_keeps_the_common_ones():
    made = series()
    twice = change(made, recurrence="FREQ=WEEKLY;BYDAY=TU,TH;COUNT=4")
    tuesday = week(0) + timedelta(days=5)
    assert dates(twice) == [week(0), tuesday, week(1), tuesday + timedelta(weeks=1)]
    assert dates(twice, active=False) == dates(twice)
    back = change(twice, recurrence="FREQ=WEEKLY;COUNT=3")
    assert dates(back) == [week(n) for n in range(3)]


def test_a_change_that_clashes_is_refused_as_a_whole_or_skips_those_dates():
    made = series()
    book("B202", week(2), "14:00", "15:00", organizer=user("hanmei"))
    with pytest.raises(SeriesClash):
        change(made, start=time(14))
    assert starts(made) == [at(week(n), "10:00") for n in range(5)]
    skipped = change(made, start=time(14), on_clash="skip")
    assert dates(skipped) == [week(n) for n in (0, 1, 3, 4)]
    assert Booking.objects.get(organizer=user("hanmei"), title="").status == Status.BOOKED


def test_whose_series_and_which_version_are_minded():
    made = series()
    with pytest.raises(NotAllowed):
        change(made, by=user("hanmei"), start=time(14))
    with pytest.raises(VersionConflict):
        change(made, version=7, start=time(14))
    for values in ({"scope": "this"}, {"scope": "following"}, {"recurrence_date": week(0)}):
        with pytest.raises(InvalidBooking):
            change(made, start=time(14), **values)
    with pytest.raises(BookingNotFound):
        change(made, scope="following", recurrence_date=TODAY, start=time(14))
    with pytest.raises(AlreadyOver):
        change(made, start=time(14), now=at(week(9), "10:00"))
    with pytest.raises(InvalidBooking):
        change(book("A302", TOMORROW, "12:00", "13:00"), start=time(14))


def test_cancelling_this_following_or_all():
    made = series()
    cancel(made, recurrence_date=week(1))
    cancel(made, recurrence_date=week(3), scope="following")
    assert dates(made) == [week(0), week(2)]
    with pytest.raises(InvalidBooking):
        cancel(made, scope="following")
    with pytest.raises(InvalidBooking):
        cancel(made, scope="all", recurrence_date=week(0))
    cancel(made, scope="all", now=at(week(0), "12:00"))
    assert dates(made) == [week(0)]


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


@pytest.mark.django_db(transaction=True)
def test_an_edit_and_a_cancel_of_one_date_at_once_leave_that_date_cancelled():
    made = series()
    at_once(
        lambda: change(made, start=time(14)),
        lambda: cancel(made, recurrence_date=week(2)),
    )
    assert dates(made) == [week(n) for n in (0, 1, 3, 4)]
    assert BookingChange.objects.filter(booking=made).count() == 3


def test_a_preview_of_a_change_says_what_the_change_will_do_and_writes_nothing():
    booking = series()
    cancel(booking, recurrence_date=week(1))
    book("B202", week(2), "15:00", "16:00", organizer=user("wangfang"))
    before = list(Occurrence.objects.order_by("pk").values())

    plan = selectors.preview_change(
        booking.pk, by=booking.organizer, since=week(1), start=time(14, 30), now=NOW
    )

    assert list(Occurrence.objects.order_by("pk").values()) == before
    assert [each.date for each in plan.possible] == [week(3), week(4)]
    assert [(each.date, each.code) for each in plan.clashes] == [(week(2), "taken")]
    # What `following` asks of the write.
    changed = change(
        booking, scope="following", recurrence_date=week(1), start=time(14, 30), on_clash="skip"
    )
    kept = Occurrence.objects.filter(booking=changed).blocking(NOW)
    assert {each.recurrence_date for each in kept} == {each.date for each in plan.possible}


def test_a_preview_of_a_change_ignores_the_slots_the_series_already_has():
    booking = series()

    plan = selectors.preview_change(
        booking.pk, by=booking.organizer, since=None, start=time(10, 30), now=NOW
    )

    assert plan.clashes == []
    assert len(plan.possible) == 5


def test_nobody_previews_a_change_of_another_persons_series():
    booking = series()

    with pytest.raises(BookingNotFound):
        selectors.preview_change(booking.pk, by=user("wangfang"), since=None, now=NOW)
