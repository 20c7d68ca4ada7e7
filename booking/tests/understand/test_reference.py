"""Which stored booking is meant, how much of a series, and what a change asks for."""

import pytest

from booking.agent.understand import DraftView

from .office import BOOKED, read


@pytest.mark.parametrize(
    ("text", "day", "scope"),
    [
        ("把下周三的晨会改到下午2点", "2027-03-17", "this"), ("取消晨会", None, None), ("cancel my morning meeting", None, None),
        ("取消晨会，就这一次", None, "this"), ("cancel only this Wednesday's morning meeting", "2027-03-10", "this"),
        ("move the morning meeting on 17 March to 9:30, just that one", "2027-03-17", "this"),
        ("取消晨会，这次以及以后的", None, "following"), ("move this and all following morning meetings to Thursday", None, "following"),
        ("cancel my morning meeting from next week on", "2027-03-15", "following"), ("把晨会从下周开始改到周四", "2027-03-15", "following"),
        ("从3月17号起取消晨会", "2027-03-17", "following"), ("cancel the morning meeting starting March 17", "2027-03-17", "following"),
        ("今后晨会都改到九点半", None, "following"), ("把晨会都改到九点半", None, "all"), ("取消整个系列的晨会", None, "all"),
        ("cancel the whole series of morning meetings", None, "all"), ("把每周三的晨会改成每周四", None, "all"),
        ("move my morning meeting to 10 every week", None, "all"), ("cancel all my morning meetings", None, "all"),
    ],
)  # fmt: skip
def test_how_much_of_a_series_is_meant(text, day, scope):
    ref = read(text).booking_ref
    assert (ref.series_ids, ref.date, ref.scope) == ((9,), day, scope)


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("就这一次", "this"), ("only this one", "this"), ("this one", "this"), ("这次以及以后的", "following"),
        ("this and the following", "following"), ("all of them", "all"), ("全部", "all"), ("the whole series", "all"),
    ],
)  # fmt: skip
def test_an_open_question_of_scope_is_answered(text, scope):
    asked = DraftView("COLLECTING_SLOTS", {}, missing=("scope",))
    assert read(text, asked).slots["scope"].value == scope


@pytest.mark.parametrize(
    ("text", "bookings", "slots"),
    [
        ("延长明天的产品评审半小时", (71,), {"duration_change": 30}), ("推迟产品评审到四点", (71,), {"start_time": "16:00"}),
        ("请帮我改产品评审到后天", (71,), {"date": "2027-03-10"}), ("把产品评审换到莲花厅", (71,), {"room": "C101"}),
        ("move my 3pm tomorrow to D308", (71,), {"room": "D308"}), ("move my budget planning to 11", (72,), {"start_time": "11:00"}),
        ("shorten the budget planning to 30 minutes", (72,), {"duration_minutes": 30}),
        ("change product review to 12 people", (71,), {"capacity": 12}), ("产品评审改成12个人", (71,), {"capacity": 12}),
        ("extend my product review until 5", (71,), {"end_time": "17:00"}),
        ("把周三十点的会提前一小时", (72,), {"start_change": -60}), ("postpone booking 72 by a day", (72,), {"start_change": 1440}),
        ("make the morning meeting every other week", (), {"recurrence": {"freq": "WEEKLY", "byday": [], "interval": 2}}),
        ("把每周三的晨会改成每周四", (), {"recurrence": {"freq": "WEEKLY", "byday": ["TH"]}}),
        ("move my morning meeting to 10 every week", (), {"start_time": "10:00"}),
        ("改一下明天的会", (71,), {}), ("I want to change the product review", (71,), {}),
        ("move my 3pm meeting tomorrow", (71,), {}), ("shorten the budget planning", (72,), {}),
    ],
)  # fmt: skip
def test_a_change_keeps_what_it_names_apart_from_what_it_asks(text, bookings, slots):
    understanding = read(text)
    assert understanding.acts == ("modify_booking",)
    assert understanding.booking_ref.booking_ids == bookings
    assert {slot: found.value for slot, found in understanding.slots.items()} == slots


@pytest.mark.parametrize("text", ["cancel my next meeting", "取消我的下一个会"])
def test_the_next_one_is_marked(text):
    assert read(text).booking_ref.upcoming


@pytest.mark.parametrize("text", ["取消这个预订", "cancel it"])
def test_the_booking_just_made_is_meant_when_none_is_named(text):
    assert read(text, BOOKED).booking_ref.last


def test_an_assumed_day_names_no_booking():
    assert read("cancel the morning meeting").booking_ref.date is None


def test_an_hour_later_moves_the_booking_and_says_nothing_about_now():
    heard = read("move the budget planning an hour later")

    assert heard.booking_ref.booking_ids == (72,)
    assert {slot: found.value for slot, found in heard.slots.items()} == {"start_change": 60}


def test_moving_it_back_an_hour_may_be_either_way_and_is_asked():
    heard = read("move budget planning back an hour")

    assert "start_change" not in heard.slots
    assert "duration_minutes" not in heard.slots
    assert [problem.code for problem in heard.problems] == ["ambiguous_time"]


@pytest.mark.parametrize(
    ("text", "act", "slots"),
    [
        ("can you push my product review by an hour", "modify_booking", {"start_change": 60}),
        ("add two people to the product review", "modify_booking", {"capacity_change": 2}),
        ("产品评审换个会议室", "modify_booking", {}),
        ("产品评审不开了", "cancel_booking", {}),
    ],
)
def test_more_words_that_change_a_named_booking(text, act, slots):
    heard = read(text)

    assert heard.acts == (act,)
    assert heard.booking_ref.booking_ids == (71,)
    assert {s: f.value for s, f in heard.slots.items() if s != "title"} == slots
