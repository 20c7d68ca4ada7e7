"""A conversation as an evaluation case: who may, what is recorded, what cannot."""

import json
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from agentruntime import agents
from audit import services
from audit.models import Operation


@pytest.fixture
def telling(booked):
    """The probe, able to tell its conversations as cases; the labels it was given."""
    given = []

    def as_case(thread, labels):
        given.append(dict(labels))
        return {"id": "case-1", "turns": [{"text": "一个会议室"}]}

    agents.register(replace(agents.get_agent("probe"), as_case=as_case))
    return given


def test_a_case_is_downloaded_with_corrected_labels_and_recorded(desk, boss, booked, telling):
    message = booked.messages.filter(role="user").first()
    services.correct(message, label="correction", by=boss, reason="it was")
    address = reverse("admin:audit_export_case", args=[booked.pk])

    answer = desk.post(address, {"reason": "a regression"})

    assert json.loads(answer.content)["turns"] == [{"text": "一个会议室"}]
    assert "case-1.jsonl" in answer["Content-Disposition"]
    assert telling == [{message.pk: "correction"}]
    operation = Operation.objects.get(kind="export")
    assert (operation.by, operation.thread, operation.reason) == (boss, booked.pk, "a regression")
    assert operation.details == {"case": "case-1", "turns": 1, "corrected": 1}


def test_without_a_reason_or_an_evaluation_nothing_leaves_and_the_page_says_why(desk, booked):
    address = reverse("admin:audit_export_case", args=[booked.pk])

    no_reason = desk.post(address, {"reason": " "}, follow=True)
    no_case = desk.post(address, {"reason": "r"}, follow=True)

    assert "Please say why." in no_reason.content.decode()
    assert "cannot become a case: this agent has no evaluation" in no_case.content.decode()
    assert not Operation.objects.exists()


def test_the_page_offers_it_to_those_who_may(desk, client, booked, staff):
    page = reverse("admin:audit_auditedthread_change", args=[booked.pk])
    address = reverse("admin:audit_export_case", args=[booked.pk])

    assert address in desk.get(page).content.decode()
    client.force_login(staff("view_auditedthread"))
    assert address not in client.get(page).content.decode()


def test_the_command_adds_a_line_to_a_file(booked, telling, tmp_path):
    file = tmp_path / "cases.jsonl"

    for _ in range(2):
        call_command("export_case", booked.pk, "--out", str(file), "--reason", "r")
    out = StringIO()
    call_command("export_case", booked.pk, "--reason", "r", stdout=out)

    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines == [out.getvalue().strip()] * 2
    assert Operation.objects.filter(kind="export", by=None).count() == 3


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nothing", "--reason", "r"], "there is no thread nothing"),
        (["THREAD", "--reason", "r", "--out", "/nowhere/x"], "cannot be written"),
        (["THREAD", "--reason", " "], "say why"),
    ],
)
def test_the_command_says_what_it_cannot(booked, telling, arguments, why):
    with pytest.raises(CommandError, match=why):
        call_command("export_case", *(booked.pk if a == "THREAD" else a for a in arguments))
