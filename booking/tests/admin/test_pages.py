from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from booking.models import (
    Blackout,
    Booking,
    BookingChange,
    CalendarFeed,
    Feature,
    Mail,
    Occurrence,
    Room,
    Site,
)
from booking.tests import world
from booking.tests.admin.pages import ADD, LIST, errors, form, page_of
from booking.tests.world import NOW, TOMORROW, WEDNESDAY, book, user


@pytest.mark.parametrize(
    "model",
    [
        "site",
        "specialdate",
        "building",
        "floor",
        "feature",
        "policy",
        "room",
        "profile",
        "booking",
        "occurrence",
    ],
)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_list_can_be_searched_and_opened(client, model, language):
    client.cookies["django_language"] = language
    changelist = reverse(f"admin:booking_{model}_changelist")
    found = client.get(changelist, {"q": "3"})
    assert found.status_code == 200
    rows = client.get(changelist).context["cl"].result_list
    assert rows
    change = reverse(f"admin:booking_{model}_change", args=[rows[0].pk])
    assert client.get(change).status_code == 200


def test_a_person_shows_the_profile(client):
    response = client.get(reverse("admin:auth_user_change", args=[user("lilei").pk]))
    assert "profile-0-building" in response.content.decode()


def test_rooms_are_found_by_alias(client):
    response = client.get(reverse("admin:booking_room_changelist"), {"q": "大礼堂"})
    assert [room.code for room in response.context["cl"].result_list] == ["B801"]


def test_bookings_are_found_by_room_and_filtered_once_each(client):
    response = client.get(LIST, {"q": "A302"})
    assert [each.title for each in response.context["cl"].result_list] == ["Stand-up"]
    response = client.get(LIST, {"occurrences__status__exact": "booked"})
    titles = [each.title for each in response.context["cl"].result_list]
    assert sorted(titles) == sorted(set(titles))
    year = client.get(LIST, {"occurrences__starts_at__year": "2026"})
    assert len(year.context["cl"].result_list) == 6


def test_the_list_takes_no_query_per_row(client, django_assert_max_num_queries):
    for starts, ends in (("08:00", "08:30"), ("08:30", "09:00"), ("09:00", "09:30")):
        book("B202", TOMORROW, starts, ends)
    with django_assert_max_num_queries(18):
        client.get(LIST)


def test_a_booking_is_made_through_the_service(client):
    response = client.post(ADD, form())
    booking = Booking.objects.get(idempotency_key="key-1")
    assert response.status_code == 302
    assert (booking.source, booking.organizer, booking.room.code) == (
        "admin",
        user("lilei"),
        "A302",
    )
    assert BookingChange.objects.get(booking=booking).action == "booked"


def test_the_form_sent_twice_makes_one_booking(client):
    client.post(ADD, form())
    assert client.post(ADD, form()).status_code == 302
    assert Booking.objects.filter(title="Plan").count() == 1


@pytest.mark.parametrize(
    ("values", "field", "says"),
    [
        ({"room": "B201", "starts": "14:00", "ends": "15:00"}, "room", "is taken"),
        ({"starts": "22:00", "ends": "23:00"}, "starts_at", "are open 08:00-21:00"),
        ({"starts": "10:05"}, "starts_at", "multiples of 15"),
        ({"headcount": 7}, "headcount", "seats 6"),
        ({"headcount": 0}, "headcount", "greater than or equal to 1"),
        ({"title": "x" * 201}, "title", "at most 200"),
        ({"ends": "nonsense"}, "ends_at", "valid time"),
    ],
)
def test_what_cannot_be_booked_is_said_at_its_field(client, values, field, says):
    room = values.pop("room", "A302")
    before = Booking.objects.count()
    found = errors(client.post(ADD, form(room=room, **values)))
    assert says in found[field][0]
    assert Booking.objects.count() == before


def test_a_booking_is_moved_and_amended_through_the_services(client):
    booking = book("A302", TOMORROW, "10:00", "11:00", headcount=4)
    response = client.post(page_of(booking), form(starts="12:00", ends="13:00", seen_version=1))
    assert response.status_code == 302
    moved = Booking.objects.get(pk=booking.pk)
    assert (moved.title, moved.occurrence.starts_at) == ("Plan", world.at(TOMORROW, "12:00"))
    actions = list(
        BookingChange.objects.filter(booking=booking).values_list("action", "by__username")
    )
    assert actions == [("booked", "lilei"), ("amended", "admin"), ("moved", "admin")]
    page = client.get(page_of(booking)).content.decode()
    assert "A302, 2026-12-01 12:00-13:00, Booked" in page
    assert "Plan, Public, 4" in page


