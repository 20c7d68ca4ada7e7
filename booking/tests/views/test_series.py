import pytest
from django.urls import reverse

from booking.models import Booking, Status
from booking.tests.world import TOMORROW, WEDNESDAY, at, book, user

FORM = {
    "room": "A302",
    "date": str(TOMORROW),
    "starts": "10:00",
    "ends": "10:30",
    "headcount": "4",
    "title": "Round",
    "repeats": "FREQ=WEEKLY",
    "until": "2026-12-22",
    "key": "portal-series",
}


def post(client, **changes):
    return client.post(reverse("book"), {**FORM, **changes})


def stand_up():
    return Booking.objects.get(title="Stand-up")


def days(booking, **more):
    found = booking.occurrences.filter(**more).order_by("during")
    return [
        f"{each.starts_at.astimezone(at(TOMORROW, '00:00').tzinfo):%m-%d %H:%M}" for each in found
    ]


def change(client, date, **values):
    series = stand_up()
    shown = {
        "room": "A302",
        "date": date,
        "starts": "09:00",
        "ends": "09:30",
        "headcount": 5,
        "title": "Stand-up",
        "version": series.version,
    }
    address = f"{reverse('change-booking', args=[series.pk])}?date={date}"
    return client.post(address, {**shown, **values})


def cancel(client, date, **values):
    series = stand_up()
    address = f"{reverse('cancel-booking', args=[series.pk])}?date={date}"
    return client.post(address, {"version": series.version, **values})


def test_a_series_is_booked_at_one_wall_time(lilei):
    response = post(lilei)
    series = Booking.objects.get(title="Round")
    assert response["Location"] == reverse("booking", args=[series.pk])
    assert days(series) == ["12-01 10:00", "12-08 10:00", "12-15 10:00", "12-22 10:00"]
    assert series.is_series


def test_dates_that_cannot_be_had_are_named_and_left_out_on_request(lilei):
    book("A302", WEDNESDAY.replace(day=8), "10:00", "11:00", organizer=user("hanmei"))
    refused = post(lilei)
    assert refused.status_code == 409
    assert refused.context["clashes"] == ["Tue 8 Dec: taken"]
    assert not Booking.objects.filter(title="Round").exists()
    post(lilei, skip="on")
    series = Booking.objects.get(title="Round")
    assert days(series) == ["12-01 10:00", "12-15 10:00", "12-22 10:00"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("until", ""), ("until", "soon"), ("repeats", "FREQ=SECONDLY"), ("until", "9999-12-31")],
)
def test_what_no_series_can_be_is_said_and_nothing_is_written(lilei, field, value):
    response = post(lilei, **{field: value})
    assert response.context["form"].errors[field]
    assert not Booking.objects.filter(title="Round").exists()


def test_an_end_before_the_beginning_is_refused(lilei):
    assert post(lilei, until="2026-11-01").status_code == 409
    assert not Booking.objects.filter(title="Round").exists()


def test_this_date_and_those_after_it_are_moved(lilei):
    response = change(lilei, "2026-12-16", scope="following", starts="10:00", ends="10:45")
    moved = Booking.objects.filter(title="Stand-up").latest("pk")
    assert response["Location"] == reverse("booking", args=[moved.pk])
    assert days(moved, status=Status.BOOKED) == ["12-16 10:00", "12-23 10:00"]
    first = Booking.objects.filter(title="Stand-up").earliest("pk")
    assert days(first, status=Status.BOOKED) == ["12-02 09:00", "12-09 09:00"]


def test_the_whole_series_is_moved_and_renamed(lilei):
    change(lilei, "2026-12-09", scope="all", starts="11:00", ends="11:30", title="Late")
    moved = Booking.objects.get(title="Late")
    assert days(moved, status=Status.BOOKED) == [
        "12-02 11:00",
        "12-09 11:00",
        "12-16 11:00",
        "12-23 11:00",
    ]


def test_one_date_is_moved_alone_by_default(lilei):
    change(lilei, "2026-12-09", starts="11:00", ends="11:30")
    assert days(stand_up()) == ["12-02 09:00", "12-09 11:00", "12-16 09:00", "12-23 09:00"]


def test_a_series_that_clashes_is_not_changed_in_part(lilei):
    book("A302", WEDNESDAY.replace(day=16), "14:00", "15:00", organizer=user("hanmei"))
    refused = change(lilei, "2026-12-09", scope="all", starts="14:00", ends="14:30", title="New")
    assert refused.status_code == 409
    assert refused.context["clashes"] == ["Wed 16 Dec: taken"]
    assert days(stand_up())[0] == "12-02 09:00"


@pytest.mark.parametrize(
    ("scope", "left"),
    [
        ("", ["12-02 09:00", "12-16 09:00", "12-23 09:00"]),
        ("this", ["12-02 09:00", "12-16 09:00", "12-23 09:00"]),
        ("following", ["12-02 09:00"]),
        ("all", []),
    ],
)
def test_so_much_of_a_series_is_cancelled(lilei, scope, left):
    cancel(lilei, "2026-12-09", scope=scope)
    assert days(stand_up(), status=Status.BOOKED) == left


def test_a_scope_there_is_not_cancels_nothing(lilei):
    assert cancel(lilei, "2026-12-09", scope="everything").status_code == 200
    assert len(days(stand_up(), status=Status.BOOKED)) == 4


def test_the_choice_is_only_offered_for_a_series(lilei):
    html = lilei.get(f"{reverse('change-booking', args=[stand_up().pk])}?date=2026-12-09").text
    assert 'name="scope"' in html
    single = Booking.objects.get(title="Weekly")
    for name in ("change-booking", "cancel-booking"):
        assert 'name="scope"' not in lilei.get(reverse(name, args=[single.pk])).text
