"""Series in the administration: made, changed, refused at the field that is wrong."""

from datetime import timedelta

import pytest

from booking.models import (
    Booking,
)
from booking.tests.admin.pages import ADD, errors, form, page_of
from booking.tests.world import SHANGHAI, TOMORROW, book, user


def test_a_series_shows_its_dates_and_is_amended_as_one(client):
    series = Booking.objects.get(title="Stand-up")
    response = client.get(page_of(series))
    assert "starts_at_0" not in response.content.decode()
    client.post(page_of(series), series_form(series, title="Daily"))
    series.refresh_from_db()
    assert (series.title, series.occurrences.count(), series.version) == ("Daily", 4, 2)


def series_form(series, **changes):
    values = {
        "room": series.series.room.code,
        "start": "09:00",
        "minutes": 30,
        "rule": series.recurrence,
        "since": "",
        "seen_version": series.version,
    }
    return form(**{**values, **changes})


def dates_of(booking):
    active = booking.occurrences.active().order_by("during")
    return [
        f"{each.starts_at.astimezone(SHANGHAI):%m-%d %H:%M} {each.room.code}" for each in active
    ]


def test_a_series_is_booked(client):
    values = {"repeats": "FREQ=WEEKLY", "until": str(TOMORROW + timedelta(weeks=2))}
    client.post(ADD, form(**values))
    made = Booking.objects.get(title="Plan")
    assert made.organizer == user("lilei")
    assert dates_of(made) == ["12-01 10:00 A302", "12-08 10:00 A302", "12-15 10:00 A302"]


def test_a_series_says_which_dates_it_cannot_have_or_leaves_them_out(client):
    book("A302", TOMORROW + timedelta(weeks=1), "10:30", "11:00")
    values = {"repeats": "FREQ=WEEKLY", "until": str(TOMORROW + timedelta(weeks=2))}
    page = client.post(ADD, form(**values)).content.decode()
    assert "2026-12-08: taken" in page
    assert not Booking.objects.filter(title="Plan").exists()
    client.post(ADD, form(**values, skip="on"))
    assert dates_of(Booking.objects.get(title="Plan")) == ["12-01 10:00 A302", "12-15 10:00 A302"]


def test_a_series_without_an_end_is_asked_for_one(client):
    response = client.post(ADD, form(repeats="FREQ=WEEKLY"))
    assert "until" in errors(response)


def test_the_coming_dates_of_a_series_are_changed_all_or_from_one_on(client):
    series = Booking.objects.get(title="Stand-up")
    client.post(page_of(series), series_form(series, start="17:30", room="A305"))
    series.refresh_from_db()
    times = [f"{day} 17:30 A305" for day in ("12-02", "12-09", "12-16", "12-23")]
    assert dates_of(series) == times
    since = "2026-12-16"
    client.post(
        page_of(series), series_form(series, start="18:00", room="A305", minutes=45, since=since)
    )
    after = Booking.objects.get(continues=series)
    assert dates_of(series) == times[:2]
    assert dates_of(after) == ["12-16 18:00 A305", "12-23 18:00 A305"]


def test_a_series_takes_another_rule(client):
    series = Booking.objects.get(title="Stand-up")
    rule = "FREQ=WEEKLY;BYDAY=TH;COUNT=2"
    client.post(page_of(series), series_form(series, rule=rule))
    series.refresh_from_db()
    assert dates_of(series) == ["12-03 09:00 A302", "12-10 09:00 A302"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"start": "05:00"}, "__all__"),
        ({"since": "2026-12-03", "start": "10:00"}, "since"),
        ({"rule": "FREQ=SECONDLY"}, "rule"),
        ({"minutes": 0}, "minutes"),
        ({"headcount": 7}, "headcount"),
    ],
)
def test_what_a_series_cannot_be_is_said_at_its_field(client, changes, field):
    series = Booking.objects.get(title="Stand-up")
    response = client.post(page_of(series), series_form(series, **changes))
    assert field in errors(response)
    assert Booking.objects.get(pk=series.pk).version == 1


def test_a_series_that_changed_meanwhile_is_not_changed(client):
    series = Booking.objects.get(title="Stand-up")
    response = client.post(page_of(series), series_form(series, start="10:00", seen_version=7))
    assert "changed in the meantime" in response.content.decode()
    assert dates_of(series)[0] == "12-02 09:00 A302"
