"""Pruning by command and by page, whole threads, one person's words, rules that run nightly."""

import json
from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from agentruntime.models import Effect, Message, Thread
from agentruntime.operations.chores import all_chores
from agentruntime.persistence import pruning
from agentruntime.timetravel import forks, history
from audit import retention
from audit.models import Operation, Pin, RetentionRule


def command(name, *arguments):
    out = StringIO()
    call_command(name, *arguments, stdout=out)
    return out.getvalue().splitlines()


def count(thread):
    return len(history.timeline(thread).points)


def test_dry_run_and_real_run_print_the_same_plan(booked):
    dry = command("prune_checkpoints", "--keep-last", "1", "--dry-run")
    assert count(booked) == 7
    real = command("prune_checkpoints", "--keep-last", "1", "--verify")

    assert real[: len(dry)] == dry
    assert dry[0].startswith(f"{booked.pk}  5 checkpoints")
    assert real[len(dry)].split(" in ")[0] == dry[-1].replace("Plan: 1 threads,", "Deleted:")
    assert count(booked) == 2
    [operation] = Operation.objects.all()
    assert (operation.kind, operation.by, operation.outcome) == ("prune", None, "done")
    assert operation.details["gone"]["checkpoints"] == 5
    assert not any(pruning.orphans().values())


def test_json_says_the_same(booked):
    lines = [json.loads(each) for each in command("prune_checkpoints", "--keep-last=1", "--json")]

    assert lines[0]["thread"] == booked.pk
    assert lines[-1]["planned"] == lines[-1]["gone"] == lines[0]["planned"]


def test_a_wish_is_narrowed_by_agent_thread_and_age(booked):
    for narrowed in (
        ("--agent", "other"),
        ("--older-than", "1d"),
    ):
        assert command("prune_checkpoints", "--keep-last", "1", *narrowed)[-2:-1] == [
            "Plan: 0 threads, 0 checkpoints, 0 blobs, 0 writes, 0 KiB"
        ]
    with pytest.raises(CommandError, match="no thread"):
        command("prune_checkpoints", "--thread", "nothing")
    with pytest.raises(CommandError, match="as in 30d"):
        command("prune_checkpoints", "--older-than", "soon")
    assert not Operation.objects.exists()


def test_stopped_by_time_it_says_so_and_goes_on(booked):
    stopped = command("prune_checkpoints", "--keep-last", "1", "--max-seconds", "0")
    assert stopped[-1].startswith("Not finished")

    command("prune_checkpoints", "--keep-last", "1")

    assert count(booked) == 2


def test_an_expired_pin_holds_nothing(booked, boss):
    first = history.timeline(booked).points[-1].id
    pin = Pin.objects.create(thread=booked, checkpoint=first, reason="r", by=boss)
    command("prune_checkpoints", "--keep-last", "1")
    assert first in {point.id for point in history.timeline(booked).points}

    Pin.objects.filter(pk=pin.pk).update(expires_at=timezone.now())
    command("prune_checkpoints", "--keep-last", "1")

    assert count(booked) == 2


def test_the_page_shows_the_plan_before_it_runs(desk, booked, boss):
    address = reverse("admin:audit_retention")
    wish = {"agent": "", "keep_last": "1", "older_than_days": "0"}

    shown = desk.get(address, wish).content.decode()
    assert booked.pk[-8:] in shown
    assert count(booked) == 7
    assert b"errorlist" in desk.post(address, {**wish, "reason": ""}).content
    assert count(booked) == 7
    desk.post(address, {**wish, "reason": "it grows"})

    assert count(booked) == 2
    [operation] = Operation.objects.all()
    assert (operation.by, operation.reason) == (boss, "it grows")


def age(thread, days):
    Thread.objects.filter(pk=thread.pk).update(updated_at=timezone.now() - timedelta(days=days))


def test_old_threads_go_and_what_they_did_stays(booked, converse):
    idle = converse(1)
    age(booked, 400)
    age(idle, 400)
    fresh = converse(1)

    assert command("prune_threads", "--older-than", "365d", "--dry-run") == ["would go: 2"]
    assert command("prune_threads", "--older-than", "365d") == ["deleted: 1", "emptied: 1"]

    assert set(Thread.objects.values_list("pk", flat=True)) == {booked.pk, fresh.pk}
    assert Effect.objects.get().result["room"] == "P01"
    age(booked, 400)
    assert command("prune_threads", "--older-than", "365d") == ["No thread is that old."]


