import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from booking import services
from booking.models import Booking, Source, Status, Visibility
from booking.tests.world import NOW, TODAY, TOMORROW, at, book, effect, user


def page(client, booking, **query):
    return client.get(reverse("booking", args=[booking.pk]), query)


def change(client, booking, **values):
    occurrence = booking.occurrence
    shown = {
        "room": occurrence.room.code,
        "date": TODAY,
        "starts": "15:00",
        "ends": "16:00",
        "headcount": booking.headcount,
        "title": booking.title,
        "version": booking.version,
    }
    address = reverse("change-booking", args=[booking.pk])
    return client.post(address, {**shown, **values})


def weekly():
    return Booking.objects.get(title="Weekly")


def where(booking):
    use = Booking.objects.get(pk=booking.pk).occurrence
    return use.room.code, use.starts_at, use.ends_at


def test_a_booking_says_what_when_and_where_it_is(lilei):
    html = page(lilei, weekly()).text
    for words in ("Weekly", "A305", "15:00", "16:00", "Asia/Shanghai", "李雷", "Booked"):
        assert words in html
    assert reverse("change-booking", args=[weekly().pk]) in html


def test_another_persons_public_booking_can_be_seen_but_not_touched(lilei):
    theirs = Booking.objects.get(title="Review")
    response = page(lilei, theirs)
    assert "Review" in response.text
    assert "韩梅" in response.text
    for name in ("change-booking", "cancel-booking"):
        assert reverse(name, args=[theirs.pk]) not in response.text
        assert lilei.get(reverse(name, args=[theirs.pk])).status_code == 404


def test_another_persons_private_booking_looks_like_none(lilei):
    theirs = Booking.objects.get(title="Secret budget")
    assert page(lilei, theirs).status_code == 404
    assert change(lilei, theirs).status_code == 404
    assert lilei.get(reverse("booking", args=[999_999])).status_code == 404


def test_what_is_over_offers_nothing_to_change(lilei):
    booking = weekly()
    booking.occurrences.update(status=Status.CANCELLED)
    html = page(lilei, booking).text
    assert "Cancelled" in html
    assert reverse("change-booking", args=[booking.pk]) not in html


def test_the_history_tells_who_did_what_through_which_door(lilei):
    booking = book("A302", TODAY, "11:00", "12:00", title="Talk")
    services.reschedule_booking(
        booking.pk, by=user("lilei"), room="A301", now=NOW, source=Source.API
    )
    services.amend_booking(booking.pk, by=user("lilei"), headcount=3, source=Source.PORTAL)
    services.cancel_booking(
        booking.pk, by=user("lilei"), now=NOW, reason="rain", source=Source.CHAT
    )
    events = page(lilei, booking).context["events"]
    assert [(each.action, each.door, each.by) for each in events] == [
        ("Cancelled", "Assistant", "李雷"),
        ("Details changed", "Portal", "李雷"),
        ("Moved", "API", "李雷"),
        ("Booked", "Portal", "李雷"),
    ]
    cancelled, amended, moved, booked = events
    assert cancelled.reason == "rain"
    assert amended.lines == ["People: 2 → 3"]
    assert moved.lines == ["A302 Mon 30 Nov 11:00–12:00 → A301 Mon 30 Nov 11:00–12:00"]
    assert booked.lines == ["A302 Mon 30 Nov 11:00–12:00 · Booked"]


def test_a_booking_of_the_assistant_leads_to_its_conversation(lilei):
    made = effect()
    booking = book("A302", TODAY, "11:00", "12:00", source=Source.CHAT, effect=made)
    html = page(lilei, booking).text
    assert reverse("assistant-thread", args=[made.thread_id]) in html
    assert reverse("admin:agentruntime_effect_change", args=[made.pk]) not in html


def test_who_may_look_behind_it_is_led_to_effect_and_checkpoint(client):
    made = effect()
    booking = book("A302", TODAY, "11:00", "12:00", source=Source.CHAT, effect=made)
    auditor = user("hanmei")
    auditor.is_staff = True
    auditor.save()
    client.force_login(auditor)
    assert "The conversation" not in page(client, booking).text
    auditor.user_permissions.add(Permission.objects.get(codename="view_effect"))
    response = page(client, booking)
    assert reverse("admin:agentruntime_effect_change", args=[made.pk]) in response.text
    assert response.context["origin"].checkpoint == made.checkpoint
    assert reverse("assistant-thread", args=[made.thread_id]) not in response.text


