"""The planner that asks a model, against a server that answers well, badly and not at all."""

import time

import pytest

from booking.agent.planner import llm
from booking.agent.planner.model import Model, ModelTrouble
from booking.agent.planner.rules import planned_by_rules
from booking.tests.planner.house import DRAFT, GOOD, REQUEST, always, heard, plan, slots
from booking.tests.planner.model_server import Reply, planning, saying, way_of


async def test_a_good_plan_is_taken_and_the_pipeline_gives_its_values(ask, server):
    server.answer = always(GOOD)

    planned = await ask(REQUEST)

    assert planned.proposal.action == "fill"
    assert slots(planned) == DRAFT
    figures = planned.figures
    assert (figures["by"], figures["verdict"], figures["calls"]) == ("llm", "ok", 1)
    assert figures["tokens"] == {"input": 40, "output": 9}
    assert (figures["way"], figures["agrees"], figures["dropped"]) == ("json_schema", True, [])
    assert figures["seconds"] > 0


BAD = {
    "malformed": lambda body: planning(body, '{"action": "fill", '),
    "no object": lambda body: planning(body, "[1, 2]"),
    "cut": lambda body: saying('{"action": "fi', finish="length"),
    "unknown action": always({**GOOD, "action": "book_it_now"}),
    "an action of no model": always(plan("confirm")),
    "unknown slot": always(plan("fill", organizer="u2")),
    "more than asked for": always({**GOOD, "approved": True}),
    "numbers for words": always({**GOOD, "slots": [{"slot": "capacity", "words": 5}]}),
    "no such card": always(plan("fill", option=9)),
    "empty": lambda body: saying(""),
    "nothing": lambda body: saying(None),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_answer_is_asked_for_once_more_and_then_the_rules_go_on(name, ask, server):
    server.answer = BAD[name]

    planned = await ask(REQUEST)

    assert planned.proposal == planned_by_rules(heard(REQUEST)).proposal
    assert planned.figures["by"] == "rules"
    assert planned.figures["verdict"] in {"malformed", "cut"}
    assert len(server.requests) == planned.figures["calls"] == 2
    assert planned.figures["verdict"] != "cut" or name == "cut"
    assert planned.figures["tokens"] == {"input": 80, "output": 18}  # charged, of use or not


@pytest.mark.parametrize("name", BAD)
async def test_a_good_second_answer_counts(name, ask, server):
    first = BAD[name]
    server.answer = lambda body: first(body) if len(server.requests) == 1 else planning(body, GOOD)

    planned = await ask(REQUEST)

    assert (planned.figures["by"], planned.figures["verdict"]) == ("llm", "repaired")
    assert slots(planned) == DRAFT


FAILING = {
    "429": (lambda body: Reply(status=429), "unavailable"),
    "500": (lambda body: Reply(status=500), "unavailable"),
    "refusal": (lambda body: saying(None, refusal="I cannot help with that."), "refused"),
    "cut connection": (lambda body: Reply(cut=0), "unavailable"),
    "cut body": (
        lambda body: Reply({"role": "assistant", "content": "{}"}, cut=0.5),
        "unavailable",
    ),
    "filtered": (lambda body: saying(None, finish="content_filter"), "refused"),
}


@pytest.mark.parametrize("name", FAILING)
async def test_a_failing_model_is_asked_once_and_the_rules_go_on(name, ask, server):
    server.answer, verdict = FAILING[name]

    planned = await ask(REQUEST)

    assert planned.proposal == planned_by_rules(heard(REQUEST)).proposal
    assert (planned.figures["by"], planned.figures["verdict"]) == ("rules", verdict)
    assert planned.figures["fallback"] is True
    assert len(server.requests) == 1


async def test_a_slow_model_is_not_waited_for(ask, server):
    server.answer = server.slowly

    planned = await ask(REQUEST, seconds=0.3)

    assert planned.proposal == planned_by_rules(heard(REQUEST)).proposal
    assert planned.figures["verdict"] == "timeout"
    assert 0.3 <= planned.figures["seconds"] < 10


async def test_nobody_there_is_no_error():
    def connect():
        return Model("openai:stub", url="http://127.0.0.1:9/v1", key="k", seconds=1)

    planned = await llm.LlmPlanner(connect, seconds=2)(heard(REQUEST))

    assert slots(planned) == DRAFT
    assert (planned.figures["by"], planned.figures["verdict"]) == ("rules", "unavailable")


@pytest.mark.parametrize("name", ["nobody:knows", "", "openai"])
def test_a_model_that_cannot_be_had_is_a_trouble_of_its_own(name, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelTrouble, match="unavailable"):
        Model(name, url="", key="", seconds=1)


async def test_a_model_that_keeps_failing_is_left_alone_for_a_while(ask, server):
    server.answer = lambda body: Reply(status=500)
    by = ask.planner()

    verdicts = [(await ask(REQUEST, by=by)).figures["verdict"] for _ in range(5)]

    assert verdicts == ["unavailable"] * llm.FAILURES + ["resting"] * (5 - llm.FAILURES)
    assert len(server.requests) == llm.FAILURES


async def test_after_a_rest_one_try_decides(ask, server, monkeypatch):
    monkeypatch.setattr(llm, "REST_SECONDS", 0.0)
    server.answer, by = (lambda body: Reply(status=500)), ask.planner()
    for _ in range(llm.FAILURES):
        await ask(REQUEST, by=by)
    monkeypatch.setattr(llm, "REST_SECONDS", 60.0)

    tried = (await ask(REQUEST, by=by)).figures["verdict"]
    rests = (await ask(REQUEST, by=by)).figures["verdict"]

    assert (tried, rests) == ("unavailable", "resting")


async def test_the_messages_of_a_turn_share_the_models_time(ask, server):
    server.answer = always(GOOD)
    by, now = ask.planner(), time.monotonic()

    late = await by(heard(REQUEST), until=now)
    in_time = await by(heard(REQUEST), until=now + 60)

    assert (late.figures["by"], late.figures["verdict"]) == ("rules", "late")
    assert (in_time.figures["by"], len(server.requests)) == ("llm", 1)


WAYS = ["json_schema", "function_calling", "json_mode"]


@pytest.mark.parametrize("known", WAYS)
async def test_a_provider_is_asked_as_it_can_answer_and_that_is_remembered(known, ask, server):
    def answer(body):
        return planning(body, GOOD) if way_of(body) == known else Reply(status=400)

    server.answer, by = answer, ask.planner()

    first = await ask(REQUEST, by=by)
    second = await ask(REQUEST, by=by)

    tried = WAYS[: WAYS.index(known) + 1]
    assert [way_of(body) for body in server.requests] == [*tried, known]
    assert (first.figures["calls"], second.figures["calls"]) == (len(tried), 1)
    assert slots(first) == slots(second) == DRAFT
    assert first.figures["way"] == known
    has_schema = "JSON schema" in server.requests[-1]["messages"][0]["content"]
    assert has_schema == (known == "json_mode")


async def test_a_provider_that_knows_no_way_leaves_it_to_the_rules(ask, server):
    server.answer = lambda body: Reply(status=400)

    planned = await ask(REQUEST)

    assert (planned.figures["by"], planned.figures["verdict"]) == ("rules", "unsupported")
    assert len(server.requests) == len(WAYS)


# --- what counts of a plan
