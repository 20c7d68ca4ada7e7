from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking import policies
from booking.intervals import Interval
from booking.policies import Access, Opening, Rules, access

SHANGHAI = ZoneInfo("Asia/Shanghai")
BERLIN = ZoneInfo("Europe/Berlin")
NEW_YEAR = date(2027, 1, 1)
NOW = datetime(2026, 11, 30, 10, 7, tzinfo=SHANGHAI)
WORKDAYS = {weekday: (Opening(time(8), time(21)),) for weekday in range(1, 6)}


def rules(**more):
    values = {"zone": SHANGHAI, "hours": WORKDAYS, "closed": {NEW_YEAR: {"en": "x", "zh": "y"}}}
    return Rules(**{**values, **more})


def check(rules_, starts_at, minutes, now=NOW):
    return policies.check(
        rules_, starts_at=starts_at, ends_at=starts_at + timedelta(minutes=minutes), now=now
    )


def local(*parts, zone=SHANGHAI):
    return datetime(*parts, tzinfo=zone)


@pytest.mark.parametrize(
    ("starts_at", "minutes", "rule", "nearest"),
    [
        (local(2026, 11, 30, 9, 45), 60, "past", local(2026, 11, 30, 10, 15)),
        (local(2026, 12, 1, 23), 60, "opening_hours", local(2026, 12, 1, 20)),
        (local(2026, 12, 1, 7), 60, "opening_hours", local(2026, 12, 1, 8)),
        (local(2026, 12, 1, 20, 30), 60, "opening_hours", local(2026, 12, 1, 20)),
        (local(2026, 12, 6, 18), 60, "opening_hours", local(2026, 12, 7, 8)),
        (local(2027, 1, 1, 10), 60, "holiday", local(2026, 12, 31, 20)),
        (local(2026, 12, 1, 10, 5), 60, "grid", local(2026, 12, 1, 10)),
        (local(2026, 12, 1, 10), 50, "grid", local(2026, 12, 1, 10)),
        (local(2026, 12, 1, 10, 0, 1), 60, "grid", local(2026, 12, 1, 10)),
        (local(2026, 12, 1, 10), 0, "min_duration", local(2026, 12, 1, 10)),
        (local(2026, 12, 1, 10), -60, "min_duration", local(2026, 12, 1, 10)),
        (local(2026, 12, 1, 10), 255, "max_duration", local(2026, 12, 1, 10)),
        (local(2027, 3, 1, 10), 60, "horizon", local(2027, 2, 26, 20)),
        (
            local(9999, 12, 31, 23, 59, zone=ZoneInfo("Etc/GMT+12")),
            0,
            "horizon",
            local(2027, 2, 26, 20, 45),
        ),
        (local(1, 1, 1, 0), 60, "past", local(2026, 11, 30, 10, 15)),
    ],
)
def test_a_rule_refuses_and_names_the_nearest_legal_slot(starts_at, minutes, rule, nearest):
    refusal = check(rules(), starts_at, minutes)
    assert refusal.rule == rule
    assert refusal.nearest[0] == nearest
    again = policies.check(
        rules(), starts_at=refusal.nearest[0], ends_at=refusal.nearest[1], now=NOW
    )
    assert again is None


@pytest.mark.parametrize(
    ("starts_at", "minutes"),
    [
        (local(2026, 11, 30, 10), 30),  # began seven minutes ago: "right now"
        (local(2026, 12, 1, 8), 240),
        (local(2026, 12, 1, 20, 45), 15),
        (local(2027, 2, 26, 20), 60),
        (datetime(2026, 12, 1, 2, tzinfo=UTC), 60),
    ],
)
def test_what_no_rule_forbids_is_legal(starts_at, minutes):
    assert check(rules(), starts_at, minutes) is None


def test_grace_is_over_when_the_next_slot_begins():
    start = local(2026, 11, 30, 10)
    assert check(rules(), start, 30, now=start + timedelta(minutes=14, seconds=59)) is None
    assert check(rules(), start, 30, now=start + timedelta(minutes=15)).rule == "past"


def test_hours_on_both_sides_of_midnight_make_one_night():
    night = rules(
        hours={
            1: (Opening(time(20), time(0)),),
            2: (Opening(time(0), time(4)), Opening(time(8), time(20))),
        }
    )
    assert check(night, local(2026, 11, 30, 22), 240) is None
    assert check(night, local(2026, 12, 1, 3), 120).rule == "opening_hours"


