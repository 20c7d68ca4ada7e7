"""Who may see, book, request, override; and what a person may have at most."""

from datetime import date, timedelta

import pytest
from django.contrib.auth.models import Group

from booking import selectors
from booking.exceptions import PolicyViolation, RoomNotFound, RoomUnavailable
from booking.models import Booking, Grant, Policy, Quota, QuotaCounter, Room, Status
from booking.services import cancel_booking, reschedule_booking
from booking.tests import world
from booking.tests.test_races import at_once
from booking.tests.world import NOW, TODAY, TOMORROW, WEDNESDAY, at, book, user, wish

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _world(db):
    world.build()


@pytest.fixture
def hall():
    """B801 under a policy of its own."""
    policy = Policy.objects.get()
    hours = list(policy.opening_hours.all())
    policy.pk, policy.name = None, "Hall"
    policy.save(force_insert=True)
    for each in hours:
        each.pk, each.policy = None, policy
        each.save(force_insert=True)
    Room.objects.filter(code="B801").update(policy=policy, needs_approval=False)
    return policy


def grant(policy, right, *usernames):
    group, _ = Group.objects.get_or_create(name=f"{right}ers")
    Grant.objects.create(policy=policy, group=group, right=right)
    group.user_set.set(user(name) for name in usernames)


def refused(room="B801", day=TOMORROW, starts="10:00", ends="11:00", **more):
    with pytest.raises(PolicyViolation) as caught:
        book(room, day, starts, ends, **more)
    return caught.value.refusal


def found(name, **more):
    return selectors.search(wish(TOMORROW, "10:00", 60, 40, **more), user=user(name), now=NOW)


def test_a_hidden_room_does_not_exist_for_others(hall):
    grant(hall, "see", "lilei")
    assert [each.room for each in found("lilei").candidates] == ["B801"]
    assert found("hanmei").refusal.rule == "capacity"
    assert found("hanmei", room="B801").refusal.rule == "unknown_room"
    with pytest.raises(RoomNotFound):
        book("B801", TOMORROW, "10:00", "11:00", organizer=user("hanmei"))
    assert book("B801", TOMORROW, "10:00", "11:00").status == Status.BOOKED


def test_a_hidden_room_is_not_spoken_of(hall):
    grant(hall, "see", "lilei")
    named = {name: selectors.room_lexicon(user(name)) for name in ("lilei", "hanmei")}
    assert "B801" in {each.code for each in named["lilei"]}
    assert "B801" not in {each.code for each in named["hanmei"]}
    with pytest.raises(RoomNotFound):
        selectors.room_now("B801", viewer=user("hanmei"), now=NOW)
    assert not selectors.room_now("B801", viewer=user("lilei"), now=NOW).is_busy


def test_a_room_for_some_is_seen_and_not_booked_by_others(hall):
    grant(hall, "book", "lilei")
    assert found("hanmei", room="B801").refusal.rule == "not_bookable"
    assert refused(organizer=user("hanmei")).rule == "not_bookable"
    book("B801", TOMORROW, "10:00", "11:00")


def test_some_may_only_request(hall):
    grant(hall, "book", "lilei")
    grant(hall, "request", "hanmei")
    asked = book("B801", TOMORROW, "10:00", "11:00", organizer=user("hanmei"))
    assert asked.status == Status.PENDING
    [offered] = selectors.search(
        wish(TOMORROW, "15:00", 60, 40), user=user("hanmei"), now=NOW
    ).candidates
    assert offered.needs_approval
    assert book("B801", TOMORROW, "14:00", "15:00").status == Status.BOOKED


def test_who_may_override_books_at_night_without_approval_but_never_over_somebody(hall):
    grant(hall, "override", "lilei")
    Policy.objects.filter(pk=hall.pk).update(needs_approval=True, one_room_at_a_time=True)
    Quota.objects.create(policy=hall, period="day", max_bookings=1)
    night = book("B801", TOMORROW, "02:00", "07:00")
    assert night.status == Status.BOOKED
    book("B801", TOMORROW, "08:00", "09:00")
    with pytest.raises(RoomUnavailable):
        book("B801", TOMORROW, "06:00", "07:30")
    assert refused(day=TODAY, starts="02:00", ends="03:00").rule == "past"
    assert refused(starts="02:00", ends="03:00", organizer=user("hanmei")).rule == "opening_hours"
    at_night = selectors.search(wish(WEDNESDAY, "23:00", 60, 40), user=user("lilei"), now=NOW)
    assert [each.room for each in at_night.candidates] == ["B801"]


def test_a_clerk_with_the_right_overrides_for_somebody_else(hall):
    grant(hall, "override", "admin")
    made = book("B801", TOMORROW, "02:00", "03:00", by=user("admin"), source="admin")
    assert made.organizer == user("lilei")
    assert made.changes.get().by == user("admin")