def test_a_pinned_thread_is_not_deleted_for_its_age(booked, boss):
    Pin.objects.create(thread=booked, checkpoint=booked.head, reason="court", by=boss)
    age(booked, 400)

    assert command("prune_threads", "--older-than", "365d") == ["No thread is that old."]


def test_a_persons_words_are_erased_and_their_bookings_stay(booked, owner, boss):
    fork, _ = forks.fork(booked, booked.head)
    Pin.objects.create(thread=booked, checkpoint=booked.head, reason="old case", by=boss)

    assert command("erase_person", "mei", "--reason", "they asked", "--dry-run") == ["would go: 2"]
    done = command("erase_person", "mei", "--reason", "they asked")

    assert done == ["deleted: 1", "emptied: 1"]
    assert not Message.objects.exists()
    assert not Thread.objects.filter(pk=fork.pk).exists()
    assert Effect.objects.count() == 1
    assert not any(pruning.orphans().values())
    operation = Operation.objects.get(kind="erase")
    assert (operation.target, operation.reason) == (f"user {owner.pk}", "they asked")
    with pytest.raises(CommandError, match="nobody"):
        command("erase_person", "who", "--reason", "r")
    with pytest.raises(CommandError, match="why"):
        command("erase_person", "mei", "--reason", " ")


def test_orphans_are_found(booked):
    assert all(line.endswith(": 0") for line in command("check_orphans"))
    Thread.objects.filter(pk=booked.pk).update(head="0" * 36)

    with pytest.raises(CommandError, match="orphans"):
        command("check_orphans")


def test_rules_run_nightly_where_switched_on(booked):
    RetentionRule.objects.create(agent="probe", keep_last=1, older_than_days=0, sandbox_days=1)
    assert retention.nightly() == {}
    RetentionRule.objects.update(is_on=True)
    fork, _ = forks.fork(booked, booked.head)
    age(fork, 3)

    done = retention.nightly()

    assert done["probe"].gone.checkpoints == 5
    assert not Thread.objects.filter(pk=fork.pk).exists()
    assert RetentionRule.objects.get().ran_at is not None


def test_a_rule_is_changed_by_those_who_may_prune_and_that_is_recorded(client, staff, boss, probe):
    address = reverse("admin:audit_retentionrule_add")
    rule = {
        "agent": "probe",
        "keep_last": 9,
        "older_than_days": 8,
        "sandbox_days": 7,
        "is_on": "on",
    }
    client.force_login(staff("view_auditedthread"))
    assert client.post(address, rule).status_code == 403
    client.force_login(staff("view_auditedthread", "prune_checkpoints"))

    client.post(address, rule)

    assert RetentionRule.objects.get().keep_last == 9
    assert Operation.objects.get().details["older_than_days"] == 8


def test_the_chore_carries_rules_out_once_a_night(booked):
    RetentionRule.objects.create(agent="probe", keep_last=1, older_than_days=0, is_on=True)
    tomorrow = timezone.localtime() + timedelta(days=1)

    def at(hour):
        with time_machine.travel(tomorrow.replace(hour=hour), tick=False):
            retention.nightly_chore()
        return count(booked)

    assert at(12) == 7
    assert at(2) == 2
    RetentionRule.objects.update(keep_last=0)
    ran = RetentionRule.objects.get().ran_at
    at(3)
    assert RetentionRule.objects.get().ran_at == ran


def test_the_chore_is_known_to_the_runtime():
    assert "retention" in {chore.name for chore in all_chores()}


def test_a_dry_run_of_the_command_skips_what_runs(booked):
    Thread.objects.filter(pk=booked.pk).update(status="running")

    lines = command("prune_checkpoints", "--keep-last", "1")

    assert lines[0] == f"{booked.pk}  skipped: running"
    with pytest.raises(CommandError, match="run it again"):
        command("erase_person", "mei", "--reason", "r")