def test_saving_an_unchanged_form_changes_nothing(client):
    booking = book("A302", TOMORROW, "10:00", "11:00", headcount=4, title="Plan")
    assert client.post(page_of(booking), form(seen_version=1)).status_code == 302
    assert Booking.objects.get(pk=booking.pk).version == 1


def test_a_move_onto_another_booking_is_refused_at_the_room(client):
    book("A302", TOMORROW, "12:00", "13:00", organizer=user("hanmei"))
    booking = book("A302", TOMORROW, "10:00", "11:00")
    found = errors(
        client.post(page_of(booking), form(starts="12:30", ends="13:30", seen_version=1))
    )
    assert found == {"room": ["A302 is taken at that time."]}
    assert Booking.objects.get(pk=booking.pk).version == 1


def test_a_change_made_meanwhile_is_not_overwritten(client):
    booking = book("A302", TOMORROW, "10:00", "11:00")
    client.post(page_of(booking), form(title="First", seen_version=1))
    found = errors(client.post(page_of(booking), form(title="Second", seen_version=1)))
    assert found == {"__all__": ["The booking was changed in the meantime."]}
    assert Booking.objects.get(pk=booking.pk).title == "First"


def test_a_race_lost_between_check_and_write_is_told_not_a_crash(client, monkeypatch):
    from booking.admin.forms import BookingForm

    checked = BookingForm.clean

    def lose(self):
        cleaned = checked(self)
        book("A302", TOMORROW, "10:00", "11:00", organizer=user("hanmei"))
        return cleaned

    monkeypatch.setattr(BookingForm, "clean", lose)
    response = client.post(ADD, form(), follow=True)
    assert "A302 is taken at that time." in response.content.decode()
    assert not Booking.objects.filter(title="Plan").exists()


def test_bookings_are_not_deleted(client):
    booking = book("A302", TOMORROW, "10:00", "11:00")
    url = reverse("admin:booking_booking_delete", args=[booking.pk])
    assert client.post(url, {"post": "yes"}).status_code == 403
    assert "delete_selected" not in client.get(LIST).content.decode()
    assert Booking.objects.filter(pk=booking.pk).exists()


def test_cancelling_asks_first_then_says_what_it_did(client):
    booking = book("A302", TOMORROW, "10:00", "11:00", title="Plan")
    chosen = {"action": "cancel_selected", "_selected_action": [booking.pk]}
    asked = client.post(LIST, chosen)
    assert f"#{booking.pk}: A302 Bamboo, 2026-12-01 10:00-11:00" in asked.content.decode()
    assert Booking.objects.get(pk=booking.pk).status == "booked"
    chosen |= {"confirmed": "yes", "reason": "Broken pipe"}
    done = client.post(LIST, chosen, follow=True)
    assert "1 was cancelled." in done.content.decode()
    change = BookingChange.objects.get(booking=booking, action="cancelled")
    assert (change.reason, change.by.username, change.source) == ("Broken pipe", "admin", "admin")
    again = client.post(LIST, chosen, follow=True)
    assert "no longer active" in again.content.decode()


def test_rooms_are_shut_once_what_that_hits_is_settled(client):
    booking = book("A302", TOMORROW, "10:00", "11:00")
    url = reverse("admin:booking_blackout_add")
    values = {
        "room": Room.objects.get(code="A302").pk,
        "starts_at_0": TOMORROW.isoformat(),
        "starts_at_1": "09:00",
        "ends_at_0": TOMORROW.isoformat(),
        "ends_at_1": "12:00",
        "reason": "Repainting",
    }
    assert client.get(url).status_code == 200
    asked = client.post(url, values).content.decode()
    assert "A302 2026-12-01 10:00-11:00" in asked
    assert 'value="move:A301"' in asked
    assert not Blackout.objects.exists()
    chosen = {**values, f"settle-{booking.occurrence.pk}": "move:A301"}
    assert client.post(url, chosen).status_code == 302
    assert Booking.objects.get(pk=booking.pk).room.code == "A301"
    blackout = Blackout.objects.get()
    listed = reverse("admin:booking_blackout_changelist")
    assert "Repainting" in client.get(listed).content.decode()
    client.post(listed, {"action": "lift_selected", "_selected_action": [blackout.pk]})
    blackout.refresh_from_db()
    assert blackout.lifted_at == NOW


