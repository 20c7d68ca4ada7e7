"""Both planners end plain conversations with the same facts, the model being a sensible one.

It knows what each message does (as the case says), and quotes the words that give each slot.
"""

import json
import re
from datetime import datetime

import pytest

from agentruntime.models import Run
from agentruntime.persistence.pools import in_db_thread
from booking.agent.planner.evidence import ACTS
from booking.agent.understand import DraftView, Lexicon, OpeningHours, understand
from booking.agent.understand.normalise import normalise
from booking.tests.model_server import model_server, planning, situation_of, use
from booking.tests.playing import judge, load_world, play
from booking.tests.test_conversations import OWN, SHARED, _cases

PLAIN = {
    "candidates_offered", "asked", "confirm_requested", "booked", "flow_cancelled", "listed",
    "refused_policy", "alternatives_offered", "needs_approval", "refused_scope", "answered",
}  # fmt: skip
OWN_OF_A_LANGUAGE = 6
QUOTED = ("date", "start_time", "end_time", "duration_minutes", "capacity")
ROOM = re.compile(r"[ABab]\d{3}")
ACTIONS = {act: action for action, act in ACTS.items()} | dict.fromkeys(
    ("new_request", "provide_slots", "supplement", "correction"), "fill"
)


def is_plain(case):
    is_timed = any(turn.get("while_running") or turn.get("world") for turn in case["turns"])
    return case["expect"]["outcome"] in PLAIN and not is_timed


def plain(folder, limit):
    found = {}
    for case in filter(is_plain, _cases(folder)):
        found.setdefault(case["lang"], []).append(case)
    return [pytest.param(case, id=case["id"]) for few in found.values() for case in few[:limit]]


def sensible(case):
    """What a good model would answer to each message of the case."""
    labels = {
        normalise(turn["text"]).text: label.partition("+")[0]
        for turn, label in zip(case["turns"], case["expect"]["classification"], strict=True)
    }
    now = datetime.fromisoformat(case["now"])

    def answer(body):
        message = situation_of(body)["message"]
        read = understand(
            message, now=now, lexicon=Lexicon(), hours=OpeningHours(), draft=DraftView()
        )
        quotes = [
            {"slot": slot, "words": read.text[slice(*read.slots[slot].span)]}
            for slot in QUOTED
            if slot in read.slots and read.slots[slot].span[0] < read.slots[slot].span[1] <= 120
        ]
        quotes += [{"slot": "room", "words": found} for found in ROOM.findall(message)[:1]]
        action = ACTIONS[labels[message]]
        return planning(body, {"action": action, "slots": quotes, "option": None})

    return answer


async def play_with_model(case, folder, settings):
    fixture = json.loads((folder / "fixture.json").read_text(encoding="utf-8"))
    await in_db_thread(load_world, fixture)
    with model_server(sensible(case)) as server:
        use(settings, server)
        played = await play(case)
    runs = await in_db_thread(lambda: list(Run.objects.order_by("started_at")))
    told = [each for run in runs for step in run.steps for each in step.get("planner", ())]
    return judge(case, played), told


@pytest.mark.parametrize("case", plain(OWN, OWN_OF_A_LANGUAGE))
async def test_a_plain_conversation_ends_as_with_the_rules(case, transactional_db, settings):
    await compare(case, OWN, settings)


@pytest.mark.parametrize("case", plain(SHARED, None))
async def test_a_plain_shared_one_ends_as_with_the_rules(case, transactional_db, settings):
    await compare(case, SHARED, settings)


async def compare(case, folder, settings):
    wrong, told = await play_with_model(case, folder, settings)

    assert wrong == []
    assert len(told) == len(case["turns"])
    for each in told:
        assert each["verdict"] in {"ok", "own"}
        assert each.get("agrees", True)
