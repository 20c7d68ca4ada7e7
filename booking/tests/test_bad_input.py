"""Whatever comes in through a door: a clear error, in both languages, and nothing is written."""

from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from booking import selectors, services
from booking.exceptions import BookingError
from booking.models import Booking, BookingChange, Mail, Occurrence, Series
from booking.storable import is_storable, one_line
from booking.tests import world
from booking.tests.world import NOW, TOMORROW, at, book, user

pytestmark = pytest.mark.django_db

TEXTS = st.one_of(
    st.sampled_from(["", "\0", "A302\0", "\ud800", "' OR 1=1 --", "x" * 10_000, "‮", "A302"]),
    st.text(st.characters(), max_size=30),
)
INSTANTS = st.one_of(
    st.just(datetime.min.replace(tzinfo=UTC)),
    st.just(datetime.max.replace(tzinfo=UTC)),
    st.datetimes(timezones=st.just(UTC)),
    st.datetimes(datetime(2026, 11, 1), datetime(2027, 3, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
NUMBERS = st.one_of(st.sampled_from([0, -1, 1, 2**31, 2**63, -(2**63)]), st.integers(-9, 999))
DATES = st.one_of(
    st.sampled_from([date.min, date.max]), st.dates(date(2026, 11, 1), date(2027, 3, 1))
)
OFTEN = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(autouse=True)
def _world(db):
    world.build()


def rows():
    return [model.objects.count() for model in (Booking, Occurrence, BookingChange, Series, Mail)]


def refused_or_done(call):
    """A booking error in words of both languages and nothing written, or done; never a crash."""
    before, error = rows(), None
    try:
        call()
    except BookingError as caught:
        error = caught
    if error is not None:
        assert error.message("en")
        assert error.message("zh-hans")
        assert rows() == before


@OFTEN
@given(
    room=st.one_of(st.just("A302"), TEXTS),
    title=TEXTS,
    key=TEXTS,
    visibility=st.one_of(st.sampled_from(["public", "private"]), TEXTS),
    source=st.one_of(st.sampled_from(["portal", "api", "system"]), TEXTS),
    headcount=NUMBERS,
    starts_at=INSTANTS,
    minutes=st.integers(-2000, 2000),
)
def test_booking_bears_anything(
    room, title, key, visibility, source, headcount, starts_at, minutes
):
    try:
        ends_at = starts_at + timedelta(minutes=minutes)
    except OverflowError:
        ends_at = starts_at
    refused_or_done(
        lambda: services.book_room(
            organizer=user("lilei"),
            room=room,
            title=title,
            idempotency_key=key,
            visibility=visibility,
            source="portal" if source == "chat" else source,
            headcount=headcount,
            starts_at=starts_at,
            ends_at=ends_at,
            now=NOW,
        )
    )


@OFTEN
@given(
    room=st.one_of(st.just("A302"), TEXTS),
    recurrence=st.one_of(
        TEXTS,
        st.sampled_from(
            [
                "FREQ=DAILY;COUNT=3",
                "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=2",
                "FREQ=MONTHLY;BYSETPOS=366;BYDAY=MO;COUNT=2",
                "FREQ=DAILY;UNTIL=00010101",
                "FREQ=DAILY;UNTIL=99991231T235959Z",
                "FREQ=WEEKLY;BYDAY=5MO;COUNT=2",
            ]
        ),
    ),
    first=DATES,
    start=st.times(),
    minutes=NUMBERS,
    on_clash=st.sampled_from(["refuse", "skip", "", "\0"]),
)
def test_series_bear_anything(room, recurrence, first, start, minutes, on_clash):
    refused_or_done(
        lambda: services.book_series(
            organizer=user("lilei"),
            room=room,
            first=first,
            start=start,
            minutes=minutes,
            recurrence=recurrence,
            on_clash=on_clash,
            headcount=2,
            source="portal",
            idempotency_key="k",
            now=NOW,
        )
    )


@OFTEN
@given(
    room=st.one_of(st.none(), TEXTS),
    starts_at=st.one_of(st.none(), INSTANTS),
    ends_at=st.one_of(st.none(), INSTANTS),
    day=st.one_of(st.none(), DATES),
    version=st.one_of(st.none(), NUMBERS),
    reason=TEXTS,
    scope=st.one_of(st.none(), st.sampled_from(["this", "following", "all"]), TEXTS),
)
def test_changes_bear_anything(room, starts_at, ends_at, day, version, reason, scope):
    made = Booking.objects.get(title="Demo")
    mine = {"by": made.organizer, "now": NOW, "version": version, "source": "portal"}
    refused_or_done(
        lambda: services.reschedule_booking(
            made.pk, room=room, starts_at=starts_at, ends_at=ends_at, recurrence_date=day, **mine
        )
    )
    refused_or_done(
        lambda: services.cancel_booking(
            made.pk, reason=reason, recurrence_date=day, scope=scope, **mine
        )
    )


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "A302\0", "x" * 5000, "枫叶厅"])
def test_reads_bear_any_text(client, text):
    lilei = user("lilei")
    assert selectors.day_grid(viewer=lilei, day=TOMORROW, now=NOW, room=text) == []
    assert selectors.day_grid(viewer=lilei, day=TOMORROW, now=NOW, building=text) == []
    for call in (
        lambda: selectors.room_now(text, viewer=lilei, now=NOW),
        lambda: selectors.preview_series(
            organizer=lilei,
            room=text,
            first=TOMORROW,
            start=time(9),
            minutes=30,
            rule="FREQ=DAILY;COUNT=2",
            now=NOW,
        ),
    ):
        with pytest.raises(BookingError) as caught:
            call()
        assert caught.value.code == "room_not_found"


@pytest.mark.parametrize("path", ["/calendar/%00.ics", "/calendar/x/rooms/%00.ics"])
def test_addresses_bear_any_text(client, path):
    assert client.get(path).status_code == 404


def test_what_the_database_cannot_hold_is_known():
    assert is_storable("枫叶厅 🎉")
    assert not is_storable("\0")
    assert not is_storable("\ud83c")
    assert one_line(" a\0b \n \ud83c ") == "a b ?"
    booking = book("A302", TOMORROW, "10:00", "11:00", title="\ud83c")
    assert (booking.title, booking.starts_at) == ("?", at(TOMORROW, "10:00"))
