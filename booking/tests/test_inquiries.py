"""Questions by chat: what is told, of what, and never what is private."""

import pytest

from booking.tests import conversing
from booking.tests.conversing import outcome

NOW = "2027-03-01T09:00:00+08:00"  # a Monday
FIXTURE = {
    "bookings": [
        {"id": 1, "room": "B201", "start": "2027-03-02T14:00", "end": "2027-03-02T15:30",
         "organizer": "u1001", "title": "Pitch", "headcount": 8},
        {"id": 2, "room": "A305", "start": "2027-03-02T14:00", "end": "2027-03-02T16:00",
         "organizer": "u2002", "title": "Salary talk", "visibility": "private", "headcount": 11},
        {"id": 3, "room": "A302", "start": "2027-03-02T10:00", "end": "2027-03-02T11:00",
         "organizer": "u2003", "title": "Audit"},
        {"id": 4, "room": "A301", "start": "2027-03-09T10:00", "end": "2027-03-09T11:00",
         "organizer": "u1001", "title": "Review"},
    ],
    "series": [
        {"id": 7, "room": "A302", "start": "2027-03-03T09:00", "minutes": 30, "title": "晨会",
         "rrule": "FREQ=WEEKLY;BYDAY=WE;UNTIL=20270331T150000Z", "organizer": "u1001"},
    ],
}  # fmt: skip


@pytest.fixture
def talk(transactional_db):
    return conversing.talker(FIXTURE, now=NOW)


@pytest.mark.parametrize(
    ("words", "told", "untold"),
    [
        ("what do I have this week?", ["Pitch", "晨会"], ["Review"]),
        ("我下周有什么会", ["Review", "晨会"], ["Pitch"]),
        ("what's my next meeting?", ["Pitch"], ["Review", "晨会"]),
        ("am I busy tomorrow at 2?", ["Pitch"], ["晨会"]),
        ("我明天下午有会吗", ["Pitch"], ["Review"]),
        ("我订了哪些会议室？", ["Pitch", "Review", "每周三"], []),
    ],
)
async def test_ones_own_bookings_are_told_for_the_time_that_was_asked_about(
    talk, words, told, untold
):
    played = await talk(words)

    assert (played.phase, outcome(played)) == ("IDLE", "listed")
    assert [each for each in told if each not in played.words[-1]] == []
    assert [each for each in untold if each in played.words[-1]] == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("who has A302 tomorrow at 10?", ["10:00–11:00", "韩梅", "Audit"]),
        ("A302明天有空吗", ["10:00–11:00", "08:00–10:00", "11:00–21:00"]),
        ("who has A305 tomorrow afternoon?", ["14:00–16:00 taken", "16:00–21:00"]),
        ("A305明天下午3点谁在用", ["14:00–16:00 已被占用"]),
        ("is A301 free tomorrow at 2?", ["A301 is free"]),
        ("who has A101?", ["no room A101"]),
        ("why is A301 not possible at 6am tomorrow?", ["08:00", "nearest possible"]),
        ("does A305 have a whiteboard?", ["No", "seats 12"]),
        ("A301有投影吗", ["有", "8 人"]),
    ],
)
async def test_a_room_is_told_about(talk, words, told):
    played = await talk(words)

    assert (played.phase, outcome(played)) == ("IDLE", "answered")
    assert [each for each in told if each not in played.words[-1]] == []


async def test_what_is_free_can_be_taken_by_the_words_that_are_offered(talk):
    played = await talk("what rooms are free tomorrow 2-4pm for 6 people")
    option = played.frames[-1]["data"]["options"][0]

    after = await talk("what rooms are free tomorrow 2-4pm for 6 people", option, "6 people", "yes")

    assert "A302" in option
    assert after.phase == "BOOKED"
    assert after.result["room_id"] == "A302"


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_free_starts_are_told_day_by_day(talk, language):
    words = {"en": "any free rooms next week?", "zh": "下周哪天有空房"}[language]
    played = await talk(words)

    assert outcome(played) == "answered"
    assert len(played.words[-1].splitlines()) == 7  # five working days between two lines


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("why is A305 not there?", ["14:00–16:00 taken", "nearest possible", "13:00"]),
        ("why is A302 not there?", ["A302 seats 6"]),
        ("为什么不能订B801", ["需要审批"]),
    ],
)
async def test_why_not_a_room_names_the_reason_and_keeps_the_draft(talk, words, told):
    played = await talk("tomorrow 2pm, one hour, 8 people", words)

    assert played.phase == "AWAITING_SELECTION"
    assert played.slots["capacity"] == 8
    assert [each for each in told if each not in played.words[-1]] == []


@pytest.mark.parametrize(
    ("words", "options", "slot"),
    [
        ("tomorrow at 8, one hour, 4 people", ["08:00", "20:00"], "start_time"),
        ("明天下午3点到5点，开一个小时，8人", ["2小时", "1小时"], "duration_minutes"),
    ],
)
async def test_readings_that_are_asked_about_can_be_tapped(talk, words, options, slot):
    asked = await talk(words)
    assert asked.dialogue["question"]["data"]["options"] == options

    for option in options:
        taken = await talk(words, option)
        assert taken.phase == "AWAITING_SELECTION"
        assert taken.slots[slot] is not None


@pytest.mark.parametrize(
    ("words", "told"),
    [("谢谢", "不客气"), ("hello", "Hello"), ("help", "check you in"), ("blah foo", "understand")],
)
async def test_small_talk_is_answered_as_such(talk, words, told):
    played = await talk(words)

    assert played.phase == "IDLE"
    assert told in played.words[-1]


ASKED = (
    "who has A305 tomorrow at 3pm?", "A305明天有空吗", "why is A305 not there?", "is A305 free now",
    "who has A305 this week?", "what rooms are free tomorrow at 2pm?", "cancel 王芳's meeting in A305",
    "book A305 tomorrow 2pm to 3pm for 8", "cancel booking 2", "cancel the Salary talk",
    "move the Pitch to A305", "check me in to the Salary talk", "every Tuesday 2pm for 3 weeks, 8 people, 1 hour, A305",
)  # fmt: skip


@pytest.mark.parametrize("words", ASKED)
async def test_nothing_private_is_in_anything_a_conversation_leaves(talk, words):
    played = await talk("tomorrow 2pm, one hour, 8 people", words)

    # What the person said is theirs; everything else came from us.
    said = [frame for frame in played.frames if frame["type"] not in {"said", "accepted"}]
    left = str([said, played.dialogue, played.result, played.words]).replace(words, "")
    for secret in ("Salary talk", "王芳", "11 people", "11 人"):
        if secret not in words:
            assert secret not in left


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        ("what's free tomorrow afternoon?", "When, and how many people?"),
        ("what's free tomorrow afternoon for 8 people?", "When?"),
    ],
)
async def test_what_was_said_is_not_asked_for_again(talk, words, asks):
    played = await talk(words)

    assert played.words[-1].endswith(f"\n{asks}")