def test_the_outbox_is_tried_again_and_a_feed_revoked(client):
    User.objects.update(email="x@example.com")
    book("A302", TOMORROW, "10:00", "11:00")
    Mail.objects.update(status="failed", attempts=8, error="gone")
    mail = Mail.objects.get()
    url = reverse("admin:booking_mail_changelist")
    client.post(url, {"action": "send_again", "_selected_action": [mail.pk]})
    mail.refresh_from_db()
    assert (mail.status, mail.attempts) == ("waiting", 0)
    feed = CalendarFeed.objects.create(person=user("lilei"))
    url = reverse("admin:booking_calendarfeed_changelist")
    page = client.get(reverse("admin:booking_calendarfeed_change", args=[feed.pk]))
    assert feed.token not in page.content.decode() + client.get(url).content.decode()
    client.post(url, {"action": "revoke_selected", "_selected_action": [feed.pk]})
    feed.refresh_from_db()
    assert feed.revoked_at == NOW


def test_a_blackout_that_makes_no_sense_is_said_in_words(client):
    url = reverse("admin:booking_blackout_add")
    asked = client.post(
        url, {"reason": "x", "starts_at_0": "soon", "starts_at_1": "9:00"}
    ).content.decode()
    assert "one site, building or room" in asked
    assert "Enter a valid date" in asked


def test_a_series_shows_its_rule_and_the_dates_it_skipped(client):
    series = Booking.objects.get(recurrence__gt="")
    series.exceptions.create(date=TOMORROW, rule="taken")
    page = client.get(page_of(series)).content.decode()
    assert "FREQ=WEEKLY;BYDAY=WE;COUNT=4" in page
    assert "Skipped dates" in page


def test_a_request_is_approved_or_rejected_as_it_was_shown(client):
    booking = book("A501", TOMORROW, "10:00", "11:00")
    chosen = {"action": "approve_selected", "_selected_action": [booking.pk]}
    asked = client.post(LIST, chosen).content.decode()
    assert f'name="version-{booking.pk}" value="1"' in asked
    assert booking.changes.count() == 1
    stale = {**chosen, "confirmed": "yes", f"version-{booking.pk}": "7"}
    assert "changed in the meantime" in client.post(LIST, stale, follow=True).content.decode()
    done = client.post(LIST, {**stale, f"version-{booking.pk}": "1"}, follow=True)
    assert "1 was approved." in done.content.decode()
    assert Booking.objects.get(pk=booking.pk).status == "booked"
    again = client.post(LIST, {**stale, "action": "reject_selected"})
    assert "required" in again.content.decode()  # a rejection asks until it has a reason
    said = client.post(LIST, {**stale, "action": "reject_selected", "reason": "Full"}, follow=True)
    assert "does not wait any more" in said.content.decode()


def test_who_may_not_decide_is_not_offered_to(client):
    clerk = User.objects.create(username="clerk", is_staff=True)
    clerk.user_permissions.set(Permission.objects.filter(codename="change_booking"))
    clerk.user_permissions.add(Permission.objects.get(codename="view_booking"))
    client.force_login(clerk)
    page = client.get(LIST).content.decode()
    assert "cancel_selected" in page
    assert "approve_selected" not in page


def test_one_date_of_a_series_is_cancelled_from_the_occurrences(client):
    day = WEDNESDAY + timedelta(weeks=1)
    occurrence = Occurrence.objects.get(recurrence_date=day)
    client.post(
        reverse("admin:booking_occurrence_changelist"),
        {"action": "cancel_selected", "_selected_action": [occurrence.pk], "confirmed": "yes"},
    )
    cancelled = Occurrence.objects.filter(status="cancelled")
    assert [each.recurrence_date for each in cancelled] == [day]
    assert client.get(reverse("admin:booking_occurrence_add")).status_code == 403


