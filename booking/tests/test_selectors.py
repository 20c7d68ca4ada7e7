from datetime import date, time, timedelta

import pytest
from django.contrib.auth.models import User

from booking import selectors, services
from booking.exceptions import RoomNotFound
from booking.models import OpeningHours, Policy, Room, Source, SpecialDate
from booking.tests import world
from booking.tests.world import NOW, SHANGHAI, TODAY, TOMORROW, WEDNESDAY, at, user, wish

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _world(db):
    world.build()


def search(request, who="lilei", now=NOW):
    return selectors.search(request, user=user(who), now=now)


def rooms(result):
    return [each.room for each in result.candidates]


def others(result):
    return [
        f"{each.room}@{each.starts_at.astimezone(SHANGHAI):%H:%M}" for each in result.alternatives
    ]


@pytest.mark.parametrize(
    ("day", "starts", "minutes", "headcount", "more", "expected"),
    [
        (TOMORROW, "15:00", 120, 6, {}, ["A302", "A301", "A501"]),
        (TOMORROW, "10:00", 60, 8, {"building": "A"}, ["A301", "A305", "A501"]),
        (TOMORROW, "14:30", 90, 7, {}, ["A301", "A501"]),
        (TOMORROW, "09:15", 45, 4, {}, ["A302", "A301", "A305"]),
        (TOMORROW, "11:00", 30, 8, {}, ["A301", "A305", "B201"]),
        (TOMORROW, "09:00", 60, 10, {"features": ("projector",)}, ["A305", "A501"]),
        (TOMORROW, "10:00", 60, 8, {"features": ("video_conference",)}, ["A305", "B201", "A501"]),
        (WEDNESDAY, "09:30", 30, 4, {}, ["A302", "A301", "A305"]),
        (TODAY, "15:00", 120, 8, {}, ["A301", "B201", "A501"]),
        (TODAY, "10:30", 60, 4, {}, ["A302", "A305", "B202"]),
        (TODAY, "10:00", 30, 2, {}, ["A302", "A305", "B202"]),
        (date(2026, 12, 7), "10:00", 60, 8, {"room": "B201"}, ["B201"]),
        (TOMORROW, "10:00", 60, 30, {}, ["B801"]),
        (WEDNESDAY, "14:00", 60, 8, {"floor": 3}, ["A301", "A305"]),
    ],
)
def test_rooms_are_offered_in_the_agreed_order(day, starts, minutes, headcount, more, expected):
    result = search(wish(day, starts, minutes, headcount, **more))
    assert rooms(result) == expected
    assert result.refusal is None


def test_the_nearest_other_times_come_by_shift_when_only_a_request_is_possible():
    result = search(wish(TOMORROW, "15:00", 60, 10))
    assert rooms(result) == ["A501"]
    assert others(result) == ["A305@14:00", "A305@17:00", "B201@13:00"]
    assert [each.kind for each in result.alternatives] == ["other_time"] * 3
    assert [each.detail for each in result.alternatives] == [
        "earlier:60",
        "later:120",
        "earlier:120",
    ]


def test_no_alternatives_are_offered_where_only_one_room_fits_and_is_free():
    assert others(search(wish(TOMORROW, "10:00", 60, 30))) == []


def test_a_home_in_the_other_building_changes_the_order():
    assert rooms(search(wish(TOMORROW, "11:00", 30, 8), who="hanmei")) == ["B201", "A301", "A305"]


def test_reasons_say_why_a_room_stands_where_it_stands():
    result = search(wish(TOMORROW, "09:00", 60, 8, features=("projector",)))
    by_room = {each.room: each.reasons for each in result.candidates}
    assert by_room == {
        "A301": ("home_building", "exact_fit", "has_features:projector"),
        "A305": ("home_building", "spare_seats:4", "has_features:projector"),
        "A501": ("home_building", "spare_seats:12", "has_features:projector", "needs_approval"),
    }


def test_an_oversized_room_is_offered_only_when_nothing_else_is_free():
    Room.objects.filter(code="B801").update(needs_approval=False)
    request = wish(WEDNESDAY, "14:00", 60, 4, building="B")
    assert rooms(search(request)) == ["B202", "B201"]
    for code in ("B202", "B201"):
        world.book(code, WEDNESDAY, "14:00", "15:00")
    result = search(request)
    assert rooms(result) == ["B801"]
    assert "larger_than_needed:60" in result.candidates[0].reasons