@pytest.mark.parametrize(
    ("period", "free_again"),
    [
        ("day", at(WEDNESDAY, "14:00")),
        ("week", at(TODAY + timedelta(weeks=1), "14:00")),
        ("month", at(date(2027, 1, 4), "08:00")),  # New Year's Day, and a weekend
    ],
)
def test_a_quota_of_bookings_names_the_next_period(hall, period, free_again):
    Quota.objects.create(policy=hall, period=period, max_bookings=2)
    book("B801", TOMORROW, "10:00", "11:00")
    book("B801", TOMORROW, "11:00", "12:00")
    refusal = refused(starts="14:00", ends="15:00")
    assert (refusal.rule, refusal.params) == ("quota_bookings", {"period": period, "limit": 2})
    assert refusal.nearest == (free_again, free_again + timedelta(hours=1))
    book("B801", TOMORROW, "14:00", "15:00", organizer=user("hanmei"))
    book("A302", TOMORROW, "14:00", "15:00")  # under another policy
    book("B801", free_again.date(), "14:00", "15:00")


def test_a_quota_of_minutes_counts_what_is_kept(hall):
    Quota.objects.create(policy=hall, period="day", max_minutes=120)
    first = book("B801", TOMORROW, "10:00", "11:30")
    assert refused(starts="14:00", ends="15:00").rule == "quota_minutes"
    cancel_booking(first.pk, by=first.organizer, now=NOW, source="portal")
    second = book("B801", TOMORROW, "14:00", "16:00")

    def move(**more):
        return reschedule_booking(second.pk, by=second.organizer, now=NOW, source="portal", **more)

    with pytest.raises(PolicyViolation) as caught:
        move(ends_at=at(TOMORROW, "16:30"))
    assert caught.value.refusal.rule == "quota_minutes"
    assert move(starts_at=at(TOMORROW, "15:00")).starts_at == at(TOMORROW, "15:00")
    Quota.objects.update(max_minutes=60)
    assert move(ends_at=at(TOMORROW, "16:45")).ends_at == at(TOMORROW, "16:45")  # less than before
    counter = QuotaCounter.objects.get(person=user("lilei"))
    assert (counter.starts_on, counter.bookings, counter.minutes) == (TOMORROW, 1, 105)


def test_a_quota_of_a_day_is_of_the_rooms_local_day(hall):
    Quota.objects.create(policy=hall, period="day", max_bookings=1)
    book("B801", TOMORROW, "08:00", "09:00")  # midnight in UTC
    assert refused(starts="20:00", ends="21:00").rule == "quota_bookings"
    book("B801", WEDNESDAY, "08:00", "09:00")


def test_one_room_at_a_time(hall):
    Policy.objects.filter(pk=hall.pk).update(one_room_at_a_time=True)
    book("A302", TOMORROW, "10:00", "11:00")
    refusal = refused(starts="10:30", ends="11:30")
    assert (refusal.rule, refusal.params) == ("one_room", {"room": "A302"})
    assert refusal.nearest == (at(TOMORROW, "11:00"), at(TOMORROW, "12:00"))
    book("B801", TOMORROW, "11:00", "12:00")
    book("A301", TOMORROW, "11:00", "12:00")  # a room without that rule
    book("B801", TOMORROW, "10:00", "11:00", organizer=user("hanmei"))


def test_hours_that_are_over_and_make_up_days_come_from_the_tables():
    site = Room.objects.first().floor.building.site
    saturday = TODAY + timedelta(days=5)
    assert refused("A302", day=saturday).rule == "opening_hours"
    site.special_dates.create(
        date=saturday, follows_weekday=1, name_en="Make-up day", name_zh="调休上班"
    )
    book("A302", saturday, "10:00", "11:00")
    Policy.objects.get().opening_hours.filter(weekday=2).update(valid_until=TODAY)
    assert refused("A302").params["hours"] == []


def different_rooms_at_once(*, hours):
    lilei = user("lilei")
    rooms = ("A301", "A302", "A305", "B201", "B202")
    return at_once(
        *(
            lambda code=code, hour=hour: book(
                code, WEDNESDAY, f"{hour}:00", f"{hour + 1}:00", organizer=lilei
            )
            for code, hour in zip(rooms, hours, strict=True)
        )
    )


@pytest.mark.django_db(transaction=True)
def test_a_quota_holds_when_its_rooms_are_booked_at_once():
    Quota.objects.create(policy=Policy.objects.get(), period="day", max_bookings=4)
    book("A302", WEDNESDAY, "16:00", "17:00")  # so that the counter is there already
    results = different_rooms_at_once(hours=range(10, 15))  # beside that day's stand-up
    won = [each for each in results if isinstance(each, Booking)]
    refusals = {each.refusal.rule for each in results if isinstance(each, PolicyViolation)}
    assert (len(won), refusals) == (2, {"quota_bookings"})
    assert QuotaCounter.objects.get().bookings == 4


@pytest.mark.django_db(transaction=True)
def test_one_room_at_a_time_holds_when_several_are_booked_at_once():
    Policy.objects.update(one_room_at_a_time=True)
    results = different_rooms_at_once(hours=[10] * 5)
    assert len([each for each in results if isinstance(each, Booking)]) == 1
    assert {getattr(each, "code", "won") for each in results} == {"policy", "won"}
