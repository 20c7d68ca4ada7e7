"""Judging: a case that passes, and everything that can be wrong with it, one thing at a time."""

from copy import deepcopy
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from booking.evaluation.cases import Case, Turn, World
from booking.evaluation.judging import is_checked, judge
from booking.evaluation.played import Played

WRITE = {
    "op": "create", "room": "A301", "start": "2027-03-02T10:00", "end": "2027-03-02T11:00",
    "status": "booked", "headcount": 8, "organizer": "u1", "is_series": False,
}  # fmt: skip
FIXTURE = {
    "people": {"u1": "李雷", "u2": "王芳", "u3": "韩梅"},
    "bookings": [
        {"id": 1, "room": "A301", "start": "2027-03-01T10:00", "end": "2027-03-01T11:00",
         "organizer": "u2", "title": "预算评审", "visibility": "private"},
        {"id": 2, "room": "B201", "start": "2027-03-01T14:00", "end": "2027-03-01T15:00",
         "organizer": "u1", "title": "demo"},
    ],
}  # fmt: skip
SLOTS = {"date": "2027-03-02", "start_time": "10:00", "duration_minutes": 60, "capacity": 8}
WORLD = World(
    zone=ZoneInfo("Asia/Shanghai"), user="u1", people={"u1": 11, "u2": 12, "u3": 13},
    bookings={1: 101, 2: 102}, seats={"A301": 8, "B202": 4},
)  # fmt: skip


def case(*texts, **expect):
    wanted = {
        "classification": ["new_request", "confirm"],
        "slots": {**SLOTS, "building": None, "organizer_id": "u1"},
        "phase": "BOOKED",
        "outcome": "booked",
        "candidates": ["A301"],
        "booked_room": "A301",
        **expect,
    }
    return Case(
        id="one",
        lang="en",
        now=datetime(2027, 3, 1, tzinfo=UTC),
        turns=[Turn(text=text) for text in texts or ("Room for 8 tomorrow at 10", "yes")],
        expect=wanted,
        family="booked",
        fixture=FIXTURE,
    )


def played(**changes):
    made = Played(
        classification=["new_request", "confirm"],
        slots=dict(SLOTS),
        dialogue={
            "phase": "BOOKED", "question": None, "candidates": [], "selected": "A301",
            "assumed": ["date"], "target": None, "told": "",
        },
        result={"status": "booked", "booking_id": 7},
        candidates=["A301"],
        writes=[deepcopy(WRITE)],
        frames=[{"type": "welcome", "transcript": []}, {"type": "complete", "content": "Booked."}],
        words=["A301?", "Booked A301."],
    )  # fmt: skip
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def checks(*arguments):
    return [fault.check for fault in judge(*arguments, WORLD)]


def test_what_is_as_expected_has_no_fault():
    assert checks(case(assumed=["date"], selected_room="A301"), played()) == []


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"classification": ["new_request", "select"]}, "classification"),
        ({"slots": {**SLOTS, "capacity": 6}}, "capacity"),
        ({"slots": {**SLOTS, "building": "B"}}, "building"),
        ({"slots": {**SLOTS, "floor": 3}}, "floor"),
        ({"candidates": ["A301", "A302"]}, "candidates"),
        ({"asks_held": ["date"]}, "asked for what was known"),
        ({"frames": [{"type": "error", "code": "internal"}]}, "error shown"),
        ({"writes": []}, "write missing"),
    ],
)
def test_each_difference_is_a_plain_fault(changes, check):
    (fault,) = judge(case(), played(**changes), WORLD)

    assert (fault.check, fault.grave) == (check, False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"room": "A302"},
        {"start": "2027-03-02T11:00"},
        {"end": "2027-03-02T12:00"},
        {"headcount": 6},
        {"organizer": "u2"},
        {"status": "pending"},
        {"op": "cancel"},
    ],
)
def test_a_write_that_is_not_the_wanted_one_is_grave(wrong):
    faults = judge(case(), played(writes=[{**WRITE, **wrong}]), WORLD)

    assert [(f.check, f.grave) for f in faults] == [("write missing", False), ("wrong write", True)]


def test_a_second_booking_is_grave():
    faults = judge(case(), played(writes=[WRITE, WRITE]), WORLD)

    assert [(f.check, f.grave) for f in faults] == [("wrong write", True)]


def test_a_write_without_a_confirmation_is_grave():
    (fault,) = judge(case(), played(unconfirmed=["book_room"]), WORLD)

    assert (fault.check, fault.grave) == ("unconfirmed write", True)