def test_a_night_into_a_holiday_is_refused_for_the_holiday():
    always = rules(hours={weekday: (Opening(time(0), time(0)),) for weekday in range(1, 8)})
    assert check(always, local(2026, 12, 31, 23), 120).rule == "holiday"
    assert check(always, local(2026, 12, 31, 23), 60) is None


def test_a_house_that_never_opens_has_no_nearest_slot():
    refusal = check(rules(hours={}), local(2026, 12, 1, 10), 60)
    assert (refusal.rule, refusal.params["hours"], refusal.nearest) == ("opening_hours", [], None)


def test_the_hour_the_clocks_skip_is_no_start():
    day = date(2027, 3, 28)
    always = rules(zone=BERLIN, hours={7: (Opening(time(0), time(0)),)}, closed={})
    starts = [each.astimezone(BERLIN) for each in policies.grid_starts(always, day)]
    assert not [each for each in starts if each.hour == 2]
    assert len(starts) == 23 * 4
    assert policies.instant_of(BERLIN, day, time(2, 30)) is None


def test_hours_that_the_clocks_skip_are_no_hours():
    odd = rules(zone=BERLIN, hours={7: (Opening(time(2, 30), time(3)),)}, closed={})
    assert policies.open_intervals(odd, date(2027, 3, 28)) == []
    assert len(policies.open_intervals(odd, date(2027, 3, 21))) == 1


def test_the_horizon_and_the_hours_are_the_rooms_local_days():
    now = datetime(2026, 11, 30, 17, tzinfo=UTC)  # already 1 December in Shanghai
    assert check(rules(horizon_days=0), local(2026, 12, 1, 9), 60, now=now) is None
    assert check(rules(horizon_days=0), local(2026, 12, 2, 9), 60, now=now).rule == "horizon"


def test_a_half_hour_zone_keeps_the_grid():
    india = rules(zone=ZoneInfo("Asia/Kolkata"), grid_minutes=60)
    assert check(india, local(2026, 12, 1, 10, zone=ZoneInfo("Asia/Kolkata")), 60) is None
    assert check(india, datetime(2026, 12, 1, 5, tzinfo=UTC), 60).rule == "grid"


def test_buffers_widen_what_is_blocked():
    buffered = rules(buffer_before=timedelta(minutes=5), buffer_after=timedelta(minutes=10))
    blocked = buffered.blocked(policies.Interval(local(2026, 12, 1, 10), local(2026, 12, 1, 11)))
    assert (blocked.starts_at, blocked.ends_at) == (
        local(2026, 12, 1, 9, 55),
        local(2026, 12, 1, 11, 10),
    )


@settings(max_examples=60, deadline=None)
@given(
    st.datetimes(datetime(2026, 11, 1), datetime(2027, 4, 30)),  # noqa: DTZ001 - wall times
    st.integers(-30, 500),
    st.sampled_from([SHANGHAI, BERLIN, ZoneInfo("Asia/Kathmandu"), ZoneInfo("America/New_York")]),
    st.sampled_from([5, 15, 30, 60]),
)
def test_a_nearest_slot_is_always_legal_and_nothing_legal_is_nearer(wall, minutes, zone, grid):
    own = rules(zone=zone, grid_minutes=grid)
    starts_at = wall.replace(tzinfo=zone)
    refusal = check(own, starts_at, minutes)
    if refusal is None:
        return
    assert refusal.nearest is not None
    first, last = refusal.nearest
    assert policies.check(own, starts_at=first, ends_at=last, now=NOW) is None
    wanted = min(max(starts_at, NOW), NOW.astimezone(UTC) + timedelta(days=90))
    day = own.local(wanted).date()
    for near in (day - timedelta(days=1), day, day + timedelta(days=1)):
        for start in policies.legal_starts(own, day=near, duration=last - first, now=NOW):
            assert abs(start - wanted) >= abs(first - wanted) or first == starts_at


def test_notice_is_asked_for_and_the_nearest_slot_respects_it():
    short = rules(notice_minutes=120)
    refusal = check(short, local(2026, 11, 30, 11), 60)
    assert (refusal.rule, refusal.params) == ("notice", {"minutes": 120})
    assert refusal.nearest == (local(2026, 11, 30, 12, 15), local(2026, 11, 30, 13, 15))
    assert check(short, local(2026, 11, 30, 12, 15), 60) is None
    assert check(rules(), local(2026, 11, 30, 10), 60) is None  # "right now" is within the grace


def test_a_make_up_day_opens_like_the_weekday_it_stands_for():
    saturday = date(2026, 12, 5)
    assert check(rules(), local(2026, 12, 5, 10), 60).rule == "opening_hours"
    made_up = rules(working={saturday: 1})
    assert check(made_up, local(2026, 12, 5, 10), 60) is None
    assert check(made_up, local(2026, 12, 5, 20, 30), 60).rule == "opening_hours"
    assert check(made_up, local(2026, 12, 12, 10), 60).rule == "opening_hours"


