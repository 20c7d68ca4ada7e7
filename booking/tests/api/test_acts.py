import pytest
import time_machine
from django.contrib.auth.models import Group

from booking.models import Booking, Grant, Policy, Status
from booking.tests.api.conftest import script_of
from booking.tests.api.test_bookings import problem
from booking.tests.world import TODAY, TOMORROW, WEDNESDAY, at, book, user

SERIES = {
    "room": "A302",
    "first": str(TOMORROW),
    "start": "10:00",
    "minutes": 30,
    "recurrence": "FREQ=WEEKLY;COUNT=3",
    "headcount": 4,
    "title": "Round",
}


def of(title):
    return Booking.objects.get(title=title)


def act(client, booking, name, **body):
    return client.post(f"/api/v1/bookings/{booking.pk}/{name}/", body, format="json")


def make(client, *, key="s-1", **changes):
    return client.post(
        "/api/v1/series/",
        {**SERIES, **changes},
        format="json",
        headers={"Idempotency-Key": key},
    )


def dates(answer):
    return [each["date"] for each in answer.json()["occurrences"] if each["status"] == "booked"]


@pytest.fixture
def hanmei(_world):
    """hanmei's script, who decides on requests for every room."""
    group = Group.objects.create(name="Approvers")
    group.user_set.add(user("hanmei"))
    Grant.objects.bulk_create(
        Grant(policy=policy, group=group, right=Grant.Right.APPROVE)
        for policy in Policy.objects.all()
    )
    return script_of("hanmei")


def test_who_is_there_checks_in_and_again_is_the_same(lilei):
    with time_machine.travel(at(TODAY, "14:55"), tick=False):
        first, again = (act(lilei, of("Weekly"), "check-in") for _ in range(2))
    assert first.json() == again.json()
    assert first.json()["occurrences"][0]["status"] == "checked_in"


def test_too_early_and_too_late_are_told(lilei):
    assert problem(act(lilei, of("Weekly"), "check-in")) == (409, "check_in_too_early")
    Policy.objects.update(needs_check_in=True)
    booking = book("A302", TODAY, "11:00", "12:00")
    with time_machine.travel(at(TODAY, "11:40"), tick=False):
        assert problem(act(lilei, booking, "check-in")) == (409, "check_in_too_late")
        shown = lilei.get(f"/api/v1/bookings/{booking.pk}/").json()
    assert shown["occurrences"][0]["status"] == "released"


def test_a_cancellation_is_taken_back_while_the_room_is_free(lilei):
    booking = of("Weekly")
    act(lilei, booking, "cancel")
    assert act(lilei, booking, "restore").json()["occurrences"][0]["status"] == "booked"
    act(lilei, booking, "cancel")
    book("A305", TODAY, "15:30", "16:30", organizer=user("hanmei"))
    assert problem(act(lilei, booking, "restore")) == (409, "taken")
    assert problem(act(lilei, of("Demo"), "restore")) == (409, "cannot_undo")


def test_two_bookings_swap_their_places(lilei):
    first, second = of("Weekly"), of("Demo")
    answer = lilei.post(
        "/api/v1/bookings/swap/",
        {"first": {"booking": first.pk}, "second": {"booking": second.pk, "version": 1}},
        format="json",
    )
    assert [each["occurrences"][0]["room"] for each in answer.json()] == ["B201", "A305"]


def test_nobody_swaps_what_is_not_theirs(lilei):
    for title, expected in (
        ("Review", (403, "not_allowed")),
        ("Secret budget", (404, "not_found")),
    ):
        body = {"first": {"booking": of("Weekly").pk}, "second": {"booking": of(title).pk}}
        assert problem(lilei.post("/api/v1/bookings/swap/", body, format="json")) == expected


def test_a_booking_is_not_swapped_with_itself(lilei):
    side = {"booking": of("Weekly").pk}
    answer = lilei.post("/api/v1/bookings/swap/", {"first": side, "second": side}, format="json")
    assert problem(answer) == (422, "invalid")


def test_a_series_is_booked_once(lilei):
    first, again = make(lilei), make(lilei)
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert dates(first) == ["2026-12-01", "2026-12-08", "2026-12-15"]


def test_a_series_can_be_looked_at_before(lilei):
    book("A302", WEDNESDAY.replace(day=8), "10:00", "11:00", organizer=user("hanmei"))
    wish = {name: SERIES[name] for name in ("room", "first", "start", "minutes", "recurrence")}
    planned = lilei.post("/api/v1/series/preview/", wish, format="json").json()
    assert [(each["date"], each["code"]) for each in planned["dates"]] == [
        ("2026-12-01", None),
        ("2026-12-08", "taken"),
        ("2026-12-15", None),
    ]
    assert not Booking.objects.filter(title="Round").exists()


