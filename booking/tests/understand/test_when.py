"""Dates, times, windows and what contradicts. Now is Monday 8 March 2027, 09:20."""

from datetime import datetime

import pytest

from booking.agent.understand import DraftView

from .office import ASKED, CHOOSING, MONDAY, ZONE, codes, read, values


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("今天下午3点", "2027-03-08"), ("明天", "2027-03-09"), ("后天", "2027-03-10"),
        ("大后天", "2027-03-11"), ("大大后天", "2027-03-12"), ("周三", "2027-03-10"), ("周五一点", "2027-03-12"), ("星期六一起", "2027-03-13"),
        ("这周五", "2027-03-12"), ("下周一", "2027-03-15"), ("下周三", "2027-03-17"),
        ("下下周三", "2027-03-24"), ("礼拜四", "2027-03-11"), ("下个星期天", "2027-03-21"),
        ("12号", "2027-03-12"), ("5号", "2027-04-05"), ("下个月3号", "2027-04-03"),
        ("4月2日", "2027-04-02"), ("十二月三十一号", "2027-12-31"), ("1月5号", "2028-01-05"),
        ("2027年5月6日", "2027-05-06"), ("2027-05-06", "2027-05-06"), ("2027/5/6", "2027-05-06"),
        ("元旦", "2028-01-01"), ("国庆节", "2027-10-01"), ("3天后", "2027-03-11"),
        ("两周后", "2027-03-22"), ("明早9点", "2027-03-09"), ("月底", "2027-03-31"),
        ("today at 3pm", "2027-03-08"), ("tomorrow", "2027-03-09"), ("tmrw", "2027-03-09"),
        ("tommorow", "2027-03-09"), ("the day after tomorrow", "2027-03-10"),
        ("Wednesday", "2027-03-10"), ("this Friday", "2027-03-12"), ("next Tuesday", "2027-03-16"),
        ("Thursday next week", "2027-03-18"), ("on the 12th", "2027-03-12"), ("March 20", "2027-03-20"),
        ("20 March", "2027-03-20"), ("the 3rd of April", "2027-04-03"), ("Apr 3, 2027", "2027-04-03"),
        ("in 3 days", "2027-03-11"), ("a week from today", "2027-03-15"), ("Christmas", "2027-12-25"),
        ("end of April", "2027-04-30"), ("25/12", "2027-12-25"),
            ("March the twenty third", "2027-03-23"), ("the first friday of july", "2027-07-02"),
            ("七月的第一个周五", "2027-07-02"), ("the last Monday of March", "2027-03-29"),
            ("on the 17 from 2pm", "2027-03-17"), ("11/3号早上9点", "2027-11-03"), ("12th at 3pm", "2027-03-12"),
    ],
)  # fmt: skip
def test_days_are_read_towards_the_future(text, day):
    assert values(text)["date"] == day


@pytest.mark.parametrize(
    "text",
    ["2月30号上午10点", "32号上午10点", "Feb 30 at 10am", "2027-02-29 10:00", "4月31日10:00"],
)
def test_a_day_that_does_not_exist_is_refused_and_never_clamped(text):
    assert codes(text)["date"] == "impossible_date"
    assert "date" not in values(text)


@pytest.mark.parametrize("text", ["月底开总结会", "a room at the end of the month"])
def test_month_end_on_its_last_days_is_asked_with_both(text):
    late = datetime(2027, 4, 29, 10, 0, tzinfo=ZONE)
    (problem,) = read(text, now=late).problems
    assert (problem.code, problem.options) == ("ambiguous_date", ("2027-04-30", "2027-05-31"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("明天或者后天下午3点", "ambiguous_date"), ("周三3月9日下午3点", "weekday_against_date"),
        ("Wednesday 9 March at 3pm", "weekday_against_date"), ("下周找间会议室", "vague_date"),
        ("a room next week", "vague_date"), ("昨天下午3点", "past_date"), ("4/5 at 3pm", "ambiguous_date"),
        ("周末订个会议室", "vague_date"), ("下周一二三都要", "ambiguous_date"), ("周六日开会", "ambiguous_date"),
    ],
)  # fmt: skip
def test_an_open_date_is_asked_and_not_picked(text, code):
    assert codes(text)["date"] == code
    assert "date" not in values(text)


