"""Both planners end plain conversations with the same facts, the model being a sensible one.

It knows what each message does (as the case says), and quotes the words that give each slot.
"""

import re

import pytest

from agentruntime.models import Run
from agentruntime.persistence.pools import in_db_thread
from booking.agent.planner.evidence import ACTS
from booking.agent.understand import DraftView, Lexicon, OpeningHours, understand
from booking.agent.understand.normalise import normalise
from booking.evaluation.cases import load
from booking.evaluation.judging import judge
from booking.evaluation.playing import playing
from booking.management.commands.evaluate_agent import OWN_CASES
from booking.tests.evaluation.test_command import SHARED
from booking.tests.model_server import model_server, planning, situation_of, use

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
    is_timed = any(turn.while_running or turn.world or turn.answer for turn in case.turns)
    return case.expect["outcome"] in PLAIN and not is_timed


def plain(file, limit):
    found = {}
    for case in filter(is_plain, load(file) if file.exists() else ()):
        found.setdefault(case.lang, []).append(case)
    return [pytest.param(case, id=case.id) for few in found.values() for case in few[:limit]]


def sensible(case):
    """What a good model would answer to each message of the case."""
    labels = {
        normalise(turn.text).text: label.partition("+")[0]
        for turn, label in zip(case.turns, case.expect["classification"], strict=True)
    }

    def answer(body):
        message = situation_of(body)["message"]
        read = understand(
            message, now=case.now, lexicon=Lexicon(), hours=OpeningHours(), draft=DraftView()
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


async def play_with_model(case, settings):
    with model_server(sensible(case)) as server:
        use(settings, server)
        async with playing() as player:
            played, world = await player.play(case)
    runs = await in_db_thread(lambda: list(Run.objects.order_by("started_at")))
    told = [each for run in runs for step in run.steps for each in step.get("planner", ())]
    return judge(case, played, world), told


@pytest.mark.parametrize("case", plain(OWN_CASES, OWN_OF_A_LANGUAGE))
async def test_a_plain_conversation_ends_as_with_the_rules(case, transactional_db, settings):
    await compare(case, settings)


@pytest.mark.parametrize("case", plain(SHARED, None))
async def test_a_plain_shared_one_ends_as_with_the_rules(case, transactional_db, settings):
    await compare(case, settings)


async def compare(case, settings):
    wrong, told = await play_with_model(case, settings)

    assert wrong == []
    assert len(told) == len(case.turns)
    for each in told:
        assert each["verdict"] in {"ok", "own"}
        assert each.get("agrees", True)
