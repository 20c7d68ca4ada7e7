"""Every door leads to the same service: whoever comes first has the room, through whichever door."""

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from agentruntime.models import Effect
from booking import services
from booking.agent import acts
from booking.calendar import intake
from booking.models import Booking, Occurrence, Room, Source
from booking.tests import world
from booking.tests.test_intake import message
from booking.tests.test_races import at_once
from booking.tests.world import NOW, TOMORROW, at, book, user

pytestmark = pytest.mark.django_db(transaction=True)
SLOT = {"room": "B202", "starts_at": at(TOMORROW, "10:00"), "ends_at": at(TOMORROW, "11:00")}
ROUNDS = 4


@pytest.fixture(autouse=True)
def _world(transactional_db, settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    with time_machine.travel(NOW, tick=False):
        world.build()
        yield


def through_chat(number, effect):
    offer = {
        "room": "B202",
        "starts_at": SLOT["starts_at"].isoformat(),
        "ends_at": SLOT["ends_at"].isoformat(),
        "headcount": 2,
        "title": "",
        "intent": f"chat-{number}",
    }
    return lambda: acts.book(effect, owner_id=effect.thread.owner_id, offer=offer, now=NOW)


def through_admin(number):
    client = Client()
    client.force_login(user("admin"))
    values = {
        "organizer": user("zhaoqiang").pk,
        "title": "",
        "visibility": "public",
        "headcount": 2,
        "room": Room.objects.get(code="B202").pk,
        "request_key": f"admin-{number}",
        "starts_at_0": TOMORROW.isoformat(),
        "starts_at_1": "10:00",
        "ends_at_0": TOMORROW.isoformat(),
        "ends_at_1": "11:00",
    }
    return lambda: client.post(reverse("admin:booking_booking_add"), values)


def through_portal(number, who):
    """The form of the pages, sent as a browser sends it."""
    client = Client()
    client.force_login(user(who))
    values = {
        "room": "B202",
        "date": TOMORROW.isoformat(),
        "starts": "10:00",
        "ends": "11:00",
        "headcount": "2",
        "title": "",
        "key": f"portal-{number}",
    }
    return lambda: client.post(reverse("book"), values)


def through_api(number, who):
    """The request of a script."""
    client = APIClient()
    token, _ = Token.objects.get_or_create(user=user(who))
    client.credentials(HTTP_AUTHORIZATION=f"Token {token.key}")
    values = {
        "room": "B202",
        "starts_at": SLOT["starts_at"].isoformat(),
        "ends_at": SLOT["ends_at"].isoformat(),
        "headcount": 2,
    }
    headers = {"Idempotency-Key": f"api-{number}"}
    return lambda: client.post("/api/v1/bookings/", values, format="json", headers=headers)


def through_service(number, source, who):
    person = user(who)
    return lambda: book(
        "B202",
        TOMORROW,
        "10:00",
        "11:00",
        organizer=person,
        source=source,
        idempotency_key=f"{source}-{number}",
    )


def through_calendar(number):
    person = user("lilei")
    content = message(UID=f"{number}@elsewhere", LOCATION="B202")
    return lambda: intake.take(content, person=person, now=NOW)[0]


def effects(count):
    first = world.effect()
    made = [first]
    for number in range(1, count):
        made.append(
            Effect.objects.create(
                thread=first.thread,
                run=first.run,
                run_version=1,
                name="book_room",
                task=f"t{number}",
                intent=f"i{number}",
                checkpoint="c",
            )
        )
    return made


def test_many_at_once_through_five_doors_make_one_booking():
    calls = []
    for number, effect in enumerate(effects(ROUNDS)):
        calls += [
            through_chat(number, effect),
            through_admin(number),
            through_portal(number, "hanmei"),
            through_api(number, "wangfang"),
            through_calendar(number),
        ]
    answers = at_once(*calls)
    [won] = Occurrence.objects.filter(room__code="B202", starts_at=SLOT["starts_at"])
    assert Booking.objects.filter(occurrences__room__code="B202").count() == 1
    assert won.booking.changes.get().action == "booked"
    told = [each.status_code for each in answers if hasattr(each, "status_code")]
    assert len(told) == 3 * ROUNDS  # the admin, the pages and the API answer everybody
    assert set(told) <= {200, 201, 302, 409}


@pytest.mark.parametrize("first", [Source.PORTAL, Source.API, Source.CALENDAR])
def test_whoever_is_late_is_told_whatever_the_doors(first):
    through_service(0, first, "hanmei")()
    [effect] = effects(1)
    chat, portal, api, calendar = at_once(
        through_chat(1, effect),
        through_portal(2, "wangfang"),
        through_api(3, "lilei"),
        through_calendar(5),
    )
    assert (chat.code, calendar.code) == ("taken", "taken")
    assert (portal.status_code, api.status_code) == (409, 409)
    assert "B202" in portal.context["problem"]
    assert api.json()["code"] == "taken"
    response = through_admin(4)()
    assert response.status_code == 200
    assert "B202 is taken" in response.content.decode()
    assert Occurrence.objects.filter(room__code="B202", starts_at=SLOT["starts_at"]).count() == 1


def test_a_pending_and_a_booked_never_overlap_in_one_room():
    """One room asks for approval of long bookings only, so both kinds race for it."""
    room = Room.objects.get(code="B202")
    room.policy.approval_over_minutes = 60
    room.policy.save()
    hanmei, lilei = user("hanmei"), user("lilei")
    calls = []
    for number in range(6):
        who, ends = (hanmei, "12:00") if number % 2 else (lilei, "11:00")
        calls.append(
            lambda number=number, who=who, ends=ends: book(
                "B202", TOMORROW, "10:00", ends, organizer=who, idempotency_key=f"p{number}"
            )
        )
    at_once(*calls)
    found = Occurrence.objects.active().filter(room=room)
    assert found.count() == 1


def test_a_retry_of_one_request_through_one_door_is_the_same_booking():
    call = through_service(1, Source.API, "hanmei")
    results = at_once(*[call] * 5)
    assert len({each.pk for each in results}) == 1


def test_a_cancel_frees_the_slot_for_exactly_one_of_those_who_wait():
    booking = through_service(0, Source.PORTAL, "hanmei")()
    people = list(User.objects.exclude(username="admin"))

    def cancel():
        return services.cancel_booking(
            booking.pk, by=booking.organizer, now=NOW, source=Source.PORTAL
        )

    cancel()
    at_once(
        *(
            lambda who=who, n=n: book(
                "B202", TOMORROW, "10:00", "11:00", organizer=who, idempotency_key=f"w{n}"
            )
            for n, who in enumerate(people * 3)
        )
    )
    assert Occurrence.objects.active().filter(room__code="B202").count() == 1
    connection.close()