@pytest.mark.parametrize("text", ["周一上午9点", "Monday at 9am", "8号上午9点"])
def test_a_bare_day_equal_to_today_moves_on_once_the_hour_has_passed(text):
    found = read(text).slots["date"]
    assert found.value in {"2027-03-15", "2027-04-08"}
    assert found.assumed


@pytest.mark.parametrize(
    ("text", "start", "minutes"),
    [
        ("下午3点到5点", "15:00", 120), ("下午两点到四点半", "14:00", 150), ("10点到11点", "10:00", 60),
        ("上午11点到下午1点", "11:00", 120), ("中午12点到1点", "12:00", 60), ("9点半-10点一刻", "09:30", 45),
        ("１４：３０－１５：３０", "14:30", 60), ("14:00~15:15", "14:00", 75), ("两点到三点半", "14:00", 90),
        ("晚上7点至8点", "19:00", 60), ("from 2 to 3:30 in the afternoon", "14:00", 90),
        ("9:15 to 10", "09:15", 45), ("10 to 11am", "10:00", 60), ("11-1pm", "11:00", 120),
        ("9 to 5", "09:00", 480), ("2pm-4:30pm", "14:00", 150), ("10-11", "10:00", 60),
        ("between 10 and 11:30", "10:00", 90), ("from two to three thirty", "14:00", 90),
        ("2 until 3", "14:00", 60), ("noon to 1", "12:00", 60), ("早上九点一直到中午", "09:00", 180), ("下午1点10分到3点", "13:10", 110),
    ],
)  # fmt: skip
def test_ranges_carry_the_half_of_the_day(text, start, minutes):
    found = values(f"明天 {text}")
    assert (found["start_time"], found["duration_minutes"]) == (start, minutes)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("两点半", "14:30"), ("三点一刻", "15:15"), ("三点三刻", "15:45"), ("差一刻三点", "14:45"),
        ("上午十点", "10:00"), ("下午3点20分", "15:20"), ("晚上8点", "20:00"), ("傍晚6点", "18:00"),
        ("15点", "15:00"), ("3点钟", "15:00"), ("中午12点", "12:00"), ("三点零五分", "15:05"),
        ("at 3", "15:00"), ("3pm", "15:00"), ("3 p.m.", "15:00"), ("half past three", "15:30"),
        ("quarter to four", "15:45"), ("quarter past 2", "14:15"), ("ten past two", "14:10"),
        ("3:45pm", "15:45"), ("15:00", "15:00"), ("11 o'clock", "11:00"), ("noon", "12:00"),
        ("at nine fifteen", "09:15"), ("2ish", "14:00"), ("正午", "12:00"), ("7 in the evening", "19:00"), ("10.30am", "10:30"), ("15:00:00", "15:00"),
    ],
)  # fmt: skip
def test_points_take_the_reading_inside_opening_hours(text, start):
    assert values(f"明天 {text} 开会")["start_time"] == start


@pytest.mark.parametrize("text", ["明天8点", "tomorrow at 8", "明天8点到8点半"])
def test_an_hour_that_fits_twice_is_asked(text):
    (problem,) = read(text).problems
    assert (problem.slot, problem.options) == ("start_time", ("08:00", "20:00"))


def test_of_two_readings_today_the_one_ahead_is_assumed():
    start = read("今天8点，一小时，4个人").slots["start_time"]
    assert (start.value, start.assumed) == ("20:00", True)


