import pytest
from django.test import Client
from rest_framework.throttling import UserRateThrottle

from booking.api.problems import MEDIA_TYPE, STATUSES
from booking.exceptions import BookingError
from booking.models import Booking, Profile, Source, Status
from booking.tests.api.conftest import script_of
from booking.tests.world import TODAY, TOMORROW, at, user

NEW = {
    "room": "A302",
    "starts_at": f"{TOMORROW}T10:00:00+08:00",
    "ends_at": f"{TOMORROW}T11:00:00+08:00",
    "headcount": 4,
    "title": "Talk",
}
BOOKINGS = "/api/v1/bookings/"


def post(client, *, key="k-1", language="en", **changes):
    return client.post(
        BOOKINGS,
        {**NEW, **changes},
        format="json",
        headers={"Idempotency-Key": key, "Accept-Language": language},
    )


def weekly():
    return Booking.objects.get(title="Weekly")


def problem(response):
    assert response["Content-Type"] == MEDIA_TYPE
    assert response.json()["status"] == response.status_code
    return response.status_code, response.json()["code"]


def patch(client, booking, **body):
    return client.patch(f"{BOOKINGS}{booking.pk}/", body, format="json")


def kinds(kind=BookingError):
    return [kind, *(each for child in kind.__subclasses__() for each in kinds(child))]


def test_every_code_of_booking_has_a_status():
    assert set(STATUSES) == {kind.code for kind in kinds()} - {"booking_error"}


def test_nobody_gets_in_without_a_name():
    for client in (script_of("lilei"), Client()):
        client.defaults.pop("HTTP_AUTHORIZATION", None)
        getattr(client, "credentials", dict)()
        response = client.get(BOOKINGS)
        assert problem(response) == (401, "not_authenticated")
        assert response["WWW-Authenticate"] == "Token"


def test_a_wrong_token_is_told_so():
    client = script_of("lilei")
    client.credentials(HTTP_AUTHORIZATION="Token nonsense")
    assert problem(client.get(BOOKINGS)) == (401, "authentication_failed")


def test_a_session_writes_only_with_its_csrf_token():
    client = Client(enforce_csrf_checks=True)
    client.force_login(user("lilei"))
    assert client.get(BOOKINGS).status_code == 200
    response = client.post(BOOKINGS, NEW, content_type="application/json")
    assert problem(response) == (403, "permission_denied")


def test_my_bookings_are_listed_by_their_first_start(lilei):
    found = lilei.get(BOOKINGS).json()
    assert [each["title"] for each in found["results"]] == ["Weekly", "Demo", "Stand-up"]
    assert found["count"] == 3
    [use] = found["results"][0]["occurrences"]
    assert use == {
        "room": "A305",
        "time_zone": "Asia/Shanghai",
        "starts_at": "2026-11-30T15:00:00+08:00",
        "ends_at": "2026-11-30T16:00:00+08:00",
        "status": "booked",
        "date": None,
    }


def test_the_list_is_narrowed_and_paged(lilei):
    Booking.objects.get(title="Demo").occurrences.update(status=Status.CANCELLED)
    names = lambda **query: [  # noqa: E731
        each["title"] for each in lilei.get(BOOKINGS, query).json()["results"]
    ]
    assert names(starts_at=f"{TOMORROW}T00:00:00+08:00") == ["Stand-up"]
    assert names(starts_at=f"{TOMORROW}T00:00:00+08:00", all="true") == ["Demo", "Stand-up"]
    assert names(page_size=1, page=2) == ["Stand-up"]
    assert problem(lilei.get(BOOKINGS, {"page": 9})) == (404, "not_found")


def test_a_room_is_booked_once_however_often_it_is_asked_for(lilei):
    first, again = post(lilei), post(lilei)
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    booking = Booking.objects.get(title="Talk")
    assert (booking.organizer, booking.source) == (user("lilei"), Source.API)
    assert (booking.room.code, booking.starts_at) == ("A302", at(TOMORROW, "10:00"))


