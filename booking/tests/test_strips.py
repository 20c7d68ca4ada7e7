from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from booking.intervals import Interval
from booking.policies import Opening, Rules
from booking.strips import UNIT, Use, bookable, free_times, hours, strip, window

SHANGHAI = ZoneInfo("Asia/Shanghai")
DAY = date(2026, 12, 1)
OPEN = {weekday: (Opening(time(8), time(21)),) for weekday in range(1, 8)}
RULES = Rules(zone=SHANGHAI, hours=OPEN)
EARLY = datetime(2026, 12, 1, 0, tzinfo=SHANGHAI)


def between(first, last, zone=SHANGHAI, day=DAY):
    return Interval(
        *(datetime.combine(day, time.fromisoformat(wall), zone) for wall in (first, last))
    )


def use(first, last, *, booking=1, blocked=None):
    during = between(first, last)
    return Use(
        booking=booking,
        during=during,
        blocked=blocked or during,
        status="booked",
        is_mine=False,
        title="Weekly",
        organizer="lilei",
    )


def drawn(slots):
    return [(slot.kind, slot.units) for slot in slots]


def test_what_may_be_booked_is_what_the_rules_say():
    assert bookable(RULES, DAY, now=EARLY) == [between("08:00", "21:00")]
    assert bookable(RULES, DAY, now=EARLY.replace(hour=10, minute=7)) == [between("10:15", "21:00")]
    closed = Rules(zone=SHANGHAI, hours=OPEN, closed={DAY: {"en": "Holiday", "zh": "假日"}})
    assert bookable(closed, DAY, now=EARLY) == []


def test_a_day_is_drawn_end_to_end():
    within = between("08:00", "12:00")
    uses = [use("09:00", "10:00")]
    free = free_times(RULES, [within], uses)
    assert drawn(strip(within, free=free, uses=uses)) == [("free", 4), ("taken", 4), ("free", 8)]


def test_back_to_back_uses_leave_no_gap():
    within = between("08:00", "10:00")
    uses = [use("08:00", "09:00"), use("09:00", "10:00", booking=2)]
    assert free_times(RULES, [within], uses) == []
    assert drawn(strip(within, free=[], uses=uses)) == [("taken", 4), ("taken", 4)]


def test_a_gap_shorter_than_any_booking_is_not_offered():
    rules = Rules(zone=SHANGHAI, hours=OPEN, min_minutes=30)
    uses = [use("08:00", "09:00"), use("09:15", "10:00", booking=2)]
    assert free_times(rules, [between("08:00", "10:00")], uses) == []


def test_buffers_of_both_sides_are_kept():
    rules = Rules(
        zone=SHANGHAI,
        hours=OPEN,
        buffer_before=timedelta(minutes=15),
        buffer_after=timedelta(minutes=30),
    )
    uses = [use("10:00", "11:00", blocked=between("09:45", "11:30"))]
    assert free_times(rules, [between("08:00", "14:00")], uses) == [
        between("08:00", "09:15"),
        between("11:45", "14:00"),
    ]


def test_odd_times_are_drawn_no_smaller_than_they_are():
    within = between("08:00", "10:00")
    uses = [use("08:20", "08:40")]
    assert drawn(strip(within, free=[], uses=uses)) == [("off", 1), ("taken", 2), ("off", 5)]
    free = free_times(RULES, [within], uses)
    assert drawn(strip(within, free=free, uses=uses))[-1] == ("free", 5)


def test_a_use_that_began_the_day_before_is_cut_at_the_edge():
    within = between("08:00", "10:00")
    assert drawn(strip(within, free=[], uses=[use("07:00", "08:30")])) == [("taken", 2), ("off", 6)]


def test_the_hours_shown_hold_what_is_open_and_what_is_used():
    opened = [between("09:30", "18:10")]
    assert window(SHANGHAI, DAY, opened) == between("09:00", "19:00")
    assert window(SHANGHAI, DAY, opened, [use("06:15", "07:00")]) == between("06:00", "19:00")
    assert window(SHANGHAI, DAY, []) == between("08:00", "20:00")


def test_a_day_has_23_24_or_25_hours():
    berlin = ZoneInfo("Europe/Berlin")
    always = Rules(zone=berlin, hours={day: (Opening(time(0), time(0)),) for day in range(1, 8)})
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for day, count in ((date(2026, 3, 29), 23), (date(2026, 3, 30), 24), (date(2026, 10, 25), 25)):
        allowed = bookable(always, day, now=now.replace(month=day.month))
        within = window(berlin, day, allowed)
        assert len(hours(within)) == count
        assert drawn(strip(within, free=allowed, uses=[])) == [("free", count * 4)]


def test_half_hour_zones_begin_at_their_own_full_hour():
    delhi = ZoneInfo("Asia/Kolkata")
    within = window(delhi, DAY, [between("09:00", "17:30", delhi)])
    assert [f"{each.astimezone(delhi):%H:%M}" for each in hours(within)][:2] == ["09:00", "10:00"]


moments = st.integers(0, 13 * 60)


@given(st.lists(st.tuples(moments, moments), max_size=12))
def test_slots_always_fill_the_strip(pairs):
    within = between("08:00", "21:00")
    spans = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    uses = []
    for number, (first, last) in enumerate(sorted(spans)):
        during = Interval(*(within.starts_at + timedelta(minutes=at) for at in (first, last)))
        if all(not during.overlaps(other.during) for other in uses):
            uses.append(
                Use(
                    booking=number,
                    during=during,
                    blocked=during,
                    status="booked",
                    is_mine=False,
                    title=None,
                    organizer=None,
                )
            )
    slots = strip(within, free=free_times(RULES, [within], uses), uses=uses)
    assert sum(slot.units for slot in slots) == within.duration // UNIT
    assert all(slot.units > 0 for slot in slots)


def test_a_use_nobody_may_know_blocks_like_any_other():
    hidden = replace(use("10:00", "11:00"), booking=None, title=None, organizer=None)
    assert free_times(RULES, [between("10:00", "12:00")], [hidden]) == [between("11:00", "12:00")]