@pytest.mark.parametrize(
    ("text", "code"), [("明天25点", "impossible_time"), ("tomorrow 10:75", "impossible_time"), ("明天晚上3点", "ambiguous_time")]
)  # fmt: skip
def test_a_time_that_cannot_be_is_a_problem(text, code):
    assert codes(text)["start_time"] == code
    assert "start_time" not in values(text)


@pytest.mark.parametrize("text", ["快一点的会议室，明天", "要大一点的会议室，明天"])
def test_a_bit_is_not_one_o_clock(text):
    assert "start_time" not in values(text)


def test_midnight_belongs_to_the_next_day():
    found = values("明天晚上12点，1小时，4人")
    assert (found["date"], found["start_time"]) == ("2027-03-10", "00:00")


@pytest.mark.parametrize(
    ("text", "day", "start"),
    [
        ("半小时后", "2027-03-08", "09:45"), ("in 1.5 hours", "2027-03-08", "10:45"),
        ("right now", "2027-03-08", "09:15"), ("马上", "2027-03-08", "09:15"),
        ("两个小时后", "2027-03-08", "11:15"), ("in about half an hour", "2027-03-08", "09:45"),
    ],
)  # fmt: skip
def test_times_from_now_land_on_the_grid(text, day, start):
    found = values(f"{text}, 4个人")
    assert (found["date"], found["start_time"]) == (day, start)


@pytest.mark.parametrize("text", ["下午3点到5点，8个人", "3 to 5 pm, 8 people"])
def test_without_a_date_today_is_assumed_while_the_time_is_ahead(text):
    date = read(text).slots["date"]
    assert (date.value, date.assumed) == ("2027-03-08", True)


@pytest.mark.parametrize("text", ["上午9点，1小时，8个人", "9am for an hour, 8 people"])
def test_without_a_date_a_passed_time_is_asked(text):
    assert codes(text) == {"date": "past_time"}
    assert "date" not in values(text)


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("明天下午", ["12:00", "18:00"]), ("tomorrow afternoon", ["12:00", "18:00"]),
        ("明天上午", ["08:00", "12:00"]), ("明晚", ["18:00", "23:00"]), ("明天中午", ["11:00", "13:00"]),
        ("tomorrow after 3pm", ["15:00", "21:00"]), ("明天5点之前", ["08:00", "17:00"]),
        ("sometime between 2 and 5 tomorrow for an hour", ["14:00", "17:00"]),
    ],
)  # fmt: skip
def test_a_part_of_the_day_is_a_window_and_no_start(text, window):
    found = values(f"{text} 6个人")
    assert found["window"] == window
    assert "start_time" not in found


def test_a_window_already_said_decides_a_bare_hour():
    evening = DraftView(
        "COLLECTING_SLOTS",
        {"date": "2027-03-09", "window": ["18:00", "23:00"]},
        missing=("start_time",),
    )
    assert values("8点", evening)["start_time"] == "20:00"


def test_range_against_duration_is_asked_with_both():
    understanding = read("明天下午3点到5点，开一个小时，8人")
    (problem,) = understanding.problems
    assert (problem.code, problem.options) == ("range_against_duration", (120, 60))
    assert "duration_minutes" not in understanding.slots
    assert understanding.slots["start_time"].value == "15:00"


@pytest.mark.parametrize(
    ("text", "start"), [("明天下午3点，不对，4点", "16:00"), ("tomorrow at 3pm, no, 4pm", "16:00"), ("not 3pm but 4pm tomorrow", "16:00")]
)  # fmt: skip
def test_a_value_taken_back_is_replaced(text, start):
    assert values(text)["start_time"] == start


@pytest.mark.parametrize(
    ("text", "zone", "day", "start"),
    [
        ("tomorrow 9am London time", "Europe/London", "2027-03-09", "17:00"),
        ("明天伦敦时间早上9点", "Europe/London", "2027-03-09", "17:00"),
        ("tomorrow 8pm New York time", "America/New_York", "2027-03-10", "09:00"),
        ("tomorrow 2am UTC", "UTC", "2027-03-09", "10:00"),
    ],
)  # fmt: skip
def test_another_zone_s_clock_becomes_the_rooms_own(text, zone, day, start):
    found = values(text)
    assert (found["input_timezone"], found["date"], found["start_time"]) == (zone, day, start)


