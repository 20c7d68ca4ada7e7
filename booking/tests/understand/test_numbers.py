"""Durations and headcounts, in both languages."""

import pytest

from booking.agent.understand import durations, numerals, people
from booking.agent.understand.normalise import Scan, normalise

from .office import codes, read, values


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0), ("17", 17), ("十", 10), ("十二", 12), ("二十", 20), ("两百零五", 205),
        ("一百二", 120), ("一千", 1000), ("七八", None), ("twelve", 12), ("thirty five", 35),
        ("two hundred", 200), ("twenty-one", 21), ("banana", None),
    ],
)  # fmt: skip
def test_numerals_are_read(text, number):
    assert numerals.read(text) == number


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("一个半小时", 90), ("两个半小时", 150), ("半小时", 30), ("半个钟头", 30), ("三刻钟", 45),
        ("一刻钟", 15), ("一个钟头", 60), ("两小时", 120), ("1.5小时", 90), ("1小时30分钟", 90),
        ("一小时半", 90), ("一小时一刻钟", 75), ("40分钟", 40), ("２小时", 120), ("三个钟", 180),
        ("90 minutes", 90), ("an hour", 60), ("an hour and a half", 90), ("half an hour", 30),
        ("one and a half hours", 90), ("two and a half hours", 150), ("1½ hours", 90), ("1h", 60),
        ("2 hrs", 120), ("1h30", 90), ("1h 15m", 75), ("an hour and 15 minutes", 75), ("45 mins", 45),
        ("three quarters of an hour", 45), ("a quarter of an hour", 15), ("half hour", 30),
        ("forty five minutes", 45), ("2 hours", 120), ("30-minute", 30), ("3/4 hour", 45), ("one and a quarter hours", 75),
        ("two and three quarters hours", 165),
    ],
)  # fmt: skip
def test_durations_are_read_in_minutes(text, minutes):
    scan = Scan(normalise(text).folded)
    assert [length.minutes for length in durations.find(scan)] == [minutes]


@pytest.mark.parametrize(
    "text", ["明天3点0分钟，4个人", "tomorrow 3pm, 0 minutes, 4 people", "明天3点，-1小时，4人", "tomorrow 3pm for 99 hours"]
)  # fmt: skip
def test_an_impossible_duration_is_a_problem_and_no_value(text):
    assert codes(text)["duration_minutes"] == "impossible_duration"
    assert "duration_minutes" not in values(text)


@pytest.mark.parametrize(
    "text", ["明天10点 1-2小时 4个人", "tomorrow 10am, 1 to 2 hours, 4 people"]
)
def test_two_durations_are_asked_with_both(text):
    (problem,) = read(text).problems
    assert (problem.code, problem.options) == ("ambiguous_duration", (60, 120))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("8个人", 8), ("8人", 8), ("十二位客户", 12), ("六到八个人", 8), ("6-8 people", 8),
        ("7、8个人", 8), ("七八个人", 8), ("二三十人", 30), ("俩人", 2), ("我们六个", 6),
        ("我和三个同事", 4), ("我加上3个人", 4), ("连我一共5个人", 5), ("三个同事和我", 4),
        ("me plus three", 4), ("me and 3 others", 4), ("myself and two colleagues", 3),
        ("4 colleagues and me", 5), ("six of us", 6), ("just two of us", 2), ("just me", 1),
        ("party of 5", 5), ("for 8", 8), ("room for twelve", 12), ("200 people", 200),
        ("10ppl", 10), ("8-person room", 8), ("人数改成9", 9), ("headcount 7", 7),
    ],
)  # fmt: skip
def test_headcounts_count_the_speaker_and_take_the_upper_end(text, count):
    scan = Scan(normalise(text).folded)
    assert [heads.count for heads in people.find(scan)] == [count]


@pytest.mark.parametrize(
    ("text", "count"), [("十来个人", 10), ("十几个人", 19), ("20多人", 29), ("about 10 people", 10), ("a dozen people", 12)]
)  # fmt: skip
def test_a_loose_headcount_is_assumed(text, count):
    (heads,) = people.find(Scan(normalise(text).folded))
    assert (heads.count, heads.assumed) == (count, True)


@pytest.mark.parametrize(
    "text", ["for 2 hours", "for 3pm", "for 2-3pm", "for 8 december", "at 8", "人民", "3天后", "第8个", "for 30 minutes"]
)  # fmt: skip
def test_other_numbers_are_no_headcount(text):
    assert people.find(Scan(normalise(text).folded)) == ()


@pytest.mark.parametrize(
    "text", ["明天3点，-3个人", "tomorrow 3pm, 0 people", "明天3点，2.5个人", "负3人，明天3点"]
)
def test_an_impossible_headcount_is_a_problem_and_no_value(text):
    assert codes(text)["capacity"] == "impossible_capacity"
    assert "capacity" not in values(text)


@pytest.mark.parametrize("text", ["下午2点8人会议室", "2pm 8 people room", "8人下午2点"])
def test_a_headcount_beside_a_time_leaves_both_whole(text):
    found = values(text)
    assert (found["start_time"], found["capacity"]) == ("14:00", 8)