def test_the_other_building_is_offered_when_the_named_one_is_full_all_afternoon():
    for code in ("B201", "B202"):
        for starts, ends in (("09:00", "13:00"), ("13:00", "17:00"), ("17:00", "21:00")):
            world.book(code, WEDNESDAY, starts, ends)
    result = search(wish(WEDNESDAY, "13:00", 60, 4, building="B"))
    assert rooms(result) == ["B801"]
    assert [(each.kind, each.room, each.detail) for each in result.alternatives] == [
        ("other_room", "A302", "other_building:A"),
        ("other_room", "A301", "other_building:A"),
        ("other_room", "A305", "other_building:A"),
    ]


def test_one_wish_less_is_named_when_no_time_and_no_place_has_them_all():
    request = wish(TOMORROW, "10:00", 60, 4, building="B", features=("whiteboard", "microphone"))
    result = search(request)
    assert rooms(result) == []
    assert [(each.kind, each.room, each.detail) for each in result.alternatives] == [
        ("without_wish", "B202", "feature:microphone"),
    ]


def test_a_room_on_request_elsewhere_is_the_last_resort():
    result = search(wish(TOMORROW, "10:00", 60, 30, building="A"))
    assert rooms(result) == []
    assert [(each.kind, each.room) for each in result.alternatives] == [("approval", "B801")]


def test_a_taken_room_on_request_is_offered_at_another_time():
    world.book("B801", TOMORROW, "10:00", "11:00", headcount=30)
    result = search(wish(TOMORROW, "10:00", 60, 30))
    assert rooms(result) == []
    assert others(result) == ["B801@09:00", "B801@11:00"]
    assert {each.kind for each in result.alternatives} == {"approval"}


def test_a_named_room_that_is_taken_is_offered_at_other_times_then_others():
    result = search(wish(TOMORROW, "15:00", 60, 6, room="A305"))
    assert rooms(result) == []
    assert others(result) == ["A305@14:00", "A305@17:00", "A302@15:00"]


@pytest.mark.parametrize(
    ("request_", "rule", "params"),
    [
        (wish(TOMORROW, "13:00", 60, 200), "capacity", {"room": "B801", "seats": 60}),
        (wish(TOMORROW, "13:00", 60, 9, room="A301"), "capacity", {"room": "A301", "seats": 8}),
        (wish(TOMORROW, "23:00", 60, 4), "opening_hours", {"hours": [["08:00", "21:00"]]}),
        (wish(date(2027, 1, 1), "10:00", 60, 6), "holiday", {"date": "2027-01-01"}),
        (wish(date(2026, 12, 5), "10:00", 60, 6), "opening_hours", {"weekday": 6, "hours": []}),
        (wish(TODAY, "09:00", 60, 6), "past", {}),
        (wish(date(2027, 3, 1), "10:00", 60, 6), "horizon", {"days": 90}),
        (wish(TOMORROW, "10:00", 300, 6), "max_duration", {"minutes": 240}),
        (wish(TOMORROW, "10:00", 0, 6), "min_duration", {"minutes": 15}),
        (wish(TOMORROW, "10:05", 60, 6), "grid", {"minutes": 15}),
        (wish(TOMORROW, "10:00", 60, 6, room="Z1"), "unknown_room", {"room": "Z1"}),
        (wish(TOMORROW, "10:00", 60, 6, building="Z"), "unknown_building", {"building": "Z"}),
        (
            wish(TOMORROW, "10:00", 60, 6, room="A302", features=("tv", "projector")),
            "missing_features",
            {"features": ["projector"]},
        ),
    ],
)
def test_a_request_no_room_can_meet_is_refused_by_rule(request_, rule, params):
    result = search(request_)
    assert result.candidates == ()
    assert result.refusal is not None
    assert result.refusal.rule == rule
    assert {**result.refusal.params, **params} == result.refusal.params


def test_a_named_room_too_small_comes_with_rooms_that_fit():
    result = search(wish(TOMORROW, "13:00", 60, 9, room="A301"))
    assert [each.room for each in result.alternatives] == ["A305", "B201", "A501"]