@pytest.mark.parametrize(
    ("text", "rule", "first"),
    [
        ("每周三下午3点", {"freq": "WEEKLY", "byday": ["WE"]}, "2027-03-10"),
        ("每周一上午9点", {"freq": "WEEKLY", "byday": ["MO"]}, "2027-03-15"),
        ("每周二和周四10点", {"freq": "WEEKLY", "byday": ["TU", "TH"]}, "2027-03-09"),
        ("每天早上9点", {"freq": "DAILY", "byday": []}, "2027-03-09"),
        ("每两周的周五10点", {"freq": "WEEKLY", "byday": ["FR"], "interval": 2}, "2027-03-12"),
        ("每周三10点到年底", {"freq": "WEEKLY", "byday": ["WE"], "until": "2027-12-31"}, "2027-03-10"),
        ("every Wednesday at 3pm", {"freq": "WEEKLY", "byday": ["WE"]}, "2027-03-10"),
        ("every Mon and Wed at 3pm", {"freq": "WEEKLY", "byday": ["MO", "WE"]}, "2027-03-08"),
        ("every other tuesday 2pm", {"freq": "WEEKLY", "byday": ["TU"], "interval": 2}, "2027-03-09"),
        ("every Friday at 3pm until April 30", {"freq": "WEEKLY", "byday": ["FR"], "until": "2027-04-30"}, "2027-03-12"),
        ("daily at 10 for 5 times", {"freq": "DAILY", "byday": [], "count": 5}, "2027-03-08"),
        ("every weekday at 10am", {"freq": "WEEKLY", "byday": ["MO", "TU", "WE", "TH", "FR"]}, "2027-03-08"),
    ],
)  # fmt: skip
def test_repetitions_keep_their_rule_and_first_day(text, rule, first):
    found = values(text)
    assert (found["recurrence"], found["date"]) == (rule, first)


def test_how_is_the_weather_today_repeats_nothing():
    assert "recurrence" not in values("今天天气不错，订明天3点的会议室")


@pytest.mark.parametrize(
    ("text", "end"), [("结束时间改到四点", "16:00"), ("until 4", "16:00"), ("4点结束", "16:00")]
)
def test_an_end_is_not_a_start(text, end):
    found = values(text, CHOOSING)
    assert found["end_time"] == end
    assert "start_time" not in found


@pytest.mark.parametrize("text", ["改成3点", "make it 3pm", "推迟到三点", "move it to 3"])
def test_moving_the_start_says_nothing_of_the_end(text):
    found = values(text, CHOOSING)
    assert found == {"start_time": "15:00"}


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("延长半小时", ("duration_change", 30)), ("缩短15分钟", ("duration_change", -15)),
        ("extend it by 30 minutes", ("duration_change", 30)), ("半小时 longer", ("duration_change", 30)),
        ("推迟半小时", ("start_change", 30)), ("an hour earlier", ("start_change", -60)),
        ("再加两个人", ("capacity_change", 2)), ("3 more people", ("capacity_change", 3)),
    ],
)  # fmt: skip
def test_changes_by_an_amount_are_signed(text, change):
    assert values(text, CHOOSING) == dict([change])


def test_spans_point_at_the_words():
    understanding = read("订 明天 下午３点 的会议室，8个人🙏", ASKED)
    said = {s: understanding.text[slice(*f.span)] for s, f in understanding.slots.items()}
    assert said == {"date": "明天", "start_time": "下午3点", "capacity": "8个人"}


def test_now_decides_and_nothing_else_does():
    later = MONDAY.replace(day=19)
    assert values("明天3点", now=later)["date"] == "2027-03-20"
