import re

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from booking import availability, services
from booking.models import (
    Building,
    Grant,
    Occurrence,
    Policy,
    Profile,
    Room,
    Source,
    Status,
)
from booking.tests.world import NOW, TODAY, TOMORROW, at, book, user


def rows(response):
    return {row.room.facts.code: row for row in response.context["rows"]}


def pieces(row):
    return [(piece.kind, piece.span, piece.words) for piece in row.pieces if piece.kind != "off"]


def grid(client, **query):
    return client.get(reverse("rooms"), query)


def building(code):
    return Building.objects.get(code=code)


def test_the_day_of_my_own_building_is_shown(lilei):
    response = grid(lilei, date=TODAY)
    assert set(rows(response)) == {"A301", "A302", "A305", "A501"}
    assert pieces(rows(response)["A305"]) == [
        ("free", "10:00–15:00", ""),
        ("mine", "15:00–16:00", "Weekly, 李雷"),
        ("free", "16:00–21:00", ""),
    ]


def test_a_private_booking_is_only_busy(lilei):
    response = grid(lilei, date=TODAY)
    assert ("taken", "09:30–11:00", "Busy") in pieces(rows(response)["A301"])
    assert "Secret" not in response.text
    assert "王芳" not in response.text


def test_its_organizer_sees_what_it_is(client):
    client.force_login(user("wangfang"))
    taken = pieces(rows(grid(client, date=TODAY))["A301"])[0]
    assert taken == ("mine", "09:30–11:00", "Secret budget, 王芳")


def test_what_no_longer_blocks_is_free(lilei):
    Occurrence.objects.filter(booking__title="Weekly").update(status=Status.CANCELLED)
    row = rows(grid(lilei, date=TODAY))["A305"]
    assert pieces(row) == [("free", "10:00–21:00", "")]
    assert row.line == "Free now, until 21:00"


def test_a_request_is_told_from_a_booking(lilei):
    book("A501", TODAY, "14:00", "15:00")
    assert ("pending", "14:00–15:00", "李雷") in pieces(rows(grid(lilei, date=TODAY))["A501"])


def test_another_building_and_day_are_a_query_away(lilei):
    response = grid(lilei, building=building("B").pk, date=TOMORROW)
    assert [piece[:2] for piece in pieces(rows(response)["B201"]) if piece[0] != "free"] == [
        ("mine", "14:00–15:30"),
        ("taken", "16:00–17:00"),
    ]
    assert f"date={TODAY}" in response.context["before"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"seats": 8}, {"A301", "A305", "A501"}),
        ({"features": "projector"}, {"A301", "A305", "A501"}),
        ({"features": ["projector", "video_conference"]}, {"A305", "A501"}),
        ({"starts": "15:00", "minutes": 60}, {"A301", "A302", "A501"}),
        ({"starts": "10:30", "minutes": 30}, {"A302", "A305", "A501"}),
        ({"starts": "11:00", "minutes": 30}, {"A301", "A302", "A305", "A501"}),
        ({"seats": 12, "starts": "15:30"}, {"A501"}),
        ({"seats": 100}, set()),
        ({"starts": "21:00"}, set()),
    ],
)
def test_filters_leave_the_rooms_that_fit(lilei, query, found):
    assert set(rows(grid(lilei, date=TODAY, **query))) == found


def test_no_room_that_fits_leads_on(lilei):
    html = grid(lilei, date=TODAY, seats=100).text
    assert "No room of this building fits" in html
    assert "Show all rooms" in html


@pytest.mark.parametrize(
    "query",
    [
        {"date": "soon"},
        {"date": "0000-00-00"},
        {"seats": "-1"},
        {"seats": "many"},
        {"starts": "25:00"},
        {"minutes": "7"},
        {"features": "sauna"},
        {"features": "\0"},
        {"building": "999999"},
        {"building": "x"},
    ],
)
def test_a_wrong_filter_is_said_and_the_rest_is_shown(lilei, query):
    response = grid(lilei, **query)
    assert response.status_code == 200
    assert "field-error" in response.text
    assert rows(response)


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31", "1900-01-01"])
def test_the_ends_of_the_calendar_are_days_like_others(lilei, day):
    assert grid(lilei, date=day).status_code == 200
    assert lilei.get(reverse("room", args=["A305"]), {"date": day}).status_code == 200


def test_a_gap_leads_to_the_form_at_its_start(lilei):
    html = grid(lilei, date=TODAY).text
    assert f"{reverse('book')}?room=A305&amp;start={TODAY}T16:00" in html


def test_the_wanted_time_is_what_a_click_books(lilei):
    html = grid(lilei, date=TODAY, starts="17:00", minutes="90").text
    assert f"{reverse('book')}?room=A305&amp;start={TODAY}T17:00&amp;minutes=90" in html


