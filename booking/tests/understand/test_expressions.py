"""The project's own expressions: messages as people type and say them, and what they mean.

A case gives the text, the state it is said in, and every slot that it fills; `ask` names the slots
that are asked about and why. The expected values follow from the rules of understanding and were
written before the code that reads them ran. Now is Monday 8 March 2027, 09:20, if a case names none.
"""

import json
from datetime import datetime
from pathlib import Path
from statistics import median
from time import process_time

import pytest

from .office import ASKED, BOOKED, CHOOSING, CONFIRMING, IDLE, MONDAY, SCOPE_ASKED, TO_CHANGE, read

CASES = Path(__file__).parents[1] / "cases" / "expressions.jsonl"
STATES = {
    "asked": ASKED,
    "choosing": CHOOSING,
    "confirming": CONFIRMING,
    "booked": BOOKED,
    "scope": SCOPE_ASKED,
    "change": TO_CHANGE,
}
# Defaults that the words did not give: today, and a kind of meeting as its title.
GIVEN = {"date.today", "title.kind"}


def _cases():
    lines = CASES.read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


def understood(case):
    """The act, the slots that the words gave, and what is asked about, as the case writes them."""
    now = datetime.fromisoformat(case["now"]) if "now" in case else MONDAY
    heard = read(case["text"], STATES.get(case.get("state"), IDLE), now)
    wanted = case["expect"]["slots"]
    slots = {
        slot: found.value
        for slot, found in heard.slots.items()
        if slot in wanted or found.rule not in GIVEN
    }
    return {
        "act": heard.classification,
        "slots": slots,
        "ask": {problem.slot: problem.code for problem in heard.problems},
    }


@pytest.mark.parametrize("case", _cases())
def test_an_expression_means_what_its_words_say(case):
    expect = case["expect"]

    got = understood(case)

    assert got["act"] == expect.get("act", got["act"])
    names_another = got["act"] == "modify_booking" and case.get("state") != "booked"
    if not names_another and "cancel" not in got["act"] and got["act"] != "injection":
        assert got["slots"] == expect["slots"]
    assert got["ask"] == expect.get("ask", {})


def test_understanding_is_cheap():
    """Half of the messages cost less than 5 ms of CPU; they take a tenth of it."""
    took = []
    for param in _cases():
        started = process_time()
        understood(param.values[0])
        took.append(process_time() - started)
    assert median(took) < 0.005
