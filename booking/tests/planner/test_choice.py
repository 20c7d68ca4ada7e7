"""Which planner the settings choose, and what the system check says of them."""

import os
import subprocess
import sys

import pytest

from booking.agent.planner.checks import check_model
from booking.agent.planner.choice import chosen
from booking.agent.planner.model import model
from booking.agent.planner.rules import rules
from booking.agent.spec import SPEC

MODEL = {"name": "openai:stub", "url": "http://127.0.0.1:9/v1", "key": "k", "seconds": 8.0}


@pytest.fixture
def told(settings):
    def told(planner="llm", **model):
        settings.ROOMWISE = {**settings.ROOMWISE, "planner": planner, "model": {**MODEL, **model}}

    return told


def test_the_rules_plan_unless_a_model_is_chosen_and_named(told):
    told("rules")
    assert chosen() is rules

    told(name="")
    assert chosen() is rules

    told()
    assert chosen() is not rules


def test_a_process_that_is_to_ask_has_its_model_before_the_first_message(told):
    told(name="openai:ready")
    model.cache_clear()

    SPEC.build_graph()
    before = model.cache_info().misses
    model("openai:ready", url=MODEL["url"], key="k", seconds=8.0)

    assert (before, model.cache_info().misses) == (1, 1)


def test_a_model_that_is_not_to_be_had_stops_no_process(told, caplog):
    told(name="nobody:knows", key="hunter2")

    SPEC.build_graph()

    assert "no model to ask name=nobody:knows" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize(
    ("wrong", "ids"),
    [
        ({}, []),
        ({"name": ""}, ["booking.W001"]),
        ({"url": "localhost:8080"}, ["booking.W002"]),
        ({"seconds": 0.0}, ["booking.W003"]),
        ({"seconds": 600.0}, ["booking.W003"]),
    ],
)
def test_a_model_that_cannot_be_asked_is_a_warning(wrong, ids, told):
    told(**wrong)

    assert [each.id for each in check_model()] == ids


def test_the_rules_need_no_model(told):
    told("rules", name="", url="x", seconds=0.0)

    assert check_model() == []


def test_a_process_that_plans_by_rules_loads_no_model_library():
    code = (
        "import django, sys; django.setup();"
        "from booking.agent.spec import SPEC; SPEC.build_graph();"
        "print([name for name in ('langchain', 'langchain_openai', 'openai') if name in sys.modules])"
    )

    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        check=True,
    )

    assert done.stdout.strip() == "[]"
