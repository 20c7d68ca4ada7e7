from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from hypothesis import given

from booking import ranking, selectors, services
from booking.exceptions import InvalidBooking, PolicyViolation, RoomUnavailable
from booking.intervals import Interval
from booking.models import Booking, Occurrence, Policy, Quota, Room, Source
from booking.ranking import Part
from booking.splits import MOST_ROOMS, split
from booking.tests import world
from booking.tests.test_ranking import prospects, requests
from booking.tests.world import NOW, TOMORROW, at, book, user, wish


@given(prospects, requests)
def test_a_split_seats_everybody_in_free_rooms_that_have_what_is_wished(found, request):
    answer = split(found, request)
    by_code = {each.room.code: each for each in found}
    during = Interval(request.starts_at, request.ends_at)
    usable = [
        each.room
        for each in found
        if each.is_free(during) and not ranking.missing_features(each.room, request)
    ]
    seats = sorted((room.seats for room in usable), reverse=True)
    enough = [n for n in range(2, MOST_ROOMS + 1) if sum(seats[:n]) >= request.headcount >= n]
    if answer is None:
        assert not [n for n in enough if n <= len(seats)]
        return
    assert len(answer.parts) == enough[0]
    assert len({part.room for part in answer.parts}) == len(answer.parts)
    assert sum(part.headcount for part in answer.parts) == request.headcount
    for part in answer.parts:
        assert by_code[part.room].room in usable
        assert 1 <= part.headcount <= by_code[part.room].room.seats
    assert (answer.starts_at, answer.ends_at) == (request.starts_at, request.ends_at)
    asks = any(by_code[part.room].room.needs_approval for part in answer.parts)
    assert answer.detail.endswith("+needs_approval") == asks


@pytest.fixture
def _world(db):
    world.build()


def search(headcount, **more):
    return selectors.search(
        wish(TOMORROW, "10:00", 60, headcount, **more), user=user("lilei"), now=NOW
    )


def book_both(parts, key="k", who="lilei", **more):
    values = {"starts_at": at(TOMORROW, "10:00"), "ends_at": at(TOMORROW, "11:00")}
    return services.book_rooms(
        organizer=user(who),
        parts=[Part(room=room, headcount=people) for room, people in parts],
        source=Source.PORTAL,
        idempotency_key=key,
        now=NOW,
        **{**values, **more},
    )


@pytest.mark.usefixtures("_world")
class TestWithRooms:
    def test_more_people_than_any_room_seats_are_offered_two_rooms_with_the_refusal(self):
        result = search(66)
        assert result.candidates == ()
        assert result.refusal.rule == "capacity"
        [other] = result.alternatives
        assert (other.kind, other.detail) == ("split", "split:2+needs_approval")  # the hall does
        assert [part.room for part in other.parts] == ["B801", "B201"]
        assert sum(part.headcount for part in other.parts) == 66

    def test_rooms_that_need_approval_are_taken_only_where_nothing_else_is_enough(self):
        Room.objects.filter(code="B801").update(needs_approval=False)
        assert search(72).alternatives[0].detail == "split:2"
        Room.objects.filter(code="A305").update(is_active=False)
        [other] = search(72).alternatives
        assert {part.room for part in other.parts} >= {"B801", "A501"}
        assert other.detail == "split:2+needs_approval"

    def test_nobody_is_offered_several_rooms_without_asking_when_one_is_enough(self):
        assert all(each.kind != "split" for each in search(8).alternatives)
        asked = search(8, may_split=True)
        assert asked.candidates
        assert asked.alternatives[-1].kind == "split"

    def test_too_many_for_three_rooms_are_refused_as_before(self):
        result = search(200)
        assert (result.alternatives, result.refusal.rule) == ((), "capacity")

    def test_all_rooms_are_booked_each_with_its_people(self):
        made = book_both([("B801", 57), ("B201", 9)])
        assert [(each.room.code, each.headcount) for each in made] == [("B801", 57), ("B201", 9)]
        again = book_both([("B801", 57), ("B201", 9)])
        assert [each.pk for each in again] == [each.pk for each in made]

    def test_a_room_lost_on_the_way_books_none(self):
        book("B201", TOMORROW, "10:30", "11:30", organizer=user("hanmei"))
        before = Booking.objects.count()
        with pytest.raises(RoomUnavailable) as caught:
            book_both([("B801", 57), ("B201", 9)])
        assert caught.value.data["room"] == "B201"
        assert Booking.objects.count() == before

    def test_a_room_too_small_for_its_part_books_none(self):
        before = Booking.objects.count()
        with pytest.raises(PolicyViolation):
            book_both([("B801", 55), ("B201", 11)])
        assert Booking.objects.count() == before

    def test_a_quota_counts_every_room(self):
        policy = Policy.objects.get(rooms__code="B201")
        Room.objects.update(policy=policy)
        Quota.objects.create(policy=policy, period=Quota.Period.DAY, max_bookings=1)
        before = Booking.objects.count()
        with pytest.raises(PolicyViolation):
            book_both([("B801", 57), ("B201", 9)], who="hanmei")
        assert Booking.objects.count() == before

    @pytest.mark.parametrize(
        "parts", [[], [("B801", 5)], [("B801", 5), ("B801", 5)], [("A301", 1)] * 4]
    )
    def test_parts_that_are_no_split_are_refused(self, parts):
        with pytest.raises(InvalidBooking) as caught:
            book_both(parts)
        assert caught.value.data["field"] == "parts"


@pytest.mark.django_db(transaction=True)
def test_two_splits_over_the_same_rooms_at_once_end_with_one():
    world.build()
    before = set(Occurrence.objects.values_list("pk", flat=True))

    def attempt(number):
        parts = [("B801", 57), ("B201", 9)][:: 1 if number % 2 else -1]
        try:
            return book_both(parts, key=f"k{number}", who=("lilei", "hanmei")[number % 2])
        except RoomUnavailable:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(attempt, range(6)))
    assert sum(each is not None for each in results) == 1
    made = Occurrence.objects.exclude(pk__in=before)
    assert {each.room.code for each in made} == {"B801", "B201"}
    assert len(made) == 2
    assert made[0].ends_at - made[0].starts_at == timedelta(hours=1)
