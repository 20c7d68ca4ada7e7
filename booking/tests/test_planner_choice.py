"""Which planner the settings choose, and what the system check says of them."""

import os
import subprocess
import sys

import pytest

from booking.agent.planner.checks import check_model
from booking.agent.planner.choice import chosen
from booking.agent.planner.rules import rules

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