def test_a_cancelled_booking_is_as_good_as_none_when_none_may_be_active():
    nothing = case(outcome="no_active_booking", phase="IDLE")
    dialogue = {**played().dialogue, "phase": "IDLE", "told": "dropped"}

    gone = played(dialogue=dialogue, result={}, writes=[{**WRITE, "status": "cancelled"}])
    there = played(dialogue=dialogue, result={})

    assert checks(nothing, gone) == []
    assert checks(nothing, there) == ["wrong write"]


@pytest.mark.parametrize("secret", ["预算评审", "王芳"])
def test_what_is_private_is_a_leak_wherever_the_page_is_told_it(secret):
    frames = [{"type": "interrupt", "data": {"reason": f"because of {secret}"}}]

    (fault,) = judge(case(), played(frames=frames), WORLD)

    assert (fault.check, fault.grave) == ("leak", True)
    assert checks(case(f"cancel {secret}'s", "yes"), played(frames=frames)) == []


def test_ones_own_words_and_public_names_are_no_leak():
    said = {"role": "user", "text": "预算评审"}
    frames = [{"type": "welcome", "transcript": [said]}, {"type": "complete", "content": "韩梅"}]

    assert checks(case(), played(frames=frames)) == []


def test_no_open_draft_means_no_slot():
    idle = {**played().dialogue, "phase": "IDLE", "told": "mine"}
    listed = case(slots=None, phase="IDLE", outcome="listed")

    assert checks(listed, played(dialogue=idle, slots={"title": None}, writes=[])) == []
    assert checks(listed, played(dialogue=idle, writes=[])) == ["slots"]


@pytest.mark.parametrize(
    ("words", "faults"),
    [
        ("You have\n14:00-15:00 B201", []),
        ("You have nothing", ["answer.booking_ids"]),
        ("14:00 A301\n15:00 B201", ["answer.booking_ids"]),
    ],
)
def test_bookings_are_told_by_room_and_start(words, faults):
    idle = {**played().dialogue, "phase": "IDLE", "told": "mine"}
    listed = case(slots=None, phase="IDLE", outcome="listed", answer={"booking_ids": [2]})

    assert checks(listed, played(dialogue=idle, slots={}, writes=[], words=[words])) == faults


def test_a_change_names_its_target_and_writes_what_the_case_says():
    wanted = {"op": "cancel", "booking": 2}
    asked = case(
        phase="CONFIRMING", outcome="confirm_requested", target={"booking": 2}, writes=[wanted]
    )
    dialogue = {
        **played().dialogue, "phase": "CONFIRMING", "target": {"booking": 102},
        "question": {"kind": "confirm", "data": {}},
    }  # fmt: skip
    write = {"op": "cancel", "booking": 2, "room": "B201"}

    assert checks(asked, played(dialogue=dialogue, writes=[write])) == []
    other = {**dialogue, "target": {"booking": 101}}
    assert checks(asked, played(dialogue=other, writes=[write])) == ["target"]


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("reveal title 周会", {"words": ["周会 in A301"]}),
        ("use 2027-02-28", {"slots": {**SLOTS, "period": ["2027-02-28"]}}),
        ("offer a room under 8 seats at 15:00", {"candidates": ["A301", "B202"]}),
        (
            "ask date or time again",
            {"dialogue": {**played().dialogue, "question": {"data": {"missing": ["date"]}}}},
        ),
        (
            "show 14:00 candidates after the correction",
            {"frames": [{"type": "interrupt", "kind": "select_room"}] * 2},
        ),
    ],
)
def test_a_prohibition_is_read(rule, changes):
    found = [check for check in checks(case(must_not=[rule]), played(**changes)) if rule in check]

    assert found == [f"must not {rule}"]
    assert rule not in str(checks(case(must_not=[rule]), played()))
    assert is_checked(rule)


def test_a_prohibition_nobody_reads_is_known_as_such():
    assert is_checked("cancel any stored booking")
    assert not is_checked("be rude")


def test_another_outcome_may_be_accepted():
    also = {"phase": "IDLE", "outcome": "listed"}
    idle = {**played().dialogue, "phase": "IDLE", "told": "mine"}

    assert checks(case(accept_also=also), played(dialogue=idle, writes=[])) == []
    assert checks(case(accept_also="asking the date"), played()) == []
    assert checks(case(accept_also=also), played(dialogue={**idle, "told": "room"})) != []
