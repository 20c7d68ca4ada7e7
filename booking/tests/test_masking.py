"""What operators see of a conversation without the permission to read it raw."""

import pytest

from booking.agent.masking import MASK, masked
from booking.agent.state import reset
from booking.tests import conversing

NOW = "2027-03-01T09:00:00+08:00"  # a Monday
TITLE = "Layoff plan"
FIXTURE = {
    "bookings": [
        {"id": 1, "room": "B201", "start": "2027-03-02T14:00", "end": "2027-03-02T15:30",
         "organizer": "u1001", "title": TITLE},
        {"id": 2, "room": "A301", "start": "2027-03-03T14:00", "end": "2027-03-03T15:30",
         "organizer": "u1001", "title": "Review"},
    ],
    "series": [
        {"id": 7, "room": "A302", "start": "2027-03-03T09:00", "minutes": 30, "title": "晨会",
         "rrule": "FREQ=WEEKLY;BYDAY=WE;UNTIL=20270331T150000Z", "organizer": "u1001"},
    ],
}  # fmt: skip
WISH = f"tomorrow 10am, one hour, 4 people, titled “{TITLE}”"


@pytest.mark.parametrize(
    "texts",
    [
        (f"a room titled “{TITLE}”",),
        (WISH,),
        (WISH, "the first one"),
        (WISH, "the first one", "yes"),
        (f"cancel the {TITLE}",),
        (f"move the {TITLE} to 25:00",),
        (f"move the {TITLE} to Friday",),
        (f"cancel the {TITLE} on Friday",),
        ("cancel my meeting",),
        ("cancel my 晨会",),
        ("cancel my 晨会", "all"),
        (f"what is the {TITLE} about?",),
    ],
)
async def test_a_title_is_in_no_part_of_what_is_shown(transactional_db, texts):
    played, _world = await conversing.talk(*texts, now=NOW, fixture=FIXTURE)
    state = {"slots": played.slots, "dialogue": played.dialogue, "result": played.result}

    shown = str(masked({**state, "said": {"messages": [{"text": texts[-1]}]}}))

    for title in (TITLE, "Review", "晨会"):
        assert title not in shown
    assert played.phase in shown


def test_what_is_no_persons_words_stays():
    state = reset("en")
    state["slots"] = {"date": "2027-03-02", "title": "x"}

    assert masked(state)["slots"] == {"date": "2027-03-02", "title": MASK}
    assert masked(state)["dialogue"] == state["dialogue"]
    assert state["slots"]["title"] == "x"
