"""Messages become a draft. Also the invariants that hold for any words at all."""

import pytest

from booking.agent.understand import DraftView, apply, recurrence
from booking.agent.understand.fold import Fold
from booking.agent.understand.normalise import MESSAGE_LIMIT, normalise

from .office import ASKED, BOOKED, CHOOSING, CONFIRMING, FULL, IDLE, MONDAY, UNASKED, read

DRAFTS = (IDLE, UNASKED, ASKED, CHOOSING, CONFIRMING, BOOKED)


def talk(*texts: str, slots=None) -> Fold:
    """Fold messages one after another, as the agent does, each seen with the draft before it."""
    fold = Fold(dict(slots or {}), (), (), (), ())
    for text in texts:
        phase = "COLLECTING_SLOTS" if fold.slots else "IDLE"
        draft = DraftView(phase, fold.slots, missing=fold.missing, assumed=fold.assumed)
        fold = apply(fold.slots, read(text, draft), now=MONDAY, assumed=fold.assumed)
    return fold


@pytest.mark.parametrize(
    ("texts", "slots"),
    [
        (("我想订个会议室", "明天", "下午两点半", "开一个半小时", "7个人"),
         {"date": "2027-03-09", "start_time": "14:30", "duration_minutes": 90, "capacity": 7}),
        (("need a room tomorrow", "from 2 to 3:30 in the afternoon", "six of us"),
         {"date": "2027-03-09", "start_time": "14:00", "duration_minutes": 90, "capacity": 6}),
        (("下午三点", "明天", "8个人", "一小时"),
         {"date": "2027-03-09", "start_time": "15:00", "duration_minutes": 60, "capacity": 8}),
        (("明天下午3点，一小时，5人", "改成4点"),
         {"date": "2027-03-09", "start_time": "16:00", "duration_minutes": 60, "capacity": 5}),
        (("明天下午2点，一小时，5人", "结束时间改到四点"),
         {"date": "2027-03-09", "start_time": "14:00", "duration_minutes": 120, "capacity": 5}),
        (("tomorrow 2pm for an hour, 5 people", "until 4"),
         {"date": "2027-03-09", "start_time": "14:00", "duration_minutes": 120, "capacity": 5}),
        (("tomorrow until 4pm, 5 people", "one hour"),
         {"date": "2027-03-09", "start_time": "15:00", "duration_minutes": 60, "capacity": 5}),
        (("明天4点结束，5个人", "下午两点半开始"),
         {"date": "2027-03-09", "start_time": "14:30", "duration_minutes": 90, "capacity": 5}),
        (("明天下午2点，一小时，5人", "延长半小时", "再加两个人", "晚半小时"),
         {"date": "2027-03-09", "start_time": "14:30", "duration_minutes": 90, "capacity": 7}),
        (("明天2点 1小时 5人 C座 要白板", "重新来：后天上午9点半，4个人，半小时"),
         {"date": "2027-03-10", "start_time": "09:30", "duration_minutes": 30, "capacity": 4}),
        (("明天2点 1小时 5人 投影 白板", "不要投影", "哪栋都行"),
         {"date": "2027-03-09", "start_time": "14:00", "duration_minutes": 60, "capacity": 5, "features": ["whiteboard"]}),
        (("tomorrow 9am London time, one hour, 6 people", "make it 3pm"),
         {"date": "2027-03-09", "start_time": "15:00", "duration_minutes": 60, "capacity": 6}),
    ],
)  # fmt: skip
def test_conversations_fold_to_their_slots(texts, slots):
    assert talk(*texts).slots == slots


def test_a_window_gives_way_to_the_start_and_opens_it_again():
    assert talk("明天下午", "3点").slots == {"date": "2027-03-09", "start_time": "15:00"}
    reopened = talk("明天下午3点 1小时 5人", "改到上午吧")
    assert reopened.slots["window"] == ["08:00", "12:00"]
    assert reopened.missing == ("start_time",)


