import pytest

from booking.models import Booking
from booking.tests.world import TOMORROW, at

WISH = {
    "parts": [{"room": "B801", "headcount": 57}, {"room": "B201", "headcount": 9}],
    "starts_at": at(TOMORROW, "10:00").isoformat(),
    "ends_at": at(TOMORROW, "11:00").isoformat(),
    "title": "All hands",
}


@pytest.fixture
def post(lilei):
    def post(address, body, *, key):
        headers = {"Idempotency-Key": key}
        return lilei.post(f"/api/v1/{address}", body, format="json", headers=headers)

    return post


def test_too_many_people_are_told_which_rooms_together_are_enough(post):
    one = {**WISH, "room": "B801", "headcount": 66}
    del one["parts"]
    answer = post("bookings/", one, key="k")
    assert answer.status_code == 422
    body = answer.json()
    assert (body["code"], body["rule"]) == ("policy", "capacity")
    [other] = body["alternatives"]
    assert other["kind"] == "split"
    made = post("bookings/split/", {**WISH, "parts": other["parts"]}, key="k2")
    assert made.status_code == 201
    assert sum(each["headcount"] for each in made.json()) == 66


def test_the_same_key_again_is_the_same_rooms(post):
    first, again = (post("bookings/split/", WISH, key="same").json() for _time in range(2))
    assert [each["id"] for each in first] == [each["id"] for each in again]
    assert Booking.objects.filter(title="All hands").count() == 2
    other = {**WISH, "title": "Else"}
    assert post("bookings/split/", other, key="same").json()["code"] == "idempotency_mismatch"


def test_no_room_is_booked_where_one_cannot_be(post):
    parts = [{"room": "B801", "headcount": 55}, {"room": "B201", "headcount": 11}]
    assert post("bookings/split/", {**WISH, "parts": parts}, key="k").status_code == 422
    twice = [{"room": "B801", "headcount": 5}] * 2
    answer = post("bookings/split/", {**WISH, "parts": twice}, key="k")
    assert answer.status_code == 422
    assert "parts" in answer.json()["errors"]
    assert not Booking.objects.filter(title="All hands").exists()