def test_dates_that_clash_refuse_a_series_or_are_left_out(lilei):
    book("A302", WEDNESDAY.replace(day=8), "10:00", "11:00", organizer=user("hanmei"))
    refused = make(lilei)
    assert problem(refused) == (409, "series_clash")
    assert [each["date"] for each in refused.json()["dates"]] == ["2026-12-08"]
    assert dates(make(lilei, key="s-2", on_clash="skip")) == ["2026-12-01", "2026-12-15"]


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("recurrence", "FREQ=SECONDLY;COUNT=3", 422),
        ("recurrence", "", 400),
        ("recurrence", "FREQ=WEEKLY", 422),
        ("recurrence", "FREQ=DAILY;COUNT=999", 422),
        ("start", "25:00", 400),
        ("start", "9", 400),
        ("start", 900, 400),
        ("minutes", 0, 400),
        ("minutes", 1441, 400),
        ("first", "2026-02-30", 400),
        ("first", "0001-01-01", 422),
        ("on_clash", "overbook", 400),
        ("room", "Z9", 404),
        ("headcount", 99, 422),
    ],
)
def test_what_no_series_can_be_is_refused_and_nothing_is_written(lilei, field, value, status):
    before = Booking.objects.count()
    assert problem(make(lilei, **{field: value}))[0] == status
    assert Booking.objects.count() == before


def change(client, **body):
    series = of("Stand-up")
    return client.patch(
        f"/api/v1/series/{series.pk}/", {"version": series.version, **body}, format="json"
    )


def test_what_is_to_come_of_a_series_is_changed(lilei):
    moved = change(lilei, scope="following", date="2026-12-16", start="11:00")
    assert moved.json()["id"] != of_first("Stand-up").pk
    assert [each["starts_at"][11:16] for each in moved.json()["occurrences"]] == ["11:00", "11:00"]


def of_first(title):
    return Booking.objects.filter(title=title).earliest("pk")


@pytest.mark.parametrize("body", [{"scope": "following"}, {"scope": "all", "date": "2026-12-09"}])
def test_a_scope_that_does_not_fit_its_date_is_refused(lilei, body):
    assert problem(change(lilei, **body)) == (422, "invalid")


def test_so_much_of_a_series_is_cancelled(lilei):
    answer = act(lilei, of("Stand-up"), "cancel", date="2026-12-16", scope="following")
    assert dates(answer) == ["2026-12-02", "2026-12-09"]


def test_requests_are_listed_and_decided_once(hanmei):
    asked = book("A501", TOMORROW, "10:00", "11:00", title="Town hall", visibility="private")
    [waiting] = hanmei.get("/api/v1/approvals/").json()["results"]
    assert (waiting["id"], waiting["title"]) == (asked.pk, "Town hall")
    address = f"/api/v1/approvals/{asked.pk}/"
    body = {"version": waiting["version"]}
    done = hanmei.post(f"{address}approve/", body, format="json")
    assert done.json()["occurrences"][0]["status"] == "booked"
    again = hanmei.post(f"{address}reject/", {**body, "reason": "no"}, format="json")
    assert problem(again) in {(409, "already_decided"), (404, "not_found")}
    assert Booking.objects.get(pk=asked.pk).status == Status.BOOKED


def test_a_rejection_says_why_and_of_which_version(hanmei):
    asked = book("A501", TOMORROW, "10:00", "11:00")
    address = f"/api/v1/approvals/{asked.pk}/reject/"
    assert problem(hanmei.post(address, {"version": 1}, format="json")) == (400, "invalid")
    stale = hanmei.post(address, {"version": 9, "reason": "full"}, format="json")
    assert problem(stale) == (409, "version_conflict")
    done = hanmei.post(address, {"version": asked.version, "reason": "full"}, format="json")
    assert done.json()["occurrences"][0]["status"] == "rejected"


def test_nobody_else_decides(lilei):
    asked = book("A501", TOMORROW, "10:00", "11:00", organizer=user("wangfang"))
    assert lilei.get("/api/v1/approvals/").json()["results"] == []
    answer = lilei.post(
        f"/api/v1/approvals/{asked.pk}/approve/", {"version": asked.version}, format="json"
    )
    assert problem(answer) == (403, "not_allowed")