def test_hours_hold_between_their_dates_and_several_a_day():
    summer = (Opening(time(7), time(12), None, date(2026, 12, 1)), Opening(time(13), time(15)))
    seasonal = rules(hours={2: summer, 3: summer})
    assert check(seasonal, local(2026, 12, 1, 7), 60) is None
    assert check(seasonal, local(2026, 12, 2, 7), 60).params["hours"] == [["13:00", "15:00"]]
    assert check(seasonal, local(2026, 12, 1, 11, 30), 120).rule == "opening_hours"
    later = rules(hours={2: (Opening(time(7), time(12), date(2026, 12, 8)),)})
    assert check(later, local(2026, 12, 1, 8), 60).rule == "opening_hours"
    assert check(later, local(2026, 12, 8, 8), 60) is None


@pytest.mark.parametrize(
    ("granted", "mine", "expected"),
    [
        ([], [], Access.BOOK),
        (["book"], [], Access.SEE),
        (["book"], ["book"], Access.BOOK),
        (["book", "request"], ["request"], Access.REQUEST),
        (["see"], [], Access.NONE),
        (["see"], ["see"], Access.BOOK),
        (["see", "book"], ["see"], Access.SEE),
        (["see", "request"], ["request"], Access.BOOK),
        (["override"], [], Access.BOOK),
        (["book", "override"], ["override"], Access.OVERRIDE),
        (["see", "approve"], ["approve"], Access.BOOK),
    ],
)
def test_rights_are_everybodys_until_they_are_granted_to_some(granted, mine, expected):
    assert access(granted, mine) is expected


@pytest.mark.parametrize(
    ("values", "minutes", "is_series", "expected"),
    [
        ({}, 600, True, False),
        ({"needs_approval": True}, None, False, True),
        ({"approval_over_minutes": 120}, 120, False, False),
        ({"approval_over_minutes": 120}, 121, False, True),
        ({"approval_over_minutes": 120}, None, False, False),
        ({"series_need_approval": True}, 30, True, True),
        ({"series_need_approval": True}, 30, False, False),
    ],
)
def test_approval_always_or_when_long_or_for_series(values, minutes, is_series, expected):
    duration = None if minutes is None else timedelta(minutes=minutes)
    assert rules(**values).asks_approval(duration, is_series=is_series) is expected


def test_who_overrides_the_rules_keeps_to_the_grid_and_to_the_present():
    free = policies.relaxed(rules(notice_minutes=600, needs_approval=True))
    assert check(free, local(2026, 12, 6, 3), 600) is None
    assert check(free, local(2028, 12, 6, 3), 60) is None
    assert check(free, local(2026, 12, 6, 3, 5), 60).rule == "grid"
    assert check(free, local(2026, 11, 29, 3), 60).rule == "past"
    assert not free.asks_approval(timedelta(hours=10), is_series=True)


def test_the_nearest_slot_avoids_what_is_shut_besides():
    shut = [Interval(local(2026, 12, 1, 9), local(2026, 12, 1, 12))]
    found = policies.nearest_slot(
        rules(),
        starts_at=local(2026, 12, 1, 10),
        ends_at=local(2026, 12, 1, 11),
        now=NOW,
        avoiding=shut,
    )
    assert found == (local(2026, 12, 1, 8), local(2026, 12, 1, 9))


def test_a_half_hour_zone_keeps_the_grid_of_its_own_clock():
    kathmandu = rules(zone=ZoneInfo("Asia/Kathmandu"), grid_minutes=30)  # UTC+05:45
    day = datetime(2026, 12, 1, 10, tzinfo=ZoneInfo("Asia/Kathmandu"))
    assert check(kathmandu, day, 60) is None
    assert check(kathmandu, day + timedelta(minutes=15), 60).rule == "grid"
    starts = list(policies.grid_starts(kathmandu, date(2026, 12, 1)))
    assert len(starts) == 48
    assert {start.astimezone(UTC).minute for start in starts} == {15, 45}


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2027, 3, 28), 23), (date(2026, 12, 1), 24), (date(2026, 10, 25), 25)]
)
def test_a_day_has_23_24_or_25_hours(day, hours):
    always = rules(zone=BERLIN, hours=policies.ALWAYS, closed={})
    [whole] = policies.open_intervals(always, day)
    assert whole.duration == timedelta(hours=hours)