def test_a_refused_time_names_the_nearest_legal_one():
    refusal = search(wish(TOMORROW, "23:00", 60, 4)).refusal
    assert refusal.nearest == (at(TOMORROW, "20:00"), at(TOMORROW, "21:00"))


def test_no_rooms_at_all_is_said():
    Room.objects.update(is_active=False)
    assert search(wish(TOMORROW, "10:00", 60, 4)).refusal.rule == "no_rooms"


def test_rooms_whose_own_policy_forbids_the_time_drop_out_silently():
    mornings = Policy.objects.create(name="Mornings")
    OpeningHours.objects.create(policy=mornings, weekday=2, opens=time(8), closes=time(12))
    Room.objects.filter(code="A302").update(policy=mornings)
    assert rooms(search(wish(TOMORROW, "13:00", 60, 4))) == ["A301", "A305", "B202"]


def test_the_slot_of_the_booking_being_moved_counts_as_free():
    booking = world.book("A302", WEDNESDAY, "14:00", "15:00")
    request = wish(WEDNESDAY, "14:30", 60, 4, room="A302")
    assert rooms(search(request)) == []
    moving = wish(WEDNESDAY, "14:30", 60, 4, room="A302", ignore_booking=booking.pk)
    assert rooms(search(moving)) == ["A302"]


def test_buffers_keep_rooms_apart_in_the_search_too():
    Policy.objects.update(buffer_after_minutes=15)
    world.book("A302", WEDNESDAY, "14:00", "15:00")
    assert rooms(search(wish(WEDNESDAY, "15:00", 60, 4, room="A302"))) == []
    assert rooms(search(wish(WEDNESDAY, "13:00", 60, 4, room="A302"))) == []
    assert rooms(search(wish(WEDNESDAY, "15:15", 60, 4, room="A302"))) == ["A302"]


@pytest.mark.parametrize("headcount", [4, 10, 200])
def test_a_search_takes_at_most_three_queries(django_assert_max_num_queries, headcount):
    lilei = user("lilei")
    with django_assert_max_num_queries(3):
        selectors.search(wish(TOMORROW, "15:00", 60, headcount), user=lilei, now=NOW)


def free(django_assert=None, **more):
    values = {
        "user": user("lilei"),
        "date": TOMORROW,
        "window": (time(12), time(18)),
        "minutes": 60,
        "headcount": 10,
        "now": NOW,
    }
    starts = selectors.free_starts(**{**values, **more})
    return [f"{each.astimezone(SHANGHAI):%H:%M}" for each in starts]


def test_free_starts_are_those_some_wished_room_has():
    assert free(room="A305") == [
        "12:00",
        "12:15",
        "12:30",
        "12:45",
        "13:00",
        "13:15",
        "13:30",
        "13:45",
        "14:00",
        "17:00",
    ]
    assert free(building="Z") == []
    assert free(date=date(2026, 12, 5)) == []
    assert free(window=(time(20), time(0)), room="A305") == ["20:00"]


def test_free_starts_lie_ahead():
    assert free(date=TODAY, window=(time(8), time(11)), room="A305", now=at(TODAY, "09:40")) == [
        "09:45",
        "10:00",
    ]


def test_free_starts_take_three_queries(django_assert_num_queries):
    lilei = user("lilei")
    with django_assert_num_queries(3):
        selectors.free_starts(
            user=lilei, date=TOMORROW, window=(time(9), time(12)), minutes=30, headcount=4, now=NOW
        )


def test_my_bookings_of_a_day_include_that_day_of_a_series_only():
    midnight, next_midnight = at(WEDNESDAY, "00:00"), at(WEDNESDAY, "00:00") + timedelta(days=1)
    [stand_up] = selectors.bookings_of(user("lilei"), starts_at=midnight, ends_at=next_midnight)
    assert stand_up.is_series
    assert (stand_up.starts_at, stand_up.room.code) == (at(WEDNESDAY, "09:00"), "A302")
    assert len(stand_up.occurrences.all()) == 1


