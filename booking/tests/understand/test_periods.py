"""Spans of days. Now is Monday 8 March 2027, 09:20."""

import pytest

from .office import MONDAY, codes, read, values


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("这周", "2027-03-08", "2027-03-14"), ("下周", "2027-03-15", "2027-03-21"), ("下下周", "2027-03-22", "2027-03-28"),
        ("this week", "2027-03-08", "2027-03-14"), ("the following week", "2027-03-15", "2027-03-21"),
        ("周末", "2027-03-13", "2027-03-14"), ("next weekend", "2027-03-20", "2027-03-21"),
        ("下个月", "2027-04-01", "2027-04-30"), ("next month", "2027-04-01", "2027-04-30"),
        ("四月份", "2027-04-01", "2027-04-30"), ("二月", "2028-02-01", "2028-02-29"), ("明年一月", "2028-01-01", "2028-01-31"),
        ("in June", "2027-06-01", "2027-06-30"), ("Dec 2027", "2027-12-01", "2027-12-31"), ("28年4月", "2028-04-01", "2028-04-30"),
        ("四月上旬", "2027-04-01", "2027-04-10"), ("下个月中旬", "2027-04-11", "2027-04-20"), ("5月下旬", "2027-05-21", "2027-05-31"),
        ("early April", "2027-04-01", "2027-04-10"), ("下月第二周", "2027-04-12", "2027-04-18"),
        ("the last week of May", "2027-05-31", "2027-06-06"), ("the first week of next month", "2027-04-05", "2027-04-11"),
        ("未来三天", "2027-03-09", "2027-03-11"), ("the next two weeks", "2027-03-09", "2027-03-22"),
        ("接下来两个月", "2027-03-09", "2027-05-08"), ("the week of March 17", "2027-03-15", "2027-03-21"),
        ("周三到周五", "2027-03-10", "2027-03-12"), ("from Tue to Thu", "2027-03-09", "2027-03-11"),
        ("next week from Tue to Thu", "2027-03-16", "2027-03-18"), ("周六到周一", "2027-03-13", "2027-03-15"),
        ("20号到22号", "2027-03-20", "2027-03-22"), ("20号-22号", "2027-03-20", "2027-03-22"), ("3月30日到4月2日", "2027-03-30", "2027-04-02"),
        ("4月12-19日", "2027-04-12", "2027-04-19"), ("1月19日到20日", "2028-01-19", "2028-01-20"),
        ("April 3 to 5", "2027-04-03", "2027-04-05"), ("from 12 to 16 May", "2027-05-12", "2027-05-16"),
        ("March 30 - April 2, 2027", "2027-03-30", "2027-04-02"), ("between March 10 and March 12", "2027-03-10", "2027-03-12"),
        ("从明天开始三天", "2027-03-09", "2027-03-11"), ("for 3 days from Wednesday", "2027-03-10", "2027-03-12"),
        ("rest of this week", "2027-03-08", "2027-03-14"), ("月底", "2027-03-25", "2027-03-31"),
    ],
)  # fmt: skip
def test_a_span_of_days_is_read_as_a_period(text, first, last):
    assert values(text)["period"] == [first, last]


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("下周找间会议室", ("2027-03-15", "2027-03-19")), ("a room this weekend", ("2027-03-13", "2027-03-14")),
        ("周三到周五订个会议室", ("2027-03-10", "2027-03-12")), ("a room in April", ("2027-04-01", "2027-04-30")),
    ],
)  # fmt: skip
def test_a_period_is_too_wide_to_book_and_its_days_are_offered(text, offered):
    (problem,) = read(text).problems
    assert (problem.code, problem.slot, problem.options) == ("vague_date", "date", offered)


def test_a_period_that_is_over_is_a_past_date():
    assert codes("a room last week") == {"date": "past_date"}


@pytest.mark.parametrize(
    ("text", "day"), [("下周的会议室，周三上午10点", "2027-03-17"), ("next week, Wednesday at 10", "2027-03-17")]
)  # fmt: skip
def test_a_weekday_beside_a_week_is_that_week_s(text, day):
    assert values(text)["date"] == day


@pytest.mark.parametrize("text", ["move it from Wednesday to Friday", "从周三改到周五"])
def test_what_is_moved_from_one_day_to_another_spans_nothing(text):
    found = values(text)
    assert "period" not in found
    assert found["date"] == "2027-03-12"


@pytest.mark.parametrize(
    ("text", "until", "first"),
    [
        ("下个月每周三下午3点", "2027-04-30", "2027-04-07"),
        ("every Friday at 3pm in April", "2027-04-30", "2027-04-02"),
        ("从下周开始每周二上午10点", None, "2027-03-16"),
        ("4月1日到4月30日每周四10点", "2027-04-30", "2027-04-01"),
    ],
)
def test_a_period_bounds_a_series(text, until, first):
    found = values(text)
    assert (found["recurrence"].get("until"), found["date"]) == (until, first)


@pytest.mark.parametrize(
    ("text", "window"),
    [("未来3小时", ["09:20", "12:20"]), ("in the next two hours", ["09:20", "11:20"])],
)
def test_hours_ahead_are_a_window_from_now(text, window):
    found = values(text)
    assert (found["date"], found["window"]) == (MONDAY.date().isoformat(), window)


@pytest.mark.parametrize("text", ["use it for two days", "会议室用3天"])
def test_a_length_of_days_cannot_be_booked(text):
    assert codes(text)["duration_minutes"] == "impossible_duration"


@pytest.mark.parametrize(("text", "minutes"), [("明天半天", 390), ("half a day tomorrow", 390)])
def test_half_a_day_is_half_of_the_opening_hours(text, minutes):
    found = read(text).slots["duration_minutes"]
    assert (found.value, found.assumed) == (minutes, True)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("this evening at 7", "19:00"), ("tonight at 8", "20:00"), ("10, this morning", "10:00"),
        ("tomorrow afternoon, at 3", "15:00"), ("明天下午，3点", "15:00"), ("tomorrow at 15h30", "15:30"),
        ("tomorrow at 2.30", "14:30"), ("tomorrow at fifteen thirty", "15:30"), ("tomorrow at 1430", "14:30"),
        ("tomorrow 20 past 3", "15:20"), ("tomorrow at five minutes to four thirty", "16:25"),
        ("明天三点差五分", "14:55"), ("明天差十分三点", "14:50"), ("tomorrow 3 p . m .", "15:00"),
        ("tomorrow at eleven five", "11:05"), ("tomorrow at nine oh five", "09:05"),
    ],
)  # fmt: skip
def test_hours_are_read_however_they_are_written(text, start):
    assert values(text)["start_time"] == start


def test_an_ambiguous_range_keeps_its_length():
    understanding = read("明天8点到8点半")
    assert [p.options for p in understanding.problems] == [("08:00", "20:00")]
    assert understanding.slots["duration_minutes"].value == 30
