"""Both planners end plain conversations with the same facts, the model being a sensible one.

It knows what each message does (as the case says), and quotes the words that give each slot.
"""

import re
from itertools import groupby
from pathlib import Path

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
from booking.tests.planner.model_server import model_server, planning, situation_of, use

SHARED = Path(__file__).resolve().parents[4] / "shared" / "cases" / "conversations.jsonl"

PLAIN = {
    "candidates_offered", "asked", "confirm_requested", "booked", "flow_cancelled", "listed",
    "refused_policy", "alternatives_offered", "needs_approval", "refused_scope", "answered",
}  # fmt: skip
OF_A_LANGUAGE = 30
QUOTED = ("date", "start_time", "end_time", "duration_minutes", "capacity")
ROOM = re.compile(r"[ABab]\d{3}")
ACTIONS = {act: action for action, act in ACTS.items()} | dict.fromkeys(
    ("new_request", "provide_slots", "supplement", "correction"), "fill"
)


def is_plain(case):
    is_timed = any(turn.while_running or turn.world or turn.answer for turn in case.turns)
    return case.expect["outcome"] in PLAIN and not is_timed


def plain(path):
    """The plain cases of a file, so many of each language at most."""
    found = sorted(filter(is_plain, load(path)), key=lambda case: case.lang)
    return [
        case
        for _, same in groupby(found, key=lambda case: case.lang)
        for case in list(same)[:OF_A_LANGUAGE]
    ]


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


async def differences(path, settings):
    """By case: what did not come to what it should, and what a model planned otherwise."""
    wrong = {}
    with model_server() as server:
        use(settings, server)
        async with playing() as player:
            for case in plain(path):
                server.answer = sensible(case)
                played, world = await player.play(case)
                found = [str(fault) for fault in judge(case, played, world)]
                told = await in_db_thread(_told)
                found += [str(each) for each in told if not _is_same(each)]
                if found or len(told) != len(case.turns):
                    wrong[case.id] = [*found, f"{len(told)} of {len(case.turns)} planned"]
    return wrong


def _told():
    """What the newest conversation's runs note of their planning, a dict a message."""
    newest = Run.objects.latest("started_at")
    runs = Run.objects.filter(thread=newest.thread_id).order_by("version")
    return [each for run in runs for step in run.steps for each in step.get("planner", ())]


def _is_same(told):
    """Whether a model planned it and the rules would have too, or it was never a model's."""
    return told["verdict"] == "own" or (told["verdict"] == "ok" and told["agrees"])


async def test_plain_conversations_end_as_with_the_rules(transactional_db, settings):
    assert len(plain(OWN_CASES)) >= 40

    assert await differences(OWN_CASES, settings) == {}


@pytest.mark.skipif(not SHARED.exists(), reason="the shared cases are not on this machine")
async def test_plain_shared_ones_end_as_with_the_rules(transactional_db, settings):
    assert await differences(SHARED, settings) == {}