def test_a_key_is_for_one_request(lilei):
    post(lilei)
    assert problem(post(lilei, headcount=5)) == (422, "idempotency_mismatch")
    assert problem(post(lilei, key="")) == (400, "invalid")
    response = lilei.post(BOOKINGS, NEW, format="json")
    assert "Idempotency-Key" in response.json()["errors"]


def test_a_taken_room_comes_with_what_could_be_had(lilei):
    response = post(
        lilei,
        room="A305",
        starts_at=f"{TOMORROW}T15:00:00+08:00",
        ends_at=f"{TOMORROW}T16:00:00+08:00",
    )
    assert problem(response) == (409, "taken")
    assert response.json()["alternatives"][0] == {
        "kind": "other_time",
        "room": "A305",
        "starts_at": "2026-12-01T06:00:00+00:00",
        "ends_at": "2026-12-01T07:00:00+00:00",
        "detail": "earlier:60",
        "parts": [],
    }


@pytest.mark.parametrize(
    ("language", "words"), [("en", "The rooms are open"), ("zh-hans", "会议室")]
)
def test_a_rule_that_says_no_is_named_in_the_readers_language(lilei, language, words):
    response = post(
        lilei,
        language=language,
        starts_at=f"{TOMORROW}T06:00:00+08:00",
        ends_at=f"{TOMORROW}T07:00:00+08:00",
    )
    assert problem(response) == (422, "policy")
    body = response.json()
    assert words in body["detail"]
    assert body["rule"] == "opening_hours"
    assert body["nearest"]["starts_at"] == "2026-12-01T00:00:00Z"


@pytest.mark.parametrize(
    ("profile", "asked", "words"),
    [("zh-hans", None, "会议室"), ("zh-hans", "en", "The rooms"), ("en", None, "The rooms")],
)
def test_a_script_that_asks_for_no_language_has_its_persons(lilei, profile, asked, words):
    Profile.objects.filter(user=user("lilei")).update(language=profile)
    headers = {"Accept-Language": asked} if asked else {}
    body = {
        **NEW,
        "starts_at": f"{TOMORROW}T06:00:00+08:00",
        "ends_at": f"{TOMORROW}T07:00:00+08:00",
    }
    answer = lilei.post(
        "/api/v1/bookings/", body, format="json", headers={"Idempotency-Key": "k", **headers}
    )
    assert words in answer.json()["detail"]


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("room", "", 400),
        ("room", 305, 400),
        ("room", None, 400),
        ("room", "x" * 21, 400),
        ("room", "A\0", 422),
        ("room", "Z9", 404),
        ("starts_at", "2026-12-01T10:00:00", 400),
        ("starts_at", "tomorrow", 400),
        ("starts_at", 1_800_000_000, 400),
        ("starts_at", "0001-01-01T00:00:00+14:00", 422),
        ("starts_at", "9999-12-31T23:59:00-12:00", 422),
        ("ends_at", f"{TOMORROW}T10:00:00+08:00", 422),
        ("ends_at", f"{TOMORROW}T09:00:00+08:00", 422),
        ("headcount", 0, 400),
        ("headcount", "4", 400),
        ("headcount", True, 400),
        ("headcount", 2.5, 400),
        ("headcount", 10**30, 400),
        ("title", "x" * 201, 400),
        ("title", "a\0b", 422),
        ("title", ["a"], 400),
        ("visibility", "secret", 400),
    ],
)
def test_what_no_booking_can_be_is_refused_and_nothing_is_written(lilei, field, value, status):
    before = Booking.objects.count()
    response = post(lilei, **{field: value})
    assert problem(response)[0] == status
    assert response.json()["detail"]
    assert Booking.objects.count() == before


@pytest.mark.parametrize(
    "body", ["", "{", "[]", '"x"', "NaN", '{"headcount": NaN}', "null", '{"headcount": 1e999}']
)
def test_what_is_no_object_is_refused(lilei, body):
    response = lilei.generic(
        "POST", BOOKINGS, body, content_type="application/json", headers={"Idempotency-Key": "k"}
    )
    assert problem(response)[0] == 400


def test_what_is_no_json_is_refused(lilei):
    headers = {"Idempotency-Key": "k"}
    response = lilei.post(BOOKINGS, "a=b", content_type="text/plain", headers=headers)
    assert problem(response) == (415, "unsupported_media_type")


