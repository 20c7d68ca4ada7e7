"""What calendar programs are given, read back by an independent parser and compared by instants."""

from datetime import UTC, date, datetime, time, timedelta
from smtplib import SMTPServerDisconnected
from zoneinfo import ZoneInfo

import pytest
import recurring_ical_events
from django.contrib.auth.models import Group, User
from django.core import mail as sent_mail
from django.urls import reverse
from django.utils import timezone
from icalendar import Calendar

from booking import services
from booking.calendar import feeds, messages
from booking.calendar.outbox import MAX_ATTEMPTS, send_outbox
from booking.models import (
    Blackout,
    Booking,
    CalendarFeed,
    Grant,
    Mail,
    Occurrence,
    OpeningHours,
    Policy,
    Profile,
    Room,
    Site,
)
from booking.tests import world
from booking.tests.weekly import change, series, week
from booking.tests.world import NOW, TODAY, TOMORROW, at, book, user

pytestmark = pytest.mark.django_db
BERLIN = ZoneInfo("Europe/Berlin")
YEARS = datetime(2026, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _world(db):
    world.build()
    User.objects.update(email="x@example.com")
    Profile.objects.update(language="en")


def parsed(content):
    """The file by the independent parser: (start, end, title) in UTC of everything in two years."""
    whole = Calendar.from_ical(content)
    found = recurring_ical_events.of(whole).between(*YEARS)
    return sorted(
        (each.DTSTART.astimezone(UTC), each.DTEND.astimezone(UTC), str(each["SUMMARY"]))
        for each in found
    )


def kept(*bookings, now=NOW):
    """The same of what the database says."""
    found = Occurrence.objects.blocking(now).filter(booking__in=[each.pk for each in bookings])
    return sorted(
        (each.starts_at, each.ends_at, each.booking.title or f"Room {each.room.code}")
        for each in found.select_related("booking", "room")
    )


def invitation(booking, *, now=NOW):
    loaded = Booking.objects.with_occurrences().select_related("series").get(pk=booking.pk)
    return messages.itip(loaded, booking.organizer, now=now)


def event(content):
    [found] = [each for each in Calendar.from_ical(content).events if "RECURRENCE-ID" not in each]
    return found


def cancel(booking, **more):
    values = {"by": booking.organizer, "now": NOW, "source": "portal", **more}
    return services.cancel_booking(booking.pk, **values)


def move(booking, **more):
    values = {"by": booking.organizer, "now": NOW, "source": "portal", **more}
    return services.reschedule_booking(booking.pk, **values)


def test_a_booking_is_an_invitation_with_its_instants():
    booking = book("A302", TOMORROW, "10:00", "11:00", title="Plan, with; signs")
    method, content = invitation(booking)
    assert method == "REQUEST"
    assert parsed(content) == kept(booking)
    found = event(content)
    assert (int(found["SEQUENCE"]), str(found["STATUS"])) == (0, "CONFIRMED")
    assert str(found["UID"]) == str(Booking.objects.get(pk=booking.pk).calendar_uid)
    assert "A302" in str(found["LOCATION"])
    assert str(found["ATTENDEE"]) == "mailto:x@example.com"
    assert b"BEGIN:VTIMEZONE" in content


def test_a_change_has_the_same_identity_and_a_higher_sequence():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    before = event(invitation(booking)[1])
    move(booking, starts_at=at(TOMORROW, "12:00"))
    method, content = invitation(booking)
    after = event(content)
    assert (method, str(after["UID"])) == ("REQUEST", str(before["UID"]))
    assert (int(before["SEQUENCE"]), int(after["SEQUENCE"])) == (0, 1)
    assert parsed(content) == kept(booking)


def test_a_cancellation_takes_the_event_back():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    cancel(booking)
    method, content = invitation(booking)
    found = event(content)
    assert method == "CANCEL"
    assert b"METHOD:CANCEL" in content
    assert (str(found["STATUS"]), int(found["SEQUENCE"])) == ("CANCELLED", 1)


def test_a_request_is_tentative_until_it_lapses():
    booking = book("A501", TOMORROW, "10:00", "11:00")
    assert str(event(invitation(booking)[1])["STATUS"]) == "TENTATIVE"
    assert invitation(booking, now=at(TOMORROW, "10:00"))[0] == "CANCEL"


RULES = {
    "count": "FREQ=WEEKLY;COUNT=5",
    "until": "FREQ=WEEKLY;UNTIL=20261231",
    "days": "FREQ=WEEKLY;BYDAY=MO,TH;COUNT=7",
    "monthly": "FREQ=MONTHLY;BYDAY=-1TH;COUNT=2",
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_series_is_one_rule_with_the_same_instants(rule):
    made = series(recurrence=rule)
    method, content = invitation(made)
    assert method == "REQUEST"
    assert len(Calendar.from_ical(content).events) == 1
    assert parsed(content) == kept(made)


def test_exceptions_and_moved_dates_are_where_the_database_says():
    book("B202", week(3), "10:30", "11:30")
    made = series(on_clash="skip", recurrence="FREQ=WEEKLY;COUNT=7")
    cancel(made, recurrence_date=week(1))
    move(made, starts_at=at(week(2), "16:00"), recurrence_date=week(2))
    move(made, room="A302", recurrence_date=week(4))
    move(made, starts_at=at(week(5) + timedelta(days=1), "09:00"), recurrence_date=week(5))
    content = invitation(made)[1]
    assert parsed(content) == kept(made)
    places = {
        each.DTSTART.date(): str(each["LOCATION"])
        for each in Calendar.from_ical(content).events
        if "RECURRENCE-ID" in each
    }
    assert "A302" in places[week(4)]
    left_out = {each.dt.date() for line in event(content)["EXDATE"] for each in line.dts}
    assert left_out == {week(1), week(3)}


def test_a_series_cut_in_two_is_two_identities_that_do_not_overlap():
    made = series()
    rest = change(made, scope="following", recurrence_date=week(2), start=time(15))
    first, second = invitation(made)[1], invitation(rest)[1]
    assert parsed(first) == kept(made)
    assert parsed(second) == kept(rest)
    assert event(first)["UID"] != event(second)["UID"]


def test_a_series_of_which_nothing_is_left_is_cancelled():
    made = series()
    cancel(made)
    assert invitation(made)[0] == "CANCEL"


@pytest.fixture
def berlin():
    Site.objects.update(time_zone="Europe/Berlin")
    OpeningHours.objects.all().delete()
    for weekday in range(1, 8):
        Policy.objects.get().opening_hours.create(weekday=weekday, opens=time(0), closes=time(0))


@pytest.mark.parametrize(
    ("first", "start"),
    [
        (date(2027, 3, 26), time(9)),
        (date(2027, 3, 26), time(2, 30)),
        (date(2027, 3, 28), time(2, 30)),
        (date(2027, 10, 29), time(2, 30)),
        (date(2027, 10, 29), time(23, 30)),
    ],
)
def test_calendars_agree_across_the_change_of_the_clocks(berlin, first, start):
    now = datetime.combine(first, time(0), BERLIN) - timedelta(days=6)
    made = series(first=first, start=start, recurrence="FREQ=DAILY;COUNT=5", now=now)
    content = invitation(made, now=now)[1]
    assert parsed(content) == kept(made, now=now)
    assert b"TZID:Europe/Berlin" in content


def feed_of(name):
    return services.issue_feed(user(name), now=NOW)


def test_a_feed_holds_a_persons_own_bookings():
    mine, own = book("A302", TOMORROW, "10:00", "11:00"), series()
    found = parsed(feeds.person_feed(user("lilei"), now=NOW))
    everything = Booking.objects.of(user("lilei"))
    assert found == kept(*everything)
    assert {each[0] for each in kept(mine, own)} <= {each[0] for each in found}


def test_a_room_feed_is_masked_as_its_reader_may_see():
    Blackout.objects.create(
        building=Room.objects.get(code="A301").floor.building,
        during=(at(TOMORROW, "10:00"), at(TOMORROW, "12:00")),
        reason="Power",
        created_by=user("admin"),
    )
    masked = feeds.room_feed("A301", viewer=user("hanmei"), now=NOW)
    assert [each[2] for each in parsed(masked)] == ["Busy", "Shut: Power"]
    assert b"Secret" not in masked
    assert "王芳".encode() not in masked
    own = feeds.room_feed("A301", viewer=user("wangfang"), now=NOW)
    assert "Secret budget" in next(each[2] for each in parsed(own))
    assert [each[:2] for each in parsed(own)] == [each[:2] for each in parsed(masked)]


def test_a_feed_is_read_without_signing_in_and_until_it_is_revoked(client):
    feed = feed_of("lilei")
    address = reverse("calendar-feed", args=[feed.token])
    response = client.get(address)
    assert response["Content-Type"] == "text/calendar; charset=utf-8"
    assert "private" in response["Cache-Control"]
    assert response["Referrer-Policy"] == "no-referrer"
    assert Calendar.from_ical(response.content)
    assert client.get(reverse("room-feed", args=[feed.token, "A302"])).status_code == 200
    assert client.get(reverse("room-feed", args=[feed.token, "Z9"])).status_code == 404
    assert client.post(address).status_code == 405
    newer = feed_of("lilei")
    assert client.get(address).status_code == 404
    services.revoke_feed(user("lilei"), now=NOW)
    assert client.get(reverse("calendar-feed", args=[newer.token])).status_code == 404
    assert client.get(reverse("calendar-feed", args=["guess"])).status_code == 404
    assert CalendarFeed.objects.filter(revoked_at__isnull=True).count() == 0


def test_a_person_who_left_has_no_feed(client):
    feed = feed_of("lilei")
    User.objects.filter(username="lilei").update(is_active=False)
    assert client.get(reverse("calendar-feed", args=[feed.token])).status_code == 404


def test_a_room_that_is_not_for_the_reader_has_no_feed():
    group = Group.objects.create(name="board")
    Grant.objects.create(policy=Policy.objects.get(), group=group, right="see")
    assert feeds.room_feed("A302", viewer=user("lilei"), now=NOW) is None


# The outbox


def later(**more):
    return timezone.now() + timedelta(seconds=1, **more)


def send():
    return send_outbox(now=later())


def test_a_booking_is_told_by_mail_in_the_persons_language():
    Profile.objects.filter(user=user("lilei")).update(language="zh-hans")
    book("A302", TOMORROW, "10:00", "11:00", title="规划")
    assert send() == 1
    [message] = sent_mail.outbox
    assert message.to == ["x@example.com"]
    assert "规划" in message.subject
    assert "已预订" in message.subject
    assert "2026-12-01 10:00-11:00 (Asia/Shanghai)" in message.body
    raw = message.message()
    [part] = [each for each in raw.walk() if each.get_content_type() == "text/calendar"]
    assert part.get_param("method") == "REQUEST"
    assert parsed(part.get_payload(decode=True)) == kept(Booking.objects.get(title="规划"))
    assert send() == 0


def test_only_the_newest_of_several_changes_is_told():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    move(booking, starts_at=at(TOMORROW, "12:00"))
    cancel(booking, reason="Ill")
    assert send() == 1
    [message] = sent_mail.outbox
    assert "Cancelled" in message.subject
    assert "Ill" in message.body
    statuses = Mail.objects.order_by("pk").values_list("status", flat=True)
    assert list(statuses) == ["superseded", "superseded", "sent"]


def test_who_decides_is_told_and_the_organizer_of_the_decision():
    group = Group.objects.create(name="approvers")
    Grant.objects.create(policy=Policy.objects.get(), group=group, right="approve")
    group.user_set.set([user("hanmei"), user("lilei")])
    booking = book("A501", TOMORROW, "10:00", "11:00", visibility="private", title="Merger")
    asked = Mail.objects.filter(purpose="request")
    assert [each.recipient for each in asked] == [user("hanmei")]
    assert send() == 2
    services.reject_booking(
        booking.pk, by=user("hanmei"), now=NOW, version=1, reason="Board meets", source="portal"
    )
    sent_mail.outbox.clear()
    assert send() == 1
    assert "Board meets" in sent_mail.outbox[0].body


def test_what_lapses_by_itself_is_told_too():
    Policy.objects.update(needs_check_in=True)
    book("A302", TODAY, "11:00", "12:00")
    services.release_no_shows(at(TODAY, "12:00"))
    assert send() == 1
    assert "nobody checked in" in sent_mail.outbox[0].subject


def test_people_without_an_address_get_no_mail_and_a_refusal_leaves_none():
    User.objects.update(email="")
    book("A302", TOMORROW, "10:00", "11:00")
    assert not Mail.objects.exists()


def test_an_error_is_tried_again_later_and_not_for_ever(monkeypatch):
    book("A302", TOMORROW, "10:00", "11:00")

    def fail(_message):
        raise SMTPServerDisconnected("gone")

    monkeypatch.setattr("django.core.mail.message.EmailMessage.send", fail)
    now = later()
    for attempt in range(1, MAX_ATTEMPTS + 1):
        assert send_outbox(now=now) == 0
        mail = Mail.objects.get()
        assert (mail.attempts, mail.error) == (attempt, "SMTPServerDisconnected: gone")
        assert send_outbox(now=now) == 0  # not due before its delay is over
        assert Mail.objects.get().attempts == attempt
        now = mail.due_at
    assert mail.status == Mail.Status.FAILED
    assert mail.due_at - later() > timedelta(hours=2)
    assert send_outbox(now=now + timedelta(days=9)) == 0


def test_after_an_error_it_is_sent(monkeypatch):
    book("A302", TOMORROW, "10:00", "11:00")
    with monkeypatch.context() as patch:
        patch.setattr(
            "django.core.mail.message.EmailMessage.send",
            lambda _message: (_ for _ in ()).throw(ConnectionRefusedError()),
        )
        send()
    assert send_outbox(now=later(minutes=2)) == 1
    assert Mail.objects.get().status == Mail.Status.SENT
    assert "Message-ID" in sent_mail.outbox[0].message()
