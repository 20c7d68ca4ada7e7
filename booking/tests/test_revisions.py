"""What a message changed: assumed, put right, or simply new."""

import pytest

from booking.agent import revisions
from booking.agent.state import reset


def state(phase="COLLECTING_SLOTS", assumed=(), **slots):
    made = reset("en")
    return {
        **made,
        "slots": slots,
        "dialogue": {**made["dialogue"], "phase": phase, "assumed": list(assumed)},
    }


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (state("IDLE"), state(date="a", capacity=3), {}),
        (
            state("IDLE"),
            state(date="a", assumed=["date", "recurrence"]),
            {"assumed": ["date"]},
        ),
        (state(date="a"), state(date="a", capacity=3), {}),
        (state(date="a"), state(date="b"), {"revised": ["date"]}),
        (
            state(date="a", assumed=["date"]),
            state(date="b"),
            {"revised": ["date"], "overturned": ["date"]},
        ),
        (state(date="a", assumed=["date"]), state(date="a", assumed=["date"]), {}),
        (
            state(start_time="a", assumed=["start_time"]),
            state(start_time="b", assumed=["start_time"]),
            {"assumed": ["start_time"], "revised": ["start_time"], "overturned": ["start_time"]},
        ),
        (state("BOOKED", date="a"), state(date="b"), {}),
        (state(date="a", window=1), state(date="a", window=2), {}),
    ],
)
def test_a_slot_is_revised_only_where_it_was_known(before, after, found):
    assert revisions.noted(revisions.between(before, after)) == found
