import time_machine
from django.urls import reverse

from booking import services
from booking.models import Booking, Occurrence, Profile, Source
from booking.tests.world import NOW, TODAY, at, book, user


def today(client):
    return client.get(reverse("today"))


def test_the_next_booking_stands_first(lilei):
    response = today(lilei)
    assert response.context["first"].booking.title == "Weekly"
    assert [each.booking.title for each in response.context["coming"]] == [
        "Demo",
        "Stand-up",
        "Stand-up",
        "Stand-up",
        "Stand-up",
    ]
    assert "Your next booking" in response.text


def test_one_that_waits_for_a_check_in_stands_before_one_that_had_it(lilei):
    runs = book("A302", TODAY, "10:00", "11:00", title="Runs")
    waits = book("A305", TODAY, "10:15", "11:00", title="Waits")
    assert today(lilei).context["first"].booking == runs
    services.check_in(runs.pk, by=user("lilei"), now=NOW, source=Source.PORTAL)
    with time_machine.travel(at(TODAY, "10:15"), tick=False):
        response = today(lilei)
    assert (response.context["first"].booking, response.context["is_due"]) == (waits, True)
    assert runs in [each.booking for each in response.context["coming"]]


def test_what_is_near_or_runs_is_counted_down(lilei):
    for wall, words in (("14:48", "In 12 minutes"), ("14:59", "In 1 minute<"), ("15:20", ">Now<")):
        with time_machine.travel(at(TODAY, wall), tick=False):
            assert words in today(lilei).text, wall


def test_what_is_free_nearby_can_be_taken(lilei):
    free = today(lilei).context["free"]
    assert [(each.code, each.line) for each in free] == [
        ("A302", "Free now, until 21:00"),
        ("A305", "Free now, until 15:00"),
    ]
    assert free[0].url == f"{reverse('book')}?room=A302&start={TODAY}T10:00"


def test_a_gap_too_short_to_sit_down_is_not_offered(lilei):
    book("A302", TODAY, "10:15", "11:00", organizer=user("hanmei"))
    assert [each.code for each in today(lilei).context["free"]] == ["A305"]


def test_at_night_nothing_is_free_and_the_day_is_a_click_away(lilei):
    with time_machine.travel(at(TODAY, "23:00"), tick=False):
        response = today(lilei)
    assert response.context["free"] == []
    assert "No room at the moment." in response.text


def test_without_bookings_there_are_two_ways_to_the_first(client):
    client.force_login(user("admin"))
    html = today(client).text
    assert f"{reverse('assistant')}?new=1" in html
    assert f'href="{reverse("rooms")}"' in html


def test_nobodys_booking_but_mine_is_among_mine(lilei):
    Booking.objects.filter(organizer=user("lilei")).update(organizer=user("hanmei"))
    Profile.objects.filter(user=user("lilei")).update(building=None)
    assert today(lilei).context["first"] is None


def test_the_page_takes_a_fixed_number_of_queries(lilei, django_assert_num_queries):
    today(lilei)
    with django_assert_num_queries(10):
        today(lilei)
    Occurrence.objects.filter(booking__title="Stand-up").update(status="cancelled")
    with django_assert_num_queries(10):
        today(lilei)
