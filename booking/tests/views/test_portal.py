import json
import re

import pytest
import time_machine
from django.core.exceptions import PermissionDenied
from django.test import RequestFactory
from django.urls import reverse
from django.views import defaults

from agentruntime.models import Message, Thread
from booking.models import Booking, Occurrence, Profile, Room, Status
from booking.tests.world import TODAY, TOMORROW, at, book, user
from booking.wording import assistant_texts

pytestmark = pytest.mark.django_db


def thread(owner, words="", **more):
    number = Thread.objects.count()
    made = Thread.objects.create(
        id=f"booking-{owner.pk}-{number:036d}", agent="booking", owner=owner, **more
    )
    if words:
        Message.objects.create(thread=made, role="user", status="consumed", text=words)
    return made


def config_of(response):
    block = re.search(
        r'<script id="assistant-config"[^>]*>(.*?)</script>', response.text, re.DOTALL
    )
    return json.loads(block[1])


def titles(response):
    return [each.booking.title for each in response.context["page"]]


@pytest.mark.parametrize("name", ["assistant", "my-bookings", "today", "rooms", "book"])
def test_a_page_asks_for_a_sign_in_and_comes_back(client, name):
    response = client.get(reverse(name))
    assert response.status_code == 302
    assert response["Location"] == f"{reverse('login')}?next={reverse(name)}"


def test_the_root_leads_to_the_assistant(lilei):
    response = lilei.get("/", follow=True)
    assert response.redirect_chain == [(reverse("assistant"), 302)]
    assert response.status_code == 200


def test_no_page_has_inline_script_style_or_handlers(lilei):
    booking = Booking.objects.get(title="Weekly")
    pages = [
        reverse("assistant"),
        reverse("my-bookings"),
        reverse("today"),
        reverse("rooms"),
        reverse("room", args=["A305"]),
        reverse("book"),
        *(reverse(name, args=[booking.pk]) for name in ("booking", "change-booking")),
        reverse("cancel-booking", args=[booking.pk]),
        "/nothing/",
    ]
    for page in pages:
        html = lilei.get(page).text
        scripts = re.findall(r"<script(?![^>]*\bsrc=)([^>]*)>", html)
        assert all('type="application/json"' in each for each in scripts), page
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", html), page


def test_the_assistant_page_lists_my_threads_with_words_newest_first(lilei):
    mine = user("lilei")
    thread(mine, "first words", title="")
    thread(mine)
    thread(user("wangfang"), "not mine")
    thread(mine, "words", title="A title", status=Thread.Status.WAITING)
    shown = lilei.get(reverse("assistant")).context["threads"]
    assert [each.title or each.first_words for each in shown] == ["A title", "first words"]


def test_the_thread_list_ends_at_twenty(lilei):
    for number in range(22):
        thread(user("lilei"), f"words {number}")
    shown = lilei.get(reverse("assistant")).context["threads"]
    assert [each.first_words for each in shown] == [f"words {n}" for n in range(21, 1, -1)]


def test_words_of_a_person_are_text_not_markup(lilei):
    thread(user("lilei"), "</script><b>bold</b>")
    html = lilei.get(reverse("assistant")).text
    assert "<b>bold" not in html
    assert "&lt;b&gt;bold" in html


def test_a_thread_page_names_its_thread(lilei):
    mine = thread(user("lilei"), "words")
    response = lilei.get(reverse("assistant-thread", args=[mine.pk]))
    assert config_of(response)["thread"] == mine.pk
    assert 'aria-current="page"' in response.text.split("thread-list")[1]


def test_a_foreign_thread_looks_like_none(lilei):
    foreign = thread(user("wangfang"), "words")
    other_agent = thread(user("lilei"), "words")
    Thread.objects.filter(pk=other_agent.pk).update(agent="else")
    for name in (foreign.pk, other_agent.pk, "booking-1-absent", "x" * 500):
        assert lilei.get(reverse("assistant-thread", args=[name])).status_code == 404


@pytest.mark.parametrize(("language", "word"), [("en", "Send"), ("zh-hans", "发送")])
def test_the_page_and_its_scripts_speak_one_language(lilei, language, word):
    lilei.cookies["django_language"] = language
    response = lilei.get(reverse("assistant"))
    config = config_of(response)
    assert f'aria-label="{word}"' in response.text
    assert config["language"] == {"en": "en", "zh-hans": "zh-Hans"}[language]
    assert config["features"]["projector"] == {"en": "Projector", "zh-hans": "投影仪"}[language]
    assert set(config["texts"]) == set(assistant_texts())