def test_who_may_only_look_changes_nothing(client):
    clerk = User.objects.create(username="clerk", is_staff=True)
    clerk.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client.force_login(clerk)
    booking = book("A302", TOMORROW, "10:00", "11:00")
    assert client.get(page_of(booking)).status_code == 200
    assert client.post(page_of(booking), form(title="Mine", seen_version=1)).status_code == 403
    client.post(
        LIST, {"action": "cancel_selected", "_selected_action": [booking.pk], "confirmed": "yes"}
    )
    assert Booking.objects.get(pk=booking.pk).status == "booked"


def test_a_private_booking_is_a_busy_room_to_staff_without_the_permission(client):
    clerk = User.objects.create(username="clerk", is_staff=True)
    names = ["view_booking", "change_booking", "view_occurrence", "view_room", "add_blackout"]
    clerk.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(clerk)
    secret = Booking.objects.get(visibility="private")
    occurrences = reverse("admin:booking_occurrence_changelist")
    occurrence = reverse("admin:booking_occurrence_change", args=[secret.occurrence.pk])
    shut = {
        "building": secret.room.floor.building_id,
        "starts_at_0": secret.starts_at.date().isoformat(),
        "starts_at_1": "11:00",
        "ends_at_0": secret.starts_at.date().isoformat(),
        "ends_at_1": "18:00",
        "reason": "x",
    }
    pages = [
        client.get(LIST),
        client.get(LIST, {"q": "Secret"}),
        client.get(page_of(secret), follow=True),
        client.get(occurrences),
        client.get(occurrences, {"q": "Secret"}),
        client.get(occurrence),
        client.post(LIST, {"action": "cancel_selected", "_selected_action": [secret.pk]}),
        client.post(reverse("admin:booking_blackout_add"), shut),
        client.get(reverse("admin:booking_booking_history", args=[secret.pk]), follow=True),
    ]
    for page in pages:
        text = page.content.decode()
        assert page.status_code == 200
        assert "Secret budget" not in text
        assert "wangfang" not in text
        assert "王芳" not in text
    for found in (LIST, occurrences):
        assert not client.get(found, {"q": "Secret"}).context["cl"].result_list
    clerk.user_permissions.add(Permission.objects.get(codename="view_private_booking"))
    assert "Secret budget" in client.get(LIST).content.decode()
    assert "Secret budget" in client.get(page_of(secret)).content.decode()


def test_rules_that_make_no_sense_are_said_in_words(client):
    policy = Room.objects.first().policy
    values = {
        "name": "Odd",
        "min_minutes": 60,
        "max_minutes": 30,
        "grid_minutes": 7,
        "horizon_days": 9,
        "grace_minutes": 0,
        "buffer_before_minutes": 0,
        "buffer_after_minutes": 0,
        "opening_hours-TOTAL_FORMS": 0,
        "opening_hours-INITIAL_FORMS": 0,
    }
    url = reverse("admin:booking_policy_change", args=[policy.pk])
    found = errors(client.post(url, values))
    assert len(found["__all__"]) == 2
    url = reverse("admin:booking_site_change", args=[Site.objects.first().pk])
    values = {
        "name_en": "x",
        "name_zh": "x",
        "time_zone": "Mars/Olympus",
        "special_dates-TOTAL_FORMS": 0,
        "special_dates-INITIAL_FORMS": 0,
    }
    assert "no IANA time zone" in errors(client.post(url, values))["time_zone"][0]


def test_a_room_in_use_is_not_deleted(client):
    url = reverse("admin:booking_room_delete", args=[Room.objects.get(code="A302").pk])
    assert client.post(url, {"post": "yes"}).status_code == 200
    assert Room.objects.filter(code="A302").exists()
    assert Feature.objects.exists()


def test_a_booking_by_chat_names_the_effect_it_came_from(client):
    effect = world.effect()
    booking = book("A302", TOMORROW, "10:00", "11:00", source="chat", effect=effect)
    page = client.get(page_of(booking)).content.decode()
    assert str(effect) in page
    assert list(effect.bookings.all()) == [booking]


def test_a_series_is_listed_with_the_number_of_its_dates(client):
    assert "2026-12-02 09:00-09:30 and 3 more" in client.get(LIST).content.decode()
