"""Blackouts: shut for everybody, settled in one step, never crossed by a booking."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from booking import closures, selectors, services
from booking.exceptions import (
    BlackoutHits,
    InvalidBooking,
    NotAllowed,
    PolicyViolation,
    RoomUnavailable,
    SeriesClash,
)
from booking.intervals import Interval
from booking.models import Blackout, Booking, Building, Occurrence, Room, Site, Status
from booking.tests import world
from booking.tests.test_races import at_once, wait_for_a_waiter
from booking.tests.weekly import series, week
from booking.tests.world import NOW, TOMORROW, WEDNESDAY, at, book, user, wish

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _world(db):
    world.build()


def close(place="A302", *, day=TOMORROW, starts="09:00", ends="13:00", settlements=(), **more):
    values = {
        "place": Room.objects.get(code=place) if isinstance(place, str) else place,
        "starts_at": at(day, starts),
        "ends_at": at(day, ends),
        "reason": "Repainting",
        "settlements": dict(settlements),
        "by": user("admin"),
        "now": NOW,
        "source": "admin",
    }
    return services.close_rooms(**{**values, **more})


def hits(place, *, day=TOMORROW, starts="09:00", ends="13:00"):
    during = Interval(at(day, starts), at(day, ends))
    found = closures.hits_of(place, during, now=NOW)
    return closures.alternatives_to(found, place, now=NOW)


def refused(**more):
    with pytest.raises(PolicyViolation) as caught:
        book("A302", TOMORROW, "10:00", "11:00", **more)
    return caught.value


def test_a_shut_room_is_refused_with_the_reason_and_the_nearest_open_slot():
    close()
    error = refused()
    assert error.refusal.rule == "blackout"
    assert error.refusal.params == {"reason": "Repainting", "until": "2026-12-01 13:00"}
    assert error.refusal.nearest == (at(TOMORROW, "08:00"), at(TOMORROW, "09:00"))
    assert "Repainting" in error.message("zh-hans")
    book("A302", TOMORROW, "13:00", "14:00")  # back to back
    book("A302", TOMORROW, "08:00", "09:00")


def test_a_search_for_a_shut_room_says_why_and_offers_others():
    close()
    found = selectors.search(
        wish(TOMORROW, "10:00", 60, 2, room="A302"), user=user("lilei"), now=NOW
    )
    assert (found.candidates, found.refusal.rule) == ((), "blackout")
    assert found.refusal.params["reason"] == "Repainting"
    assert found.alternatives
    open_then = wish(TOMORROW, "14:00", 60, 2, room="A302")
    assert selectors.search(open_then, user=user("lilei"), now=NOW).refusal is None


@pytest.mark.parametrize("kind", ["site", "building"])
def test_a_whole_building_or_site_is_shut(kind):
    place = Site.objects.get() if kind == "site" else Building.objects.get(code="A")
    close(place, settlements={each.occurrence.pk: "keep" for each in hits(place)})
    assert refused().refusal.rule == "blackout"
    wished = wish(TOMORROW, "10:00", 60, 2)
    found = selectors.search(wished, user=user("lilei"), now=NOW).candidates
    assert {each.building for each in found} == (set() if kind == "site" else {"B"})
    starts = selectors.free_starts(
        user=user("lilei"),
        date=TOMORROW,
        window=(at(TOMORROW, "09:00").time(), at(TOMORROW, "14:00").time()),
        minutes=60,
        headcount=2,
        room="A302",
        now=NOW,
    )
    assert starts == [at(TOMORROW, "13:00")]


def test_a_move_a_series_and_an_undo_mind_it_too():
    booking = book("A302", TOMORROW, "14:00", "15:00")
    other = book("B202", TOMORROW, "10:00", "11:00")
    close()
    mine = {"by": booking.organizer, "now": NOW, "source": "portal"}
    for call in (
        lambda: services.reschedule_booking(booking.pk, starts_at=at(TOMORROW, "10:00"), **mine),
        lambda: services.reschedule_booking(other.pk, room="A302", **mine),
    ):
        with pytest.raises(PolicyViolation) as caught:
            call()
        assert caught.value.refusal.rule == "blackout"
    close("B202", day=week(1))
    with pytest.raises(SeriesClash) as clash:
        series()
    assert [each["code"] for each in clash.value.dates] == ["blackout"]
    assert len(series(on_clash="skip").occurrences.all()) == 4
    gone = services.cancel_booking(booking.pk, **mine)
    close(starts="14:00", ends="15:00")
    with pytest.raises(PolicyViolation):
        services.restore_booking(
            booking.pk, **{**mine, "now": gone.changes.last().at - timedelta(days=1)}
        )


def test_the_bookings_it_hits_are_listed_each_with_a_room_to_move_to():
    first = book("A302", TOMORROW, "10:00", "11:00", headcount=5)
    second = book("A301", TOMORROW, "10:30", "11:30", headcount=5)
    book("A302", TOMORROW, "13:00", "14:00")
    found = hits(Building.objects.get(code="A"))
    assert [each.occurrence.booking for each in found] == [first, second]
    assert [each.alternative for each in found] == ["B201", None]  # each room is given once


def test_hits_are_moved_cancelled_and_kept_in_one_step():
    moved = book("A302", TOMORROW, "09:00", "10:00")
    cancelled = book("A302", TOMORROW, "10:00", "11:00")
    kept = book("A302", TOMORROW, "11:00", "12:00")
    settle = {
        moved.occurrence.pk: "move:B202",
        cancelled.occurrence.pk: "cancel",
        kept.occurrence.pk: "keep",
    }
    close(settlements=settle)
    found = {each.pk: each for each in Booking.objects.with_occurrences()}
    assert found[moved.pk].room.code == "B202"
    assert found[cancelled.pk].status == Status.CANCELLED
    assert (found[kept.pk].room.code, found[kept.pk].status) == ("A302", Status.BOOKED)
    change = moved.changes.get(action="moved")
    assert (change.by, change.reason, change.source) == (user("admin"), "Repainting", "admin")
    assert found[kept.pk].version == 1


def test_what_is_hit_and_not_settled_stops_everything():
    booking = book("A302", TOMORROW, "10:00", "11:00")
    with pytest.raises(BlackoutHits) as caught:
        close()
    assert caught.value.hits == 1
    assert not Blackout.objects.exists()
    taken = book("B202", TOMORROW, "10:00", "11:00", organizer=user("hanmei"))
    with pytest.raises(RoomUnavailable):
        close(settlements={booking.occurrence.pk: "move:B202"})
    assert not Blackout.objects.exists()
    assert Booking.objects.get(pk=taken.pk).room.code == "B202"


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"ends": "09:00"}, "ends_at"),
        ({"day": NOW.date() - timedelta(days=1)}, "ends_at"),
        ({"reason": "  "}, "reason"),
        ({"settlements": {1: "burn"}}, "settlements"),
        ({"settlements": {1: "move"}}, "settlements"),
        ({"settlements": {1: "cancel:B202"}}, "settlements"),
        ({"starts_at": at(TOMORROW, "09:00").replace(tzinfo=None)}, "starts_at"),
    ],
)
def test_a_blackout_that_makes_no_sense_is_named(values, field):
    with pytest.raises(InvalidBooking) as caught:
        close(**values)
    assert caught.value.field == field


def test_who_may_shut_rooms_and_open_them_again():
    for call in (
        lambda: close(by=user("lilei")),
        lambda: services.lift_blackout(1, by=user("lilei"), now=NOW),
    ):
        with pytest.raises(NotAllowed):
            call()
    blackout = close()
    assert selectors.room_now("A302", viewer=user("lilei"), now=at(TOMORROW, "10:00")).is_busy
    lifted = services.lift_blackout(blackout.pk, by=user("admin"), now=NOW)
    assert lifted.lifted_at == NOW
    later = NOW + timedelta(hours=1)
    assert services.lift_blackout(blackout.pk, by=user("admin"), now=later).lifted_at == NOW
    book("A302", TOMORROW, "10:00", "11:00")


def test_one_place_only_says_the_database():
    room, site = Room.objects.first(), Site.objects.get()
    values = {"during": (NOW, at(TOMORROW, "09:00")), "reason": "x", "created_by": user("admin")}
    for places in ({}, {"room": room, "site": site}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Blackout.objects.create(**places, **values)


@pytest.mark.django_db(transaction=True)
def test_a_booking_and_a_blackout_at_once_never_cross():
    for number in range(4):
        day = WEDNESDAY + timedelta(days=number % 2)
        span = f"{10 + number // 2 * 2}:00", f"{11 + number // 2 * 2}:00"
        at_once(
            lambda day=day, span=span: book("A302", day, *span, organizer=user("hanmei")),
            lambda day=day, span=span: close(day=day, starts=span[0], ends=span[1]),
        )
        booked = Occurrence.objects.active().filter(room__code="A302", starts_at=at(day, span[0]))
        shut = Blackout.objects.filter(starts_at=at(day, span[0]))
        assert booked.count() + shut.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_booking_waits_for_a_blackout_in_the_making_and_then_sees_it():
    hanmei = user("hanmei")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            close()
            waiting = pool.submit(
                at_once, lambda: book("A302", TOMORROW, "10:00", "11:00", organizer=hanmei)
            )
            wait_for_a_waiter()
        [result] = waiting.result()
    assert isinstance(result, PolicyViolation)
    assert result.refusal.rule == "blackout"


@pytest.mark.django_db(transaction=True)
def test_moving_cancelling_and_shutting_at_once_never_deadlock():
    made = [book("A302", TOMORROW, f"{hour:02}:00", f"{hour + 1}:00") for hour in (9, 10, 11)]
    place = Building.objects.get(code="A")
    settle = {each.occurrence.pk: "cancel" for each in made}
    mine = {"by": user("lilei"), "now": NOW, "source": "portal"}
    results = at_once(
        lambda: close(place, settlements=settle),
        lambda: services.reschedule_booking(made[0].pk, room="A301", **mine),
        lambda: services.cancel_booking(made[1].pk, **mine),
        lambda: services.swap_bookings(made[0].pk, made[2].pk, **mine),
    )
    assert all(not isinstance(each, IntegrityError) for each in results)
    if Blackout.objects.exists():
        left = closures.hits_of(
            place, Interval(at(TOMORROW, "09:00"), at(TOMORROW, "13:00")), now=NOW
        )
        assert not left
