from datetime import timedelta

import pytest
from django.urls import reverse

from booking import services
from booking.models import Booking, Room, Source
from booking.ranking import Part
from booking.tests.views.test_entry import FORM
from booking.tests.world import NOW, TOMORROW, at, book, user
from booking.views import split

STARTS, ENDS = at(TOMORROW, "10:00"), at(TOMORROW, "11:00")
PARTS = (Part(room="B801", headcount=57), Part(room="B201", headcount=9))
PEOPLE = {"people1": "57", "people2": "9", "title": "All hands", "key": "portal-7"}


def address(parts=PARTS, starts_at=STARTS, ends_at=ENDS):
    return split.address(parts, starts_at, ends_at, "All hands")


def test_more_people_than_any_room_seats_are_offered_several_on_the_form(lilei):
    response = lilei.post(reverse("book"), {**FORM, "room": "B801", "headcount": "66"})
    assert response.status_code == 409
    [offer] = response.context["offers"]
    assert "B801" in offer.room
    assert "B201" in offer.room
    page = lilei.get(offer.url)
    assert [page.context["form"][f"people{n}"].value() for n in (1, 2)] == ["57", "9"]
    assert page.context["form"]["title"].value() == "Talk"


def test_a_room_too_small_is_said_with_larger_ones(lilei):
    response = lilei.post(reverse("book"), {**FORM, "room": "A302", "headcount": "8"})
    assert response.status_code == 409
    rooms = [offer.room for offer in response.context["offers"]]
    assert rooms
    assert "A302" not in rooms


def test_all_the_rooms_are_booked(lilei):
    response = lilei.post(address(), {**PEOPLE, "is_private": "on"})
    assert response["Location"] == reverse("my-bookings")
    made = Booking.objects.filter(title="All hands", visibility="private", source=Source.PORTAL)
    assert {(each.room.code, each.headcount) for each in made.with_occurrences()} == {
        ("B801", 57),
        ("B201", 9),
    }


def test_the_form_sent_twice_books_once(lilei):
    for _attempt in range(2):
        lilei.post(address(), PEOPLE)
    assert Booking.objects.filter(title="All hands").count() == 2


@pytest.mark.parametrize(
    ("changes", "status"),
    [({"people2": "0"}, 200), ({"people1": ""}, 200), ({"people2": "11"}, 409)],
)
def test_what_cannot_be_is_said_and_nothing_is_booked(lilei, changes, status):
    response = lilei.post(address(), {**PEOPLE, **changes})
    assert response.status_code == status
    assert b'role="alert"' in response.content
    assert not Booking.objects.filter(title="All hands").exists()


def test_a_room_taken_meanwhile_books_none(lilei):
    book("B201", TOMORROW, "10:30", "11:30", organizer=user("hanmei"))
    assert lilei.post(address(), PEOPLE).status_code == 409
    assert not Booking.objects.filter(title="All hands").exists()


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?room=B801&room=B201",
        "?room=B801&start=2026-12-01T10:00%2B08:00&end=2026-12-01T11:00%2B08:00",
        "?room=B801&room=Z9&start=2026-12-01T10:00%2B08:00&end=2026-12-01T11:00%2B08:00",
        "?room=B801&room=B801&start=2026-12-01T10:00%2B08:00&end=2026-12-01T11:00%2B08:00",
        "?room=B801&room=B201&start=2026-12-01T10:00&end=2026-12-01T11:00",
        "?room=B801&room=B201&start=2026-12-01T11:00%2B08:00&end=2026-12-01T11:00%2B08:00",
        "?room=%00&room=B201&start=2026-12-01T10:00%2B08:00&end=2026-12-01T11:00%2B08:00",
    ],
)
def test_an_address_that_no_offer_has_is_not_found(lilei, query):
    assert lilei.get(reverse("split") + query).status_code == 404


@pytest.fixture
def two(lilei):
    first = book("A302", TOMORROW, "10:00", "11:00")
    second = book("A305", TOMORROW, "18:00", "19:00", title="Other")
    return first, second


def swap(client, booking, other=None, **more):
    version = more.pop("version", booking.version)
    data = {"version": version, **({"other": other} if other else {}), **more}
    return client.post(reverse("swap-booking", args=[booking.pk]), data)


def test_two_bookings_trade_their_places(lilei, two):
    first, second = two
    page = lilei.get(reverse("swap-booking", args=[first.pk]))
    choices = dict(page.context["form"].fields["other"].choices)
    key = f"{second.occurrence.pk}-{second.version}"
    assert "A305" in choices[key]
    assert "Other" in choices[key]
    response = swap(lilei, first, key)
    assert response.status_code == 302
    rooms = {each.pk: each.room.code for each in Booking.objects.with_occurrences()}
    assert (rooms[first.pk], rooms[second.pk]) == ("A305", "A302")


def test_what_changed_since_it_was_shown_is_not_swapped(lilei, two):
    first, second = two
    key = f"{second.occurrence.pk}-{second.version}"
    services.amend_booking(second.pk, by=user("lilei"), title="New", source=Source.PORTAL)
    assert b'role="alert"' in swap(lilei, first, key).content
    assert swap(lilei, first, version=99).status_code == 200
    moved = services.reschedule_booking(
        first.pk, by=user("lilei"), starts_at=first.starts_at + timedelta(hours=1), now=NOW,
        source=Source.PORTAL,
    )  # fmt: skip
    fresh = Booking.objects.with_occurrences().get(pk=second.pk)
    key = f"{fresh.occurrence.pk}-{fresh.version}"
    assert swap(lilei, moved, key, version=first.version).status_code == 409


def test_another_persons_booking_is_no_choice(lilei, two):
    first, _second = two
    theirs = book("A301", TOMORROW, "10:00", "11:00", organizer=user("hanmei"))
    assert swap(lilei, first, f"{theirs.occurrence.pk}-{theirs.version}").status_code == 200
    assert lilei.get(reverse("swap-booking", args=[theirs.pk])).status_code == 404
    assert Booking.objects.with_occurrences().get(pk=theirs.pk).room.code == "A301"


def test_who_has_nothing_else_is_told(client):
    client.force_login(user("zhaoqiang"))
    only = book("A302", TOMORROW, "10:00", "11:00", organizer=user("zhaoqiang"))
    Booking.objects.filter(organizer=user("zhaoqiang")).exclude(pk=only.pk).delete()
    page = client.get(reverse("swap-booking", args=[only.pk]))
    assert page.context["has_others"] is False


@pytest.mark.parametrize("spoil", ["taken", "shut", "closed", "late", None])
def test_undo_is_offered_only_where_it_would_work(lilei, two, spoil):
    first, _second = two
    services.cancel_booking(first.pk, by=user("lilei"), now=NOW, source=Source.PORTAL)
    if spoil == "taken":
        book("A302", TOMORROW, "10:30", "11:30", organizer=user("hanmei"))
    if spoil == "closed":
        Room.objects.filter(code="A302").update(is_active=False)
    if spoil == "shut":
        services.close_rooms(
            place=Room.objects.get(code="A302"), starts_at=STARTS, ends_at=ENDS, reason="Paint",
            settlements={}, by=user("admin"), now=NOW, source=Source.ADMIN,
        )  # fmt: skip
    if spoil == "late":
        first.changes.update(at=NOW - timedelta(minutes=11))
    page = lilei.get(reverse("my-bookings"), {"cancelled": first.pk})
    assert (page.context["undo"] is not None) == (spoil is None)