def test_each_date_of_a_series_has_its_page(lilei):
    series = Booking.objects.get(title="Stand-up")
    response = page(lilei, series)
    assert [str(each.recurrence_date) for each in response.context["dates"]] == [
        "2026-12-02",
        "2026-12-09",
        "2026-12-16",
        "2026-12-23",
    ]
    shown = page(lilei, series, date="2026-12-16").context["occurrence"]
    assert str(shown.recurrence_date) == "2026-12-16"


def test_a_booking_is_moved_and_amended_in_one_step(lilei):
    booking = weekly()
    response = change(
        lilei, booking, room="A302", starts="17:00", ends="18:30", headcount=5, is_private="on"
    )
    assert response["Location"] == reverse("booking", args=[booking.pk])
    assert where(booking) == ("A302", at(TODAY, "17:00"), at(TODAY, "18:30"))
    booking.refresh_from_db()
    assert (booking.headcount, booking.visibility) == (5, Visibility.PRIVATE)
    assert [each.action for each in booking.changes.all()] == ["amended", "moved"]


def test_a_change_that_changes_nothing_writes_nothing(lilei):
    booking = weekly()
    change(lilei, booking)
    assert Booking.objects.get(pk=booking.pk).version == booking.version
    assert not booking.changes.exists()


def test_a_clash_is_said_with_other_times_and_nothing_is_changed(lilei):
    booking = weekly()
    response = change(
        lilei,
        booking,
        starts="15:00",
        ends="16:00",
        headcount=9,
        title="Renamed",
        date=TOMORROW,
    )
    assert response.status_code == 409
    assert "A305 is taken at that time." in response.text
    assert next((each.room, each.when) for each in response.context["offers"]) == (
        "A305",
        "Tue 1 Dec 14:00–15:00",
    )
    assert where(booking) == ("A305", at(TODAY, "15:00"), at(TODAY, "16:00"))
    booking.refresh_from_db()
    assert (booking.title, booking.headcount) == ("Weekly", 4)


def test_an_offer_fills_the_form_it_came_from(lilei):
    offer = change(lilei, weekly(), date=TOMORROW).context["offers"][0]
    filled = lilei.get(offer.url).context["form"]
    values = {name: str(filled[name].value()) for name in ("room", "date", "starts", "ends")}
    assert values == {
        "room": "A305",
        "date": str(TOMORROW),
        "starts": "14:00:00",
        "ends": "15:00:00",
    }


def test_its_own_place_is_not_in_the_way_of_a_move(lilei):
    booking = weekly()
    change(lilei, booking, starts="15:30", ends="16:30")
    assert where(booking) == ("A305", at(TODAY, "15:30"), at(TODAY, "16:30"))


def test_a_booking_changed_meanwhile_is_not_changed_unseen(lilei):
    booking = weekly()
    Booking.objects.filter(pk=booking.pk).update(version=7)
    response = change(lilei, booking, starts="17:00", ends="18:00")
    assert response.status_code == 409
    assert "changed in the meantime" in response.text
    assert where(booking)[1] == at(TODAY, "15:00")


def test_one_date_of_a_series_is_moved_alone(lilei):
    series = Booking.objects.get(title="Stand-up")
    response = lilei.post(
        reverse("change-booking", args=[series.pk]) + "?date=2026-12-09",
        {
            "room": "A302",
            "date": "2026-12-10",
            "starts": "09:00",
            "ends": "09:30",
            "headcount": 5,
            "title": "Stand-up",
            "version": series.version,
        },
    )
    assert response["Location"].endswith("?date=2026-12-09")
    days = {str(each.recurrence_date): f"{each.starts_at:%d}" for each in series.occurrences.all()}
    assert days == {"2026-12-02": "02", "2026-12-09": "10", "2026-12-16": "16", "2026-12-23": "23"}


@pytest.mark.parametrize("name", ["booking", "change-booking"])
def test_a_page_of_a_booking_shows_dates_in_chinese(lilei, name):
    lilei.cookies["django_language"] = "zh-hans"
    html = lilei.get(reverse(name, args=[weekly().pk])).text
    assert "2026年11月30日" in html
