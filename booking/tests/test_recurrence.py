from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking import recurrence
from booking.recurrence import BadRule

SHANGHAI, BERLIN = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin")
TUESDAY = date(2026, 12, 1)


def days(rule, first=TUESDAY, zone=SHANGHAI):
    return recurrence.dates(recurrence.normalised(rule, zone=zone), first)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("FREQ=DAILY;COUNT=3", ["12-01", "12-02", "12-03"]),
        ("FREQ=WEEKLY;COUNT=2", ["12-01", "12-08"]),
        ("FREQ=WEEKLY;BYDAY=MO,WE;COUNT=3", ["12-02", "12-07", "12-09"]),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;UNTIL=20261229", ["12-01", "12-15", "12-29"]),
        ("FREQ=MONTHLY;BYDAY=-1FR;COUNT=1", ["12-25"]),
        ("FREQ=MONTHLY;BYMONTHDAY=31;COUNT=1", ["12-31"]),
        ("RRULE:freq=daily;until=20261202", ["12-01", "12-02"]),
        # The last instant of an UNTIL in UTC is a day later in Shanghai.
        ("FREQ=DAILY;UNTIL=20261202T170000Z", ["12-01", "12-02", "12-03"]),
        ("FREQ=DAILY;UNTIL=20261202T150000Z", ["12-01", "12-02"]),
    ],
)
def test_a_rule_gives_local_days(rule, expected):
    assert [f"{day:%m-%d}" for day in days(rule)] == expected


def test_a_day_that_a_month_lacks_is_left_out():
    found = days("FREQ=MONTHLY;BYMONTHDAY=31;COUNT=3")
    assert found == (date(2026, 12, 31), date(2027, 1, 31), date(2027, 3, 31))


@pytest.mark.parametrize(
    "rule",
    [
        "",
        "FREQ=WEEKLY",
        "FREQ=WEEKLY;COUNT=2;UNTIL=20270101",
        "FREQ=WEEKLY;COUNT=0",
        "FREQ=WEEKLY;COUNT=201",
        "FREQ=WEEKLY;COUNT=999999",
        "FREQ=HOURLY;COUNT=2",
        "FREQ=DAILY;BYHOUR=9;COUNT=2",
        "FREQ=DAILY;COUNT=2;COUNT=3",
        "FREQ=WEEKLY;BYDAY=XX;COUNT=2",
        "FREQ=WEEKLY;UNTIL=20261399",
        "FREQ=WEEKLY;UNTIL=20261399T000000Z",
        "FREQ=WEEKLY;UNTIL=tomorrow",
        "FREQ=DAILY;INTERVAL=0;COUNT=2",
        "DROP TABLE;COUNT=2",
        "FREQ=DAILY;COUNT=2;" + "X" * 300,
        "FREQ=DAILY;BYMONTH=13;COUNT=2",
        "INTERVAL=2;COUNT=2",
        "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=999;COUNT=2",
    ],
)
def test_what_is_no_rule_is_refused(rule):
    with pytest.raises(BadRule):
        days(rule)


def test_a_rule_that_never_comes_is_found_out_at_once():
    assert days("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=3") == ()
    assert len(days("FREQ=DAILY;UNTIL=99991231")) == recurrence.MAX_DATES + 1


def test_nine_stays_nine_when_the_clocks_change():
    for day in (date(2027, 3, 27), date(2027, 3, 28), date(2027, 10, 31)):
        slot = recurrence.slot(BERLIN, day, time(9), 60)
        local = slot.during.starts_at.astimezone(BERLIN)
        assert (local.date(), local.time(), slot.is_shifted) == (day, time(9), False)
        assert slot.during.duration == timedelta(hours=1)


def test_an_hour_the_clocks_skip_is_shifted_and_marked():
    slot = recurrence.slot(BERLIN, date(2027, 3, 28), time(2, 30), 60)
    assert slot.is_shifted
    assert slot.during.starts_at == datetime(2027, 3, 28, 1, 30, tzinfo=UTC)
    assert slot.during.starts_at.astimezone(BERLIN).time() == time(3, 30)


def test_an_hour_that_comes_twice_is_the_first():
    slot = recurrence.slot(BERLIN, date(2027, 10, 31), time(2, 30), 60)
    assert not slot.is_shifted
    assert slot.during.starts_at == datetime(2027, 10, 31, 0, 30, tzinfo=UTC)


RULES = st.builds(
    "FREQ={};INTERVAL={};BYDAY={};{}".format,
    st.sampled_from(["DAILY", "WEEKLY", "MONTHLY"]),
    st.integers(1, 3),
    st.lists(
        st.sampled_from(["MO", "TU", "WE", "TH", "FR"]), min_size=1, max_size=3, unique=True
    ).map(",".join),
    st.one_of(
        st.integers(2, 20).map("COUNT={}".format),
        st.dates(date(2026, 12, 20), date(2027, 12, 1)).map("UNTIL={:%Y%m%d}".format),
    ),
)


@settings(deadline=None, max_examples=60)
@given(RULES, st.data())
def test_a_series_cut_in_two_has_the_same_dates(text, data):
    rule = recurrence.normalised(text, zone=SHANGHAI)
    whole = recurrence.dates(rule, TUESDAY)[: recurrence.MAX_DATES]
    if len(whole) < 2 or len(whole) == recurrence.MAX_DATES:
        return
    at = data.draw(st.sampled_from(whole[1:]))
    head = recurrence.dates(recurrence.ended_before(rule, TUESDAY, at), TUESDAY)
    tail = recurrence.dates(recurrence.going_on_from(rule, TUESDAY, at), at)
    assert head + tail == whole
    assert recurrence.normalised(rule, zone=SHANGHAI) == rule
