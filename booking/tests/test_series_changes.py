"""Series edited: nothing is resurrected, the past stays, clashes are refused or left out."""

from datetime import time, timedelta

import pytest

from booking import selectors, services
from booking.exceptions import (
    AlreadyOver,
    BookingNotFound,
    InvalidBooking,
    NotAllowed,
    SeriesClash,
    VersionConflict,
)
from booking.models import (
    Booking,
    BookingChange,
    Occurrence,
    Status,
)
from booking.tests import world
from booking.tests.test_races import at_once
from booking.tests.weekly import cancel, change, dates, series, starts, week
from booking.tests.world import NOW, TODAY, TOMORROW, at, book, user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _world(db):
    world.build()


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
