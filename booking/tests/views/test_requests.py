import pytest
import time_machine
from django.contrib.auth.models import Group
from django.urls import reverse

from booking.models import Booking, Grant, Policy, Status
from booking.tests.world import NOW, TODAY, TOMORROW, at, book, user


@pytest.fixture
def approver(client):
    """hanmei, who decides on requests for every room."""
    group = Group.objects.create(name="Approvers")
    group.user_set.add(user("hanmei"))
    Grant.objects.bulk_create(
        Grant(policy=policy, group=group, right=Grant.Right.APPROVE)
        for policy in Policy.objects.all()
    )
    client.force_login(user("hanmei"))
    return client


def asked(**more):
    return book("A501", TOMORROW, "10:00", "11:00", title="Town hall", **more)


def decide(client, booking, decision, **more):
    values = {"decision": decision, "version": booking.version, "reason": "", **more}
    return client.post(reverse("decide", args=[booking.pk]), values, follow=True)


def status_of(booking):
    return Booking.objects.get(pk=booking.pk).status


def test_what_waits_for_me_is_listed_with_who_asks_and_for_how_long(approver):
    booking = asked()
    html = approver.get(reverse("approvals")).text
    for words in ("Town hall", "李雷", "10:00", "A501", "waits until"):
        assert words in html
    assert reverse("decide", args=[booking.pk]) in html


def test_the_way_there_is_shown_to_those_who_decide(approver):
    assert f'href="{reverse("approvals")}"' in approver.get(reverse("today")).text
    approver.force_login(user("lilei"))
    assert f'href="{reverse("approvals")}"' not in approver.get(reverse("today")).text


def test_a_private_request_is_shown_to_who_decides_on_it(approver):
    booking = asked(visibility="private")
    assert "Town hall" in approver.get(reverse("approvals")).text
    assert "Town hall" in approver.get(reverse("booking", args=[booking.pk])).text


def test_a_request_is_approved(approver):
    booking = asked()
    done = decide(approver, booking, "approve")
    assert "The request is approved." in done.text
    assert status_of(booking) == Status.BOOKED
    assert booking.changes.last().by == user("hanmei")


def test_a_rejection_says_why(approver):
    booking = asked()
    assert "Say why you reject it." in decide(approver, booking, "reject").text
    assert status_of(booking) == Status.PENDING
    decide(approver, booking, "reject", reason="The hall is being painted")
    assert status_of(booking) == Status.REJECTED
    assert booking.changes.last().reason == "The hall is being painted"


@pytest.mark.parametrize(
    "values", [{"decision": "maybe"}, {"version": "x"}, {"version": ""}, {"reason": "x" * 201}]
)
def test_an_answer_that_cannot_be_read_decides_nothing(approver, values):
    booking = asked()
    done = decide(approver, booking, **{"decision": "approve", **values})
    assert 'class="message-note error"' in done.text
    assert status_of(booking) == Status.PENDING


def test_a_request_changed_meanwhile_is_not_decided_unseen(approver):
    booking = asked()
    Booking.objects.filter(pk=booking.pk).update(version=5)
    assert "changed in the meantime" in decide(approver, booking, "approve").text
    assert status_of(booking) == Status.PENDING


def test_two_decisions_are_one(approver):
    booking = asked()
    decide(approver, booking, "approve")
    again = decide(approver, booking, "reject", reason="too late")
    assert "does not wait any more" in again.text
    assert status_of(booking) == Status.BOOKED


def test_nobody_else_decides(lilei):
    booking = asked(organizer=user("wangfang"))
    assert "No request waits for you." in lilei.get(reverse("approvals")).text
    decide(lilei, booking, "approve")
    assert status_of(booking) == Status.PENDING


def test_nobody_decides_on_their_own(approver):
    booking = asked(organizer=user("hanmei"))
    assert "No request waits for you." in approver.get(reverse("approvals")).text
    decide(approver, booking, "approve")
    assert status_of(booking) == Status.PENDING


def test_a_request_that_ran_out_is_expired_before_any_chore_says_so(approver):
    booking = asked()
    with time_machine.travel(at(TOMORROW, "10:30"), tick=False):
        assert "No request waits for you." in approver.get(reverse("approvals")).text
        html = approver.get(reverse("booking", args=[booking.pk])).text
    assert 'data-status="expired"' in html


