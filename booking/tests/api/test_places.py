import pytest

from booking.models import Building, Room, Site
from booking.tests.world import TODAY, TOMORROW


def codes(client, **query):
    return [each["code"] for each in client.get("/api/v1/rooms/", query).json()["results"]]


def test_sites_name_their_zone_and_buildings(lilei):
    [site] = lilei.get("/api/v1/sites/").json()["results"]
    assert site["time_zone"] == "Asia/Shanghai"
    assert [each["code"] for each in site["buildings"]] == ["A", "B"]
    assert set(site["name"]) == {"en", "zh"}
    assert lilei.get(f"/api/v1/sites/{site['id']}/").json() == site


def test_a_room_says_what_it_is_and_has(lilei):
    room = lilei.get("/api/v1/rooms/A305/").json()
    assert room["features"] == ["projector", "video_conference"]
    assert (room["building"], room["floor"], room["seats"]) == ("A", 3, 12)
    assert room["name"] == {"en": "Cedar", "zh": "雪松厅"}
    assert lilei.get("/api/v1/rooms/A501/").json()["needs_approval"] is True


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["A301", "A302", "A305", "A501", "B201", "B202", "B801"]),
        ({"building": "B"}, ["B201", "B202", "B801"]),
        ({"building": "C"}, []),
        ({"seats": 12}, ["A305", "A501", "B801"]),
        ({"features": "projector"}, ["A301", "A305", "A501", "B801"]),
        ({"features": "projector,video_conference", "building": "A"}, ["A305", "A501"]),
    ],
)
def test_rooms_are_filtered(lilei, query, found):
    assert codes(lilei, **query) == found


@pytest.mark.parametrize(
    "query",
    [
        {"seats": "0"},
        {"seats": "many"},
        {"seats": ""},
        {"site": "x"},
        {"page": "0"},
        {"page": ""},
        {"page_size": "201"},
        {"page_size": "0.5"},
        {"building": ""},
    ],
)
def test_a_filter_that_cannot_be_read_is_an_error(lilei, query):
    response = lilei.get("/api/v1/rooms/", query)
    assert response.status_code == 400
    assert list(response.json()["errors"]) == list(query)


def test_a_room_out_of_use_is_none(lilei):
    Room.objects.filter(code="A305").update(is_active=False)
    assert "A305" not in codes(lilei)
    assert lilei.get("/api/v1/rooms/A305/").status_code == 404
    assert lilei.get("/api/v1/rooms/A305/availability/", {"date": TODAY}).status_code == 404


def test_a_day_of_a_building_is_free_and_taken(lilei):
    found = lilei.get("/api/v1/availability/", {"building": "A", "date": TODAY}).json()
    days = {each["room"]: each for each in found}
    assert set(days) == {"A301", "A302", "A305", "A501"}
    assert days["A305"]["free"] == [
        {"starts_at": "2026-11-30T10:00:00+08:00", "ends_at": "2026-11-30T15:00:00+08:00"},
        {"starts_at": "2026-11-30T16:00:00+08:00", "ends_at": "2026-11-30T21:00:00+08:00"},
    ]
    [mine] = days["A305"]["taken"]
    assert (mine["title"], mine["organizer"], mine["is_mine"]) == ("Weekly", "李雷", True)


def test_a_private_booking_is_only_busy(lilei):
    response = lilei.get("/api/v1/availability/", {"building": "A", "date": TODAY})
    [taken] = next(each for each in response.json() if each["room"] == "A301")["taken"]
    assert taken == {
        "starts_at": "2026-11-30T09:30:00+08:00",
        "ends_at": "2026-11-30T11:00:00+08:00",
        "status": "booked",
        "booking": None,
        "title": None,
        "organizer": None,
        "is_mine": False,
    }
    assert "Secret" not in response.text


def test_days_of_a_room_are_free_and_taken(lilei):
    query = {"date": TODAY, "days": 3}
    found = lilei.get("/api/v1/rooms/A305/availability/", query).json()
    assert [(each["date"], len(each["taken"])) for each in found] == [
        (str(TODAY), 1),
        (str(TOMORROW), 1),
        ("2026-12-02", 0),
    ]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"date": "soon"}, 400),
        ({}, 400),
        ({"date": TODAY, "days": 32}, 400),
        ({"date": TODAY, "days": 0}, 400),
        ({"date": "0001-01-01"}, 422),
    ],
)
def test_days_that_cannot_be_read_are_an_error(lilei, query, status):
    assert lilei.get("/api/v1/rooms/A305/availability/", query).status_code == status


def test_two_buildings_of_one_code_are_told_apart_by_site(lilei):
    other = Site.objects.create(name_en="North", name_zh="北区", time_zone="Europe/Berlin")
    Building.objects.create(site=other, code="A", name_en="North A", name_zh="北区A座")
    query = {"building": "A", "date": TODAY}
    response = lilei.get("/api/v1/availability/", query)
    assert (response.status_code, list(response.json()["errors"])) == (422, ["site"])
    assert lilei.get("/api/v1/availability/", {**query, "site": other.pk}).json() == []
    assert lilei.get("/api/v1/availability/", {**query, "building": "Q"}).status_code == 404