def test_my_bookings_come_by_start_without_the_cancelled():
    lilei = user("lilei")
    titles = [each.title for each in selectors.bookings_of(lilei)]
    assert titles == ["Weekly", "Demo", "Stand-up"]
    weekly = selectors.bookings_of(lilei)[0]
    services.cancel_booking(weekly.pk, by=lilei, now=NOW, source=Source.PORTAL)
    assert [each.title for each in selectors.bookings_of(lilei)] == ["Demo", "Stand-up"]
    assert len(selectors.bookings_of(lilei, only_active=False)) == 3
    assert selectors.bookings_of(lilei, only_active=False)[0].status == "cancelled"


def test_my_bookings_take_two_queries(django_assert_num_queries):
    lilei = user("lilei")
    with django_assert_num_queries(2):
        for each in selectors.bookings_of(lilei):
            assert each.room.floor.building.site.zone


def test_occurrences_list_every_date_of_a_series(django_assert_num_queries):
    lilei = user("lilei")
    with django_assert_num_queries(1):
        found = [(each.booking.title, str(each.room)) for each in selectors.occurrences_of(lilei)]
    assert [title for title, _room in found] == ["Weekly", "Demo"] + ["Stand-up"] * 4


def test_another_persons_booking_looks_like_none():
    mine = selectors.bookings_of(user("lilei"))[0]
    assert selectors.booking_of(user("lilei"), mine.pk) == mine
    assert selectors.booking_of(user("hanmei"), mine.pk) is None
    assert selectors.booking_of(user("lilei"), 0) is None


def test_a_private_booking_shows_others_a_busy_room_and_no_more():
    seen = selectors.room_now("A301", viewer=user("lilei"), now=NOW)
    assert (seen.is_busy, seen.until) == (True, at(TODAY, "11:00"))
    assert (seen.title, seen.organizer) == (None, None)
    own = selectors.room_now("A301", viewer=user("wangfang"), now=NOW)
    assert (own.title, own.organizer) == ("Secret budget", "王芳")


def test_a_busy_room_is_busy_until_the_last_of_the_bookings_in_a_row():
    world.book("A301", TODAY, "11:00", "12:00")
    assert selectors.room_now("A301", viewer=user("lilei"), now=NOW).until == at(TODAY, "12:00")


def test_a_free_room_is_free_until_its_next_booking_of_the_day():
    seen = selectors.room_now("A305", viewer=user("lilei"), now=NOW)
    assert (seen.is_busy, seen.until, seen.title) == (False, at(TODAY, "15:00"), None)
    assert selectors.room_now("B202", viewer=user("lilei"), now=NOW).until is None
    with pytest.raises(RoomNotFound):
        selectors.room_now("Z1", viewer=user("lilei"), now=NOW)


def test_the_lexicons_hold_what_people_may_say(django_assert_num_queries):
    lilei = user("lilei")
    with django_assert_num_queries(1):
        rooms_ = {each.code: each for each in selectors.room_lexicon(lilei)}
    assert rooms_["A301"].aliases == ("301", "room 301")
    assert (rooms_["B801"].name_zh, rooms_["B801"].building, rooms_["B801"].floor) == (
        "大礼堂",
        "B",
        8,
    )
    assert "tv" in {each.code for each in selectors.feature_lexicon()}


def test_usual_hours_are_those_of_the_home_site():
    nobody = User.objects.create(username="nobody")
    assert selectors.usual_hours(user("lilei")) == (time(8), time(21))
    assert selectors.usual_hours(nobody) == (time(8), time(21))
    OpeningHours.objects.filter(weekday=5).update(closes=time(0))
    assert selectors.usual_hours(user("lilei")) == (time(8), time(0))
    OpeningHours.objects.all().delete()
    assert selectors.usual_hours(nobody) is None


def test_the_home_zone_is_the_sites():
    assert selectors.home_zone(user("lilei")) == SHANGHAI
    assert selectors.home_zone(User.objects.create(username="nobody")) == SHANGHAI


def test_a_date_closed_at_another_site_closes_nothing_here():
    other = SpecialDate.objects.get(date=date(2027, 1, 1)).site
    other.pk = None
    other.save()
    SpecialDate.objects.create(site=other, date=TOMORROW, name_en="Theirs", name_zh="他们的")
    assert search(wish(TOMORROW, "13:00", 60, 4)).refusal is None
