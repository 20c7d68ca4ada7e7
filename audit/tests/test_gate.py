"""The gate: many threads again with the code as it is, and what comes out differently."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from agentruntime import agents
from agentruntime.models import Effect, Session, Thread
from agentruntime.testing import probe_spec
from agentruntime.timetravel import history
from audit.models import Operation


def sessions_of(*threads):
    """Sessions as the runtime writes them when they end; the probe ends none by itself."""
    for thread in threads:
        Session.objects.create(thread=thread, outcome="success", turns=3, started_at=timezone.now())


def gate(*arguments):
    out = StringIO()
    try:
        call_command("replay_threads", *arguments, stdout=out)
    finally:
        gate.lines = out.getvalue().splitlines()
    return gate.lines


def test_the_code_that_held_the_conversations_passes(booked, converse):
    other = converse(3)
    sessions_of(booked, other)

    lines = gate("--last", "5")

    assert lines[:2] == [f"{other.pk}  same (6 steps)", f"{booked.pk}  same (6 steps)"]
    assert lines[2] == "2 same, 0 differ, 0 failed, 0 without history"
    assert not Thread.objects.filter(sandbox=True).exists()
    assert Effect.objects.count() == 2
    assert Operation.objects.get().details["same"] == 2


def test_what_changed_is_named_and_the_gate_is_shut(booked):
    sessions_of(booked)

    async def otherwise(context, draft):
        return {"room": "elsewhere"}

    agents.register(probe_spec(act=otherwise))
    history.forget_graphs()

    with pytest.raises(CommandError, match="1 of 1 differ"):
        gate()
    assert gate.lines[0] == f"{booked.pk}  differs at step 6 (Booking) /result/room, /result/effect"
    assert [line.split() for line in gate.lines[-2:]] == [
        ["1", "/result/room"],
        ["1", "/result/effect"],
    ]
    assert gate("--allow", "1")


def test_json_tells_every_step_without_words(booked):
    sessions_of(booked)

    [line] = gate("--json")

    told = json.loads(line)
    assert (told["thread"], told["same"], len(told["steps"])) == (booked.pk, True, 6)
    assert "room for six" not in line


def test_sessions_are_chosen(booked):
    sessions_of(booked)
    for wish in (("--agent", "other"), ("--outcome", "failed"), ("--thread", "x")):
        with pytest.raises(CommandError, match="nothing"):
            gate(*wish)
    assert gate("--outcome", "success", "--since", "1d", "--keep")
    assert Thread.objects.filter(sandbox=True).count() == 1