def test_every_text_of_the_scripts_is_translated(lilei):
    texts = {}
    for language in ("en", "zh-hans"):
        lilei.cookies["django_language"] = language
        texts[language] = config_of(lilei.get(reverse("assistant")))["texts"]
    places = re.compile(r"\{\w+\}")
    for key, text in texts["en"].items():
        translated = texts["zh-hans"][key]
        assert translated != text, key
        assert sorted(places.findall(translated)) == sorted(places.findall(text)), key


def test_choosing_a_language_is_remembered_for_the_browser_and_the_person(lilei):
    response = lilei.post(
        reverse("choose-language"), {"language": "zh-hans", "next": reverse("my-bookings")}
    )
    assert response["Location"] == reverse("my-bookings")
    assert response.cookies["django_language"].value == "zh-hans"
    assert Profile.objects.get(user=user("lilei")).language == "zh-hans"
    assert "我的预订" in lilei.get(reverse("my-bookings")).text


def test_choosing_a_language_needs_no_sign_in_and_leads_nowhere_else(client):
    before = list(Profile.objects.order_by("pk").values_list("language"))
    response = client.post(
        reverse("choose-language"), {"language": "zh-hans", "next": "https://elsewhere.example/"}
    )
    assert "elsewhere" not in response["Location"]
    assert response.cookies["django_language"].value == "zh-hans"
    assert list(Profile.objects.order_by("pk").values_list("language")) == before


def test_a_language_that_is_not_ours_changes_nothing(lilei):
    before = Profile.objects.get(user=user("lilei")).language
    response = lilei.post(reverse("choose-language"), {"language": "tlh", "next": "/"})
    assert "django_language" not in response.cookies
    assert Profile.objects.get(user=user("lilei")).language == before


@pytest.mark.parametrize("own", ["", "en"])
def test_signing_in_brings_the_persons_language_to_a_browser_without_one(client, own):
    lilei = user("lilei")
    lilei.set_password("a long pass phrase")
    lilei.save()
    Profile.objects.update_or_create(user=lilei, defaults={"language": "zh-hans"})
    if own:
        client.cookies["django_language"] = own
    response = client.post(
        reverse("login"), {"username": "lilei", "password": "a long pass phrase"}
    )
    assert response["Location"] == reverse("assistant")
    assert client.cookies["django_language"].value == (own or "zh-hans")


def test_my_bookings_to_come_are_mine_active_and_in_order(lilei):
    cancelled = book("A302", TOMORROW, "10:00", "11:00", title="Cancelled")
    cancelled.occurrences.update(status=Status.CANCELLED)
    response = lilei.get(reverse("my-bookings"))
    assert titles(response) == ["Weekly", "Demo", "Stand-up", "Stand-up", "Stand-up", "Stand-up"]


def test_a_booking_under_way_is_still_to_come(lilei):
    with time_machine.travel(at(TODAY, "15:30"), tick=False):
        assert titles(lilei.get(reverse("my-bookings")))[0] == "Weekly"
        assert titles(lilei.get(reverse("my-bookings"), {"show": "past"})) == []
    with time_machine.travel(at(TODAY, "16:00"), tick=False):
        assert titles(lilei.get(reverse("my-bookings")))[0] == "Demo"
        assert titles(lilei.get(reverse("my-bookings"), {"show": "past"})) == ["Weekly"]


def test_past_and_cancelled_bookings_are_paged_latest_first(lilei):
    mine = Booking.objects.get(title="Weekly")
    room = Room.objects.get(code="A302")
    for day in range(1, 23):
        start = at(TODAY, "08:00").replace(month=10, day=day)
        during = (start, start.replace(hour=9))
        Occurrence.objects.create(
            booking=mine,
            room=room,
            during=during,
            blocked=during,
            status=Status.BOOKED,
            recurrence_date=start.date(),
        )
    Occurrence.objects.filter(booking__title="Demo").update(status=Status.CANCELLED)
    first = lilei.get(reverse("my-bookings"), {"show": "past"})
    last = lilei.get(reverse("my-bookings"), {"show": "past", "page": "2"})
    beyond = lilei.get(reverse("my-bookings"), {"show": "past", "page": "nonsense"})
    assert titles(first)[:2] == ["Demo", "Weekly"]
    assert len(titles(first)) == 20
    assert [each.starts_at.day for each in last.context["page"]] == [3, 2, 1]
    assert titles(beyond) == titles(first)
    assert "show=past&amp;page=2" in first.text


def test_times_are_of_the_rooms_zone_which_is_named(lilei, settings):
    settings.TIME_ZONE = "America/New_York"
    html = lilei.get(reverse("my-bookings")).text
    assert re.search(r"15:00</time>–<time[^>]*>16:00</time> <span[^>]*>Asia/Shanghai", html)


