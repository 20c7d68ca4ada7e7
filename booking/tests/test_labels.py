"""Nothing of a conversation reaches operators as a bare code."""

import re
from pathlib import Path
from typing import get_args

import pytest

from booking.agent import graph, labels
from booking.agent.planner import LABELS
from booking.agent.spec import SPEC
from booking.agent.state import SHOWN_SLOTS, Phase, fresh_dialogue
from booking.models.agreements import Status

AGENT = Path(labels.__file__).parent
EFFECT = re.compile(r"\.effect\(\s*\"(\w+)\"")


def effects() -> set[str]:
    """The names of effects that stand in the code, and those that a change bears."""
    named = {
        name for file in AGENT.glob("*.py") for name in EFFECT.findall(file.read_text("utf-8"))
    }
    return {*named, "move_booking", "cancel_booking"}


def test_there_are_words_for_every_code():
    nodes = set(graph.build_graph().nodes)
    codes = {
        *(f"phase:{each}" for each in get_args(Phase)),
        *(f"next:{each}" for each in nodes),
        *(f"class:{each}" for each in LABELS),
        *(f"effect:{each}" for each in effects()),
        *(f"status:{each}" for each in Status.values),
        *(f"assumed:{each}" for each in SHOWN_SLOTS),
        *(f"dialogue.{key}" for key in fresh_dialogue("en")),
        *(f"slots.{slot}" for slot in SHOWN_SLOTS),
    }
    assert len(nodes) > 8
    assert {"book_room", "check_in"} <= effects()
    assert sorted(codes - set(SPEC.words)) == []
    stepped = {step.node for step in SPEC.steps}
    assert nodes - stepped - set(SPEC.words) == set()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_all_words_are_in_both_languages(language):
    assert [key for key, words in SPEC.words.items() if not words.get(language)] == []