def test_a_house_without_rooms_says_so(lilei):
    Profile.objects.update(building=None)
    Room.objects.update(is_active=False)
    assert "This building has no rooms" in grid(lilei).text


def test_many_rooms_are_paged_and_stay_light(lilei):
    template = Room.objects.get(code="A302")
    Room.objects.bulk_create(
        Room(
            code=f"A{number}",
            name_en=f"Room {number}",
            name_zh=f"会议室 {number}",
            floor=template.floor,
            seats=6,
            policy=template.policy,
        )
        for number in range(2000, 2500)
    )
    response = grid(lilei, date=TODAY)
    assert response.context["total"] == 504
    assert len(response.context["rows"]) == 40
    assert len(response.content) < 100_000
    assert "page=2" in response.text


def test_a_closed_day_is_said_to_be_closed(lilei):
    response = grid(lilei, date="2026-12-05")
    assert {row.line for row in rows(response).values()} == {"Closed"}


def test_a_room_shows_its_facts_and_its_week(lilei):
    response = lilei.get(reverse("room", args=["A305"]), {"date": TOMORROW})
    assert re.findall(r"<span class=\"tag\">(.*?)</span>", response.text) == [
        "Projector",
        "Video conferencing",
    ]
    shown = {str(row.room.day): pieces(row) for row in response.context["rows"]}
    assert list(shown) == [
        f"2026-{day}" for day in ["11-30", "12-01", "12-02", "12-03", "12-04", "12-05", "12-06"]
    ]
    assert ("taken", "15:00–17:00", "Review, 韩梅") in shown[str(TOMORROW)]
    assert shown["2026-12-06"] == []


@pytest.mark.parametrize("code", ["Z999", "a305", "%00", "A305'--"])
def test_a_room_that_is_not_there_looks_like_none(lilei, code):
    assert lilei.get(f"/rooms/{code}/").status_code == 404


def test_a_room_out_of_use_is_not_shown(lilei):
    Room.objects.filter(code="A305").update(is_active=False)
    assert lilei.get(reverse("room", args=["A305"])).status_code == 404
    assert "A305" not in rows(grid(lilei))


def test_a_date_that_is_none_has_no_week(lilei):
    assert lilei.get(reverse("room", args=["A305"]), {"date": "2026-02-30"}).status_code == 404


def test_the_day_is_written_in_the_readers_language(lilei):
    lilei.cookies["django_language"] = "zh-hans"
    response = grid(lilei, date=TODAY)
    assert rows(response)["A305"].line == "现在空闲，到 15:00"
    assert "雪松厅" in response.text


def test_the_days_of_a_page_are_three_queries(lilei, django_assert_max_num_queries):
    me, now = user("lilei"), NOW
    room, house = Room.objects.get(code="A305"), building("A")
    with django_assert_max_num_queries(3):
        assert len(availability.of_building(house, day=TODAY, viewer=me, now=now)) == 4
    with django_assert_max_num_queries(3):
        assert len(availability.of_room(room, days=[TODAY], viewer=me, now=now)) == 1


def test_a_blackout_is_shown_with_its_reason_and_not_offered(lilei):
    services.close_rooms(
        place=Room.objects.get(code="A302"),
        starts_at=at(TODAY, "12:00"),
        ends_at=at(TODAY, "14:00"),
        reason="Painting",
        by=user("admin"),
        settlements={},
        now=NOW,
        source=Source.ADMIN,
    )
    assert pieces(rows(grid(lilei, date=TODAY))["A302"]) == [
        ("free", "10:00–12:00", ""),
        ("shut", "12:00–14:00", "Painting"),
        ("free", "14:00–21:00", ""),
    ]


def test_a_room_that_is_not_mine_to_see_is_none(lilei):
    policy = Policy.objects.get()
    group = Group.objects.create(name="Board")
    for right in (Grant.Right.SEE, Grant.Right.BOOK):
        Grant.objects.create(policy=policy, group=group, right=right)
    assert grid(lilei).context["total"] == 0
    assert lilei.get(reverse("room", args=["A305"])).status_code == 404
    user("lilei").groups.add(group)
    assert grid(lilei).context["total"] == 4


def test_a_room_that_is_mine_to_see_only_is_not_offered(lilei):
    policy = Policy.objects.get()
    group = Group.objects.create(name="Board")
    Grant.objects.create(policy=policy, group=group, right=Grant.Right.BOOK)
    row = rows(grid(lilei, date=TODAY))["A302"]
    assert pieces(row) == []
    assert row.line == "Nothing free"