def test_my_bookings_take_a_fixed_number_of_queries(lilei, django_assert_num_queries):
    lilei.get(reverse("my-bookings"))
    with django_assert_num_queries(7):
        lilei.get(reverse("my-bookings"))


def test_without_bookings_there_is_a_way_to_the_first(client):
    client.force_login(user("admin"))
    html = client.get(reverse("my-bookings")).text
    assert "no bookings to come" in html
    assert f"{reverse('assistant')}?new=1" in html


def test_cancelling_asks_first_and_then_frees_the_room(lilei):
    booking = Booking.objects.get(title="Weekly")
    address = reverse("cancel-booking", args=[booking.pk])
    asked = lilei.get(address)
    assert "A305" in asked.text
    assert booking.occurrences.get().status == Status.BOOKED
    done = lilei.post(address, {"version": booking.version, "reason": "moved online"}, follow=True)
    assert done.redirect_chain == [(f"{reverse('my-bookings')}?cancelled={booking.pk}", 302)]
    assert "The booking is cancelled" in done.text
    assert reverse("restore-booking", args=[booking.pk]) in done.text
    assert booking.occurrences.get().status == Status.CANCELLED
    assert booking.changes.last().reason == "moved online"


def test_cancelling_twice_says_so_and_changes_nothing(lilei):
    booking = Booking.objects.get(title="Weekly")
    address = reverse("cancel-booking", args=[booking.pk])
    lilei.post(address, {"version": booking.version})
    booking.refresh_from_db()
    again = lilei.post(address, {"version": booking.version}, follow=True)
    assert "no longer active" in again.text
    assert booking.changes.filter(action="cancelled").count() == 1


def test_a_booking_changed_meanwhile_is_not_cancelled_unseen(lilei):
    booking = Booking.objects.get(title="Weekly")
    Booking.objects.filter(pk=booking.pk).update(version=7)
    done = lilei.post(
        reverse("cancel-booking", args=[booking.pk]), {"version": booking.version}, follow=True
    )
    assert "changed in the meantime" in done.text
    assert booking.occurrences.get().status == Status.BOOKED


def test_an_incomplete_form_is_shown_again(lilei):
    booking = Booking.objects.get(title="Weekly")
    response = lilei.post(
        reverse("cancel-booking", args=[booking.pk]), {"version": 1, "reason": "x" * 201}
    )
    assert response.status_code == 200
    assert "field-error" in response.text
    assert booking.occurrences.get().status == Status.BOOKED


def test_one_date_of_a_series_is_cancelled_alone(lilei):
    series = Booking.objects.get(title="Stand-up")
    address = f"{reverse('cancel-booking', args=[series.pk])}?date=2026-12-09"
    assert "Only this date" in lilei.get(address).text
    lilei.post(address, {"version": series.version})
    found = series.occurrences.filter(status=Status.CANCELLED)
    assert [str(each.recurrence_date) for each in found] == ["2026-12-09"]


@pytest.mark.parametrize("date", ["", "2026-12-10", "soon"])
def test_a_series_needs_one_of_its_dates(lilei, date):
    series = Booking.objects.get(title="Stand-up")
    address = f"{reverse('cancel-booking', args=[series.pk])}?date={date}"
    assert lilei.get(address).status_code == 404
    assert lilei.post(address, {"version": series.version}).status_code == 404


def test_a_foreign_booking_looks_like_none(lilei):
    foreign = Booking.objects.get(title="Review")
    address = reverse("cancel-booking", args=[foreign.pk])
    assert lilei.get(address).status_code == 404
    assert lilei.post(address, {"version": foreign.version}).status_code == 404
    assert foreign.occurrences.get().status == Status.BOOKED


def test_cancelling_is_guarded_against_foreign_forms(lilei):
    lilei.handler.enforce_csrf_checks = True
    booking = Booking.objects.get(title="Weekly")
    response = lilei.post(
        reverse("cancel-booking", args=[booking.pk]), {"version": booking.version}
    )
    assert response.status_code == 403
    assert "open for too long" in response.text
    assert booking.occurrences.get().status == Status.BOOKED


def test_the_error_pages_are_ours(lilei):
    request = RequestFactory().get("/")
    request.user = user("lilei")
    assert "There is nothing here" in lilei.get("/nothing/").text
    assert "You may not do this" in defaults.permission_denied(request, PermissionDenied()).text
    assert "Something went wrong" in defaults.server_error(request).text


def test_only_staff_sees_the_way_to_the_admin(client):
    for name, seen in (("lilei", False), ("admin", True)):
        client.force_login(user(name))
        html = client.get(reverse("my-bookings")).text
        assert (f'href="{reverse("admin:index")}"' in html) is seen
