"""`evaluate_agent`: whole conversations over the socket, in a database that is gone afterwards."""

import json
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connection

from agentruntime.agents import get_agent
from agentruntime.models import Thread
from booking.agent.planner import LABELS
from booking.agent.spec import NAME
from booking.evaluation import scratch
from booking.evaluation.scratch import NoScratch, scratch_database
from booking.management.commands.evaluate_agent import BEGIN, END, OWN_CASES
from booking.models import Booking
from booking.tests.evaluation.test_cases import GOOD

SHARED = Path(__file__).resolve().parents[4] / "shared" / "cases" / "conversations.jsonl"

pytestmark = pytest.mark.django_db(transaction=True)


def databases():
    with connection.cursor() as cursor:
        cursor.execute("select datname from pg_database where datname like '%\\_evaluation\\_%'")
        return [name for (name,) in cursor.fetchall()]


def evaluate(*arguments, out):
    """The results, and the exit code."""
    code = 0
    try:
        call_command("evaluate_agent", *arguments, "--json", str(out))
    except CommandError as error:
        code = error.returncode
    return json.loads(out.read_text(encoding="utf-8")), code


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_case_of_the_project_passes(tmp_path, capsys):
    found, code = evaluate(out=tmp_path / "out.json")

    assert code == 0, capsys.readouterr().out
    assert found["total"] == len(OWN_CASES.read_text(encoding="utf-8").splitlines())


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(not SHARED.exists(), reason="the shared cases are not on this machine")
def test_the_shared_cases_pass(tmp_path, capsys):
    found, code = evaluate("--cases", str(SHARED), out=tmp_path / "out.json")

    assert code == 0, capsys.readouterr().out
    assert found["total"] == len(SHARED.read_text(encoding="utf-8").splitlines())


def test_a_wrong_write_fails_the_set_and_leaves_nothing_behind(tmp_path, capsys):
    booked = {
        "id": "books",
        "turns": [{"text": "B201 tomorrow at 2pm for an hour, 7 people"}, {"text": "yes"}],
        "expect": {
            "classification": ["new_request", "confirm"], "slots": {"capacity": 7},
            "phase": "BOOKED", "outcome": "confirm_requested",
        },
    }  # fmt: skip
    cases = tmp_path / "cases.jsonl"
    cases.write_text(json.dumps({**GOOD, **booked}), encoding="utf-8")
    agent, before, name = get_agent(NAME), databases(), connection.settings_dict["NAME"]

    found, code = evaluate("--cases", str(cases), out=tmp_path / "out.json")

    assert (code, found["grave"]) == (3, ["books"])
    assert "WRONG WRITE" in capsys.readouterr().out
    assert Thread.objects.count() == Booking.objects.count() == 0
    assert connection.settings_dict["NAME"] == settings.DATABASES["default"]["NAME"] == name
    assert databases() == before
    assert get_agent(NAME) is agent
    assert mail.outbox == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--planner", "magic"], "there is no planner magic: rules, llm"),
        (["--planner", "llm"], "needs ROOMWISE_MODEL"),
        (["--cases", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
        (["--only", "nobody"], "no case nobody"),
        (["--compare", "nowhere.json"], "no earlier result"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_made(arguments, why, monkeypatch):
    monkeypatch.setattr("booking.evaluation.scratch.scratch_database", None)

    with pytest.raises(CommandError, match=why) as refused:
        call_command("evaluate_agent", *arguments)

    assert refused.value.returncode == 2


def test_a_role_that_may_not_create_databases_is_told_so(monkeypatch):
    refusing = Refusing()
    monkeypatch.setattr(scratch.psycopg, "connect", lambda *_, **__: refusing)
    before = connection.settings_dict["NAME"]

    with pytest.raises(NoScratch, match="CREATEDB"), scratch_database():
        pass

    assert connection.settings_dict["NAME"] == before


class Refusing:
    """A server's session whose role may do little."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def execute(self, statement, _=None):
        if not isinstance(statement, str):
            raise psycopg.errors.InsufficientPrivilege
        return self

    def fetchall(self):
        return []


def test_what_a_killed_evaluation_left_is_cleared_away():
    left = f"{connection.settings_dict['NAME'][:30]}_evaluation_1"
    with connection.cursor() as cursor:
        cursor.execute(f"drop database if exists {left}")
        cursor.execute(f"create database {left}")

    with scratch_database():
        inside = connection.settings_dict["NAME"]

    assert left not in databases()
    assert inside not in databases()


def test_the_scores_in_the_documents_have_the_commands_shape():
    page = (settings.BASE_DIR / "docs/understanding.md").read_text(encoding="utf-8")
    scores = page.partition(BEGIN)[2].partition(END)[0]
    families, matrix, total = scores.strip().split("\n\n")

    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in families.split("\n")]
    assert (rows[0][0], rows[0][-1], rows[-1][0]) == ("family", "all", "all")
    passed, count = rows[-1][-1].split("/")
    assert total.startswith(f"{passed} of {count} cases pass")
    labels = {line.split("|")[2].strip() for line in matrix.split("\n")[2:]}
    assert {label.partition("+")[0] for label in labels} <= set(LABELS)