def test_what_cannot_be_used_is_asked_one_by_one():
    fold = talk("订-3个人的会议室，明天25点，时长0分钟")
    assert fold.slots == {"date": "2027-03-09"}
    assert fold.missing == ("start_time", "duration_minutes", "capacity")


def test_a_correction_that_cannot_be_opens_the_slot_instead_of_keeping_the_old():
    fold = talk("明天下午2点，一小时，5人", "改成25点")
    assert fold.missing == ("start_time",)


def test_a_series_waits_for_its_hour_to_find_its_first_day():
    fold = talk("每周一例会，8个人", "上午9点，一小时")
    assert fold.slots["date"] == "2027-03-15"
    assert "date" in fold.assumed


@pytest.mark.parametrize(
    "text",
    [
        "我今天订了哪些会议室",
        "天气怎么样",
        "你好",
        "is C101 free now?",
        "取消产品评审",
        "确认",
        "我到了",
    ],
)
def test_questions_and_commands_leave_the_draft_alone(text):
    fold = apply(FULL, read(text, CHOOSING), now=MONDAY)
    assert (fold.slots, fold.changed) == (FULL, ())


@pytest.mark.parametrize("text", ["算了，不订了", "cancel that"])
def test_dropping_the_draft_drops_every_slot(text):
    assert apply({**FULL, "building": "C"}, read(text, CHOOSING), now=MONDAY).slots == {}


def test_a_new_request_after_a_booking_inherits_nothing():
    fold = apply({**FULL, "room": "C101", "title": "x"}, read("明天3点，4个人", BOOKED), now=MONDAY)
    assert set(fold.slots) == {"date", "start_time", "capacity"}


@pytest.mark.parametrize(
    ("rule", "start", "days"),
    [
        ({"freq": "WEEKLY", "byday": ["MO"], "until": "2027-03-31"}, "2027-03-15", ["2027-03-15", "2027-03-22", "2027-03-29"]),
        ({"freq": "WEEKLY", "byday": ["TU", "TH"], "count": 3}, "2027-03-09", ["2027-03-09", "2027-03-11", "2027-03-16"]),
        ({"freq": "WEEKLY", "byday": ["FR"], "interval": 2, "count": 2}, "2027-03-12", ["2027-03-12", "2027-03-26"]),
        ({"freq": "DAILY", "byday": [], "count": 2}, "2027-03-09", ["2027-03-09", "2027-03-10"]),
    ],
)  # fmt: skip
def test_a_rule_gives_its_days(rule, start, days):
    begin = MONDAY.date().fromisoformat(start)
    assert [day.isoformat() for day in recurrence.days_from(rule, begin)] == days


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("１４：３０－１５：３０", "14:30-15:30"), ("8人🙏👍🏽", "8人"), ("a\u200bb", "ab"), ("3 p.m.", "3 pm"),
        ("1½ hours", "1.5 hours"), ("a\x00b\tc", "a b c"), ("“x”", '"x"'), ("3️⃣", "3"),
    ],
)  # fmt: skip
def test_texts_are_normalised(raw, text):
    assert normalise(raw).text == text


def test_the_rest_of_a_long_message_is_a_problem_and_not_a_silence():
    understanding = read("明天3点 " + "，8个人" * 300)
    assert len(understanding.text) == MESSAGE_LIMIT
    assert "too_long" in {problem.code for problem in understanding.problems}


@pytest.mark.parametrize("text", ["明天3点" * 12, "2pm " * 20, "周一9点到10点" * 5])
def test_many_times_in_a_clause_are_asked_and_not_picked(text):
    understanding = read(text)
    assert "start_time" not in understanding.slots
    assert {p.code for p in understanding.problems} & {"too_many_times", "too_long"}


@pytest.mark.parametrize(
    ("text", "day"), [("推迟两天", "2027-03-11"), ("postpone it by a week", "2027-03-16")]
)
def test_a_change_by_days_moves_the_date_and_keeps_the_hour(text, day):
    understanding = read(text, CHOOSING)
    fold = apply(FULL, understanding, now=MONDAY)
    assert (fold.slots["date"], fold.slots["start_time"]) == (day, "14:00")