def test_a_booking_is_moved_and_amended_in_one_step(lilei):
    booking = weekly()
    response = patch(
        lilei,
        booking,
        version=booking.version,
        room="A302",
        starts_at=f"{TODAY}T17:00:00+08:00",
        headcount=5,
        title="Renamed",
    )
    assert response.status_code == 200
    body = response.json()
    assert (body["title"], body["headcount"]) == ("Renamed", 5)
    assert body["occurrences"][0]["room"] == "A302"
    assert body["occurrences"][0]["ends_at"] == "2026-11-30T18:00:00+08:00"


def test_a_change_that_fails_in_part_changes_nothing(lilei):
    booking = weekly()
    response = patch(
        lilei,
        booking,
        version=booking.version,
        title="Renamed",
        starts_at=f"{TOMORROW}T15:00:00+08:00",
    )
    assert problem(response) == (409, "taken")
    assert Booking.objects.get(pk=booking.pk).title == "Weekly"


def test_a_change_needs_the_version_that_was_read(lilei):
    booking = weekly()
    assert problem(patch(lilei, booking, title="x")) == (400, "invalid")
    assert problem(patch(lilei, booking, title="x", version=9)) == (409, "version_conflict")


def test_a_booking_is_cancelled_and_its_history_kept(lilei):
    booking = weekly()
    response = lilei.post(
        f"{BOOKINGS}{booking.pk}/cancel/",
        {"version": booking.version, "reason": "rain"},
        format="json",
    )
    assert response.json()["occurrences"][0]["status"] == "cancelled"
    [change] = lilei.get(f"{BOOKINGS}{booking.pk}/history/").json()
    assert (change["action"], change["source"], change["by"]) == ("cancelled", "api", "李雷")
    assert change["reason"] == "rain"
    again = lilei.post(f"{BOOKINGS}{booking.pk}/cancel/", {}, format="json")
    assert problem(again) == (409, "already_cancelled")


def test_one_date_of_a_series_is_cancelled_alone(lilei):
    series = Booking.objects.get(title="Stand-up")
    lilei.post(f"{BOOKINGS}{series.pk}/cancel/", {"date": "2026-12-09"}, format="json")
    found = series.occurrences.filter(status=Status.CANCELLED)
    assert [str(each.recurrence_date) for each in found] == ["2026-12-09"]


def test_another_persons_booking_can_be_read_if_public_and_never_written(lilei):
    public, private = (Booking.objects.get(title=name) for name in ("Review", "Secret budget"))
    assert lilei.get(f"{BOOKINGS}{public.pk}/").json()["title"] == "Review"
    assert problem(lilei.get(f"{BOOKINGS}{private.pk}/")) == (404, "not_found")
    assert lilei.get(f"{BOOKINGS}{public.pk}/history/").json() == []
    assert problem(lilei.get(f"{BOOKINGS}{private.pk}/history/")) == (404, "not_found")
    assert problem(patch(lilei, public, version=1, title="x")) == (403, "not_allowed")
    assert problem(patch(lilei, private, version=1, title="x")) == (404, "not_found")
    response = lilei.post(f"{BOOKINGS}{private.pk}/cancel/", {}, format="json")
    assert problem(response) == (404, "not_found")


@pytest.mark.parametrize(
    "address", ["", "nothing/", "bookings/x/", "bookings/-1/", f"bookings/{10**40}/", "rooms/%00/"]
)
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_addresses_that_are_none_are_told_in_json(lilei, address, method):
    response = getattr(lilei, method)(f"/api/v1/{address}")
    assert problem(response) in {(404, "not_found"), (405, "method_not_allowed")}


def test_who_asks_too_often_is_told_when_to_come_back(lilei, monkeypatch):
    monkeypatch.setattr(UserRateThrottle, "THROTTLE_RATES", {"user": "2/min"})
    for _ in range(2):
        assert lilei.get(BOOKINGS).status_code == 200
    response = lilei.get(BOOKINGS)
    assert problem(response) == (429, "throttled")
    assert int(response["Retry-After"]) > 0
