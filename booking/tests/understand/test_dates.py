"""More ways to write a day. Now is Monday 8 March 2027, 09:20, if a case names no other."""

from datetime import datetime

import pytest

from .office import MONDAY, ZONE, codes, read, values


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("20270312 10:00", "2027-03-12"), ("2027 03 12", "2027-03-12"), ("2027.3.12", "2027-03-12"), ("2027-03-12T14:00:00", "2027-03-12"),
        ("03-12", "2027-03-12"), ("3·12上午", "2027-03-12"), ("12.3.2027", "2027-03-12"), ("25/12/2027", "2027-12-25"), ("2027/Apr/3", "2027-04-03"),
        ("3-Apr-2027", "2027-04-03"), ("Apr.3", "2027-04-03"), ("3. April", "2027-04-03"), ("28 June in 2027", "2027-06-28"),
        ("April twenty first", "2027-04-21"), ("May twenty one", "2027-05-21"), ("Apr 3 PM", "2027-04-03"), ("the third of April", "2027-04-03"),
        ("the 3rd of next month", "2027-04-03"), ("本月20号", "2027-03-20"), ("下下个月1号", "2027-05-01"), ("明年3月5日", "2028-03-05"),
        ("二零二七年五月三十一日", "2027-05-31"), ("28年1月5日", "2028-01-05"), ("十月31", "2027-10-31"), ("2028年元旦", "2028-01-01"),
        ("Christmas 2027", "2027-12-25"), ("万圣节", "2027-10-31"), ("三月的第一个周二", "2028-03-07"), ("the first Monday of March", "2028-03-06"),
        ("for the 27.", "2027-03-27"), ("Monday of the following week", "2027-03-15"), ("本日", "2027-03-08"),
        ("Wednesday the 10th", "2027-03-10"), ("Wednesday the thirty first", "2027-03-31"), ("in two months", "2027-05-08"),
        ("a couple of weeks from now", "2027-03-22"), ("three days from tomorrow", "2027-03-12"), ("a week after Friday", "2027-03-19"),
        ("in a fortnight", "2027-03-22"), ("三个月后", "2027-06-08"), ("end of the week", "2027-03-12"), ("下周末尾", "2027-03-19"),
        ("the end of May", "2027-05-31"), ("二月底", "2028-02-29"), ("明年六月底", "2028-06-30"), ("end of the year", "2027-12-31"),
    ],
)  # fmt: skip
def test_days_are_read_however_they_are_written(text, day):
    assert values(text)["date"] == day


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("20270332", None), ("31.2.2027", "impossible_date"), ("13/13/2027", "impossible_date"), ("45/12", "impossible_date"),
        ("13月5日", "impossible_date"), ("the 0th of next month", "impossible_date"),
        ("13月底", "impossible_date"), ("13月的第一个周二", "impossible_date"), ("Tuesday the thirty first", "weekday_against_date"),
        ("Wednesday the 0th", "impossible_date"), ("2027年2月29日", "impossible_date"), ("2026年12月1日", "past_date"), ("1/2/2027", "past_date"),
        ("4/5/2027", "ambiguous_date"), ("前天", "past_date"), ("上周三", "past_date"), ("last Friday", "past_date"), ("下个月31号", "impossible_date"),
    ],
)  # fmt: skip
def test_what_is_no_day_ahead_is_asked_or_nothing(text, code):
    assert codes(text).get("date") == code
    assert "date" not in values(text)


@pytest.mark.parametrize(
    ("text", "now", "first", "last"),
    [
        ("12月25日到1月3日", "2028-03-08", "2028-12-25", "2029-01-03"),
        ("1月30日到2月2日", "2027-01-31", "2028-01-30", "2028-02-02"),
        ("later, from today to yesterday", None, None, None),
    ],
)
def test_spans_over_the_turn_of_a_year(text, now, first, last):
    moment = datetime.fromisoformat(f"{now}T09:20").replace(tzinfo=ZONE) if now else MONDAY
    found = values(text, now=moment)
    assert found.get("period") == ([first, last] if first else None)


@pytest.mark.parametrize(
    "text", ["13月上旬", "the 6th week", "上旬", "July 15 to 13 in words", "未来几百天"]
)
def test_what_is_no_span_is_none(text):
    assert "period" not in values(text)


@pytest.mark.parametrize("text", ["in 900 days", "1000天后"])
def test_days_beyond_reason_are_not_counted(text):
    assert "date" not in values(text)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("1 hour and a quarter", 75), ("two and a quarter hours", 135), ("one and three quarters of an hour", 105), ("2 hours ten", 130),
        ("1h30m", 90), ("俩小时", 120), ("90'", 90), ("another hour", 60), ("a couple of hours", 120), ("3/4 hour", 45), ("1小时1刻钟", 75), ("两三个小时", None),
        ("1d", None), ("half a day", 390),
    ],
)  # fmt: skip
def test_lengths_are_read_however_they_are_said(text, minutes):
    assert values(f"明天10点, {text}, 4人").get("duration_minutes") == minutes


@pytest.mark.parametrize(
    ("text", "day", "start"),
    [
        ("in 1d, 2hr and 10min", "2027-03-09", "11:30"), ("in a couple of minutes", "2027-03-08", "09:15"),
        ("in 40", "2027-03-08", "10:00"), ("半小时过后", "2027-03-08", "09:45"), ("90 minutes later", "2027-03-08", "10:45"),
    ],
)  # fmt: skip
def test_starts_counted_from_now(text, day, start):
    found = read(f"{text}, 4个人").slots
    assert (found["date"].value, found["start_time"].value) == (day, start)
