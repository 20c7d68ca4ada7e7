"""What an operator may change in a fork, what a state has to be, and what acts would answer."""

import pytest

from booking import demo
from booking.agent import edits
from booking.agent.state import fresh_dialogue, reset


def confirming():
    slots = {"date": "2026-12-02", "start_time": "10:00", "duration_minutes": 60, "capacity": 6}
    dialogue = {
        **fresh_dialogue("zh"),
        "phase": "CONFIRMING",
        "assumed": ["capacity", "date"],
        "offer": {"intent": "i"},
        "candidates": [{"room": "A302"}],
        "selected": "A302",
    }
    return {"slots": {**slots, "window": ["09:00", "12:00"]}, "dialogue": dialogue, "result": {}}


def test_a_changed_wish_is_searched_for_and_what_was_offered_is_void():
    edit = edits.edit(confirming(), {"slots.capacity": 2})

    assert edit.after == "understand"
    assert edit.update["slots"]["capacity"] == 2
    said = edit.update["dialogue"]
    assert (said["next"], said["phase"], said["language"]) == ("search", "COLLECTING_SLOTS", "zh")
    assert (said["offer"], said["selected"], said["candidates"]) == (None, None, [])
    assert said["assumed"] == ["date"]


def test_an_emptied_slot_is_asked_for():
    edit = edits.edit(confirming(), {"slots.date": None, "slots.start_time": "11:00"})

    assert "date" not in edit.update["slots"]
    assert "window" not in edit.update["slots"]
    assert edit.update["dialogue"]["next"] == "clarify"
    assert edit.update["dialogue"]["asks"] == ["date"]


def test_an_edit_leaves_the_state_it_was_given_alone():
    state = confirming()

    edits.edit(state, {"slots.capacity": 2})

    assert state == confirming()


@pytest.mark.parametrize("state", [{}, {"said": {}}, reset("en"), confirming()])
def test_states_the_agent_makes_are_valid(state):
    assert edits.validate(state) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"phase": "ELSEWHERE"}, "unknown"),
        ({"phase": "CONFIRMING", "offer": None, "target": None}, "nothing to confirm"),
    ],
)
def test_states_it_could_not_go_on_from_are_named(change, words):
    state = confirming()
    [wrong] = edits.validate({**state, "dialogue": {**state["dialogue"], **change}})

    assert words in wrong


def test_a_key_that_is_missing_is_named():
    state = confirming()
    del state["dialogue"]["wants"]

    assert edits.validate(state) == ["dialogue.wants is missing"]


def test_acts_would_answer_as_they_do():
    offer = {"room": "A302", "starts_at": "s", "ends_at": "e", "headcount": 6}

    booked = edits.simulate("book_room", offer)
    cancelled = edits.simulate("cancel_booking", {**offer, "booking": 7})

    assert (booked["booking_id"], booked["room_id"], booked["status"]) == (None, "A302", "booked")
    assert (cancelled["booking_id"], cancelled["status"]) == (7, "cancelled")
    assert booked["simulated"] is True


def test_choices_are_the_houses_in_the_readers_language(db):
    demo.load_places(years=(2026,))
    fields = {field.path: field for field in edits.FIELDS}

    rooms = dict(fields["slots.room"].choices("zh"))
    features = {
        language: dict(fields["slots.features"].choices(language)) for language in ("en", "zh")
    }

    assert "A302" in rooms
    assert features["en"].keys() == features["zh"].keys()
    assert features["en"] != features["zh"]