def check_in(client, booking, **more):
    return client.post(reverse("check-in", args=[booking.pk]), more, follow=True)


def weekly():
    return Booking.objects.get(title="Weekly")


def test_who_is_there_says_so_from_the_day_or_the_booking(lilei):
    with time_machine.travel(at(TODAY, "14:55"), tick=False):
        assert reverse("check-in", args=[weekly().pk]) in lilei.get(reverse("today")).text
        done = check_in(lilei, weekly(), **{"from": "today"})
    assert done.redirect_chain == [(reverse("today"), 302)]
    assert "You are checked in." in done.text
    assert weekly().status == Status.CHECKED_IN


def test_too_early_is_told_and_offers_no_button(lilei):
    assert reverse("check-in", args=[weekly().pk]) not in lilei.get(reverse("today")).text
    done = check_in(lilei, weekly())
    assert "You can check in from" in done.text
    assert weekly().status == Status.BOOKED


def test_a_room_nobody_came_to_is_released_at_once(lilei):
    Policy.objects.update(needs_check_in=True)
    booking = book("A302", TODAY, "11:00", "12:00", title="Nobody")
    with time_machine.travel(at(TODAY, "11:30"), tick=False):
        grid = lilei.get(reverse("rooms"), {"date": TODAY})
        [row] = [each for each in grid.context["rows"] if each.room.facts.code == "A302"]
        assert [piece.kind for piece in row.pieces if piece.kind != "off"] == ["free"]
        assert 'data-status="released"' in lilei.get(reverse("booking", args=[booking.pk])).text
        titles = [each.booking.title for each in lilei.get("/bookings/").context["page"]]
        past = [each.booking.title for each in lilei.get("/bookings/?show=past").context["page"]]
        assert "released" in check_in(lilei, booking).text
    assert "Nobody" not in titles
    assert "Nobody" in past


def test_until_when_to_check_in_is_said(lilei):
    Policy.objects.update(needs_check_in=True)
    booking = book("A302", TODAY, "11:00", "12:00")
    assert "or the room is released" in lilei.get(reverse("booking", args=[booking.pk])).text


def test_another_persons_room_is_not_mine_to_check_in(lilei):
    theirs = Booking.objects.get(title="Review")
    assert lilei.post(reverse("check-in", args=[theirs.pk])).status_code == 404


def restore(client, booking):
    return client.post(reverse("restore-booking", args=[booking.pk]), follow=True)


def cancel(client, booking):
    return client.post(
        reverse("cancel-booking", args=[booking.pk]), {"version": booking.version}, follow=True
    )


def test_a_cancellation_is_taken_back(lilei):
    booking = weekly()
    assert reverse("restore-booking", args=[booking.pk]) in cancel(lilei, booking).text
    done = restore(lilei, booking)
    assert "Undone" in done.text
    assert status_of(booking) == Status.BOOKED


def test_what_somebody_else_has_by_now_stays_cancelled(lilei):
    booking = weekly()
    cancel(lilei, booking)
    book("A305", TODAY, "15:30", "16:30", organizer=user("hanmei"))
    assert "A305 is taken at that time." in restore(lilei, booking).text
    assert status_of(booking) == Status.CANCELLED


def test_nobody_takes_back_what_is_not_theirs(lilei):
    theirs = Booking.objects.get(title="Review")
    theirs.occurrences.update(status=Status.CANCELLED)
    assert lilei.post(reverse("restore-booking", args=[theirs.pk])).status_code == 404


@pytest.mark.parametrize("key", ["", "x", "999999", "²", "9" * 40])
def test_undo_is_offered_for_nothing_else(lilei, key):
    response = lilei.get(reverse("my-bookings"), {"cancelled": key})
    assert response.status_code == 200
    assert response.context["undo"] is None


@pytest.mark.parametrize("name", ["check-in", "restore-booking", "decide"])
def test_acts_are_posted_and_guarded(lilei, name):
    booking = weekly()
    address = reverse(name, args=[booking.pk])
    assert lilei.get(address).status_code == 405
    lilei.handler.enforce_csrf_checks = True
    assert lilei.post(address).status_code == 403
    lilei.logout()
    lilei.handler.enforce_csrf_checks = False
    assert lilei.post(address).url.startswith(reverse("login"))
    assert booking.starts_at > NOW
