import pytest
from django.urls import reverse

from booking.models import Booking, Room, Source, Status
from booking.tests.world import TODAY, TOMORROW, at, user

FORM = {
    "room": "A302",
    "date": str(TOMORROW),
    "starts": "10:00",
    "ends": "11:00",
    "headcount": "4",
    "title": "Talk",
    "key": "portal-1",
}


def post(client, **changes):
    return client.post(reverse("book"), {**FORM, **changes})


def form(client, **query):
    return client.get(reverse("book"), query).context["form"]


def test_a_gap_fills_the_form(lilei):
    filled = form(lilei, room="A305", start="2026-12-02T10:30")
    values = {name: filled[name].value() for name in ("room", "date", "starts", "ends")}
    assert {name: str(value) for name, value in values.items()} == {
        "room": "A305",
        "date": "2026-12-02",
        "starts": "10:30:00",
        "ends": "11:30:00",
    }
    assert str(form(lilei, room="A305", start="2026-12-02T10:30", minutes=30)["ends"].value()) == (
        "11:00:00"
    )


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"room": "Z9"},
        {"room": "\0"},
        {"start": "soon"},
        {"start": "9999-12-31T23:59"},
        {"start": "2026-12-02T10:30", "minutes": "-7"},
        {"start": "2026-12-02T10:30", "minutes": "9" * 30},
        {"room": "A305", "start": "0001-01-01T00:00"},
    ],
)
def test_nonsense_in_an_address_is_left_out(lilei, query):
    assert lilei.get(reverse("book"), query).status_code == 200


def test_a_room_is_booked(lilei):
    response = post(lilei, is_private="on")
    booking = Booking.objects.latest("pk")
    assert response["Location"] == reverse("booking", args=[booking.pk])
    assert (booking.organizer, booking.source) == (user("lilei"), Source.PORTAL)
    assert (booking.title, booking.headcount, booking.visibility) == ("Talk", 4, "private")
    assert (booking.room.code, booking.starts_at) == ("A302", at(TOMORROW, "10:00"))
    assert "Booked." in lilei.get(response["Location"]).text


def test_a_room_on_request_is_asked_for(lilei):
    response = post(lilei, room="A501")
    assert Booking.objects.latest("pk").status == Status.PENDING
    assert "Requested." in lilei.get(response["Location"]).text


def test_the_same_form_twice_is_one_booking(lilei):
    first, second = post(lilei), post(lilei)
    assert first["Location"] == second["Location"]
    assert Booking.objects.filter(title="Talk").count() == 1


def test_a_taken_room_is_said_with_what_could_be_had(lilei):
    response = post(lilei, room="A305", starts="15:00", ends="16:00")
    assert response.status_code == 409
    assert "A305 is taken at that time." in response.text
    offers = response.context["offers"]
    assert [(each.room, each.when, each.why) for each in offers] == [
        ("A305", "Tue 1 Dec 14:00–15:00", "1 h earlier"),
        ("A305", "Tue 1 Dec 17:00–18:00", "2 h later"),
        ("A302", "Tue 1 Dec 15:00–16:00", "another room"),
    ]
    filled = lilei.get(offers[1].url).context["form"]
    assert str(filled["starts"].value()) == "17:00:00"
    assert filled["title"].value() == "Talk"


def test_a_rule_that_says_no_names_the_nearest_time(lilei):
    response = post(lilei, starts="07:00", ends="08:00")
    assert response.status_code == 409
    assert "The rooms are open 08:00-21:00 on that day." in response.text
    [offer] = response.context["offers"]
    assert (offer.when, offer.why) == ("Tue 1 Dec 08:00–09:00", "The nearest possible time")


def test_too_many_people_are_refused_by_the_service(lilei):
    response = post(lilei, headcount=40)
    assert response.status_code == 409
    assert "too few for 40 people" in response.text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("room", ""),
        ("room", "Z999"),
        ("room", "\0"),
        ("date", ""),
        ("date", "tomorrow"),
        ("date", "2026-02-30"),
        ("starts", "25:00"),
        ("starts", ""),
        ("ends", "10:00"),
        ("ends", "09:00"),
        ("headcount", "0"),
        ("headcount", "-3"),
        ("headcount", "1e9"),
        ("headcount", "99999999999999999999"),
        ("title", "x" * 201),
        ("title", "a\0b"),
        ("key", ""),
        ("key", "k" * 201),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_what_no_booking_can_be_is_said_and_nothing_is_written(lilei, language, field, value):
    lilei.cookies["django_language"] = language
    before = Booking.objects.count()
    response = post(lilei, **{field: value})
    assert response.status_code == 200
    assert response.context["form"].errors[field]
    words = {"en": "nothing was booked", "zh-hans": "没有产生任何预订"}[language]
    assert words in response.text
    assert Booking.objects.count() == before


@pytest.mark.parametrize("date", ["0001-01-01", "1999-12-31", "9001-01-01", "9999-12-31"])
def test_a_day_at_the_ends_of_the_calendar_is_none(lilei, date):
    assert post(lilei, date=date, ends="00:00").context["form"].errors["date"]


@pytest.mark.parametrize("date", ["2000-01-01", "9000-12-31"])
def test_a_day_out_of_reach_is_refused_by_the_rules(lilei, date):
    before = Booking.objects.count()
    assert post(lilei, date=date).status_code == 409
    assert Booking.objects.count() == before


def test_a_room_out_of_use_cannot_be_chosen(lilei):
    Room.objects.filter(code="A302").update(is_active=False)
    assert post(lilei).context["form"].errors["room"]


def test_an_hour_the_clocks_skip_is_refused(lilei):
    site = Room.objects.get(code="A302").floor.building.site
    site.time_zone = "Europe/Berlin"
    site.save()
    response = post(lilei, date="2027-03-28", starts="02:30", ends="03:30")
    assert "The clocks skip that time" in response.text


def test_booking_is_guarded_against_foreign_forms(lilei):
    lilei.handler.enforce_csrf_checks = True
    before = Booking.objects.count()
    assert post(lilei).status_code == 403
    assert Booking.objects.count() == before


def test_the_rooms_day_stands_beside_the_form(lilei):
    row = lilei.get(reverse("book"), {"room": "A305", "start": f"{TODAY}T11:00"}).context["row"]
    assert [piece.span for piece in row.pieces if piece.kind == "mine"] == ["15:00–16:00"]
