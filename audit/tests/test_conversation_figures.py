"""Figures of conversations: what counts, when, and for whom they are."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import count

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agentruntime.access import new_thread
from agentruntime.models import Message, Run, Session
from audit.figures import Period, figures, first_key

DAY = datetime(2027, 3, 1, tzinfo=UTC)
PERIOD = Period(since=DAY, until=DAY + timedelta(days=1))
numbers = count(1)


@pytest.fixture
def thread(db, person):
    return new_thread(person, agent="booking", language="en")


def session(thread, outcome="success", phase="BOOKED", *, at=DAY, turns=3, seconds=60, lang="en"):
    return Session.objects.create(
        thread=thread, outcome=outcome, phase=phase, language=lang, turns=turns,
        started_at=at - timedelta(seconds=seconds), ended_at=at,
    )  # fmt: skip


def run(thread, *steps, at=DAY, status="done"):
    number = next(numbers)
    key = first_key(at).int | 0x7 << 76 | 0b10 << 62 | number
    return Run.objects.create(
        id=f"{key:032x}", thread=thread, version=number, kind="start", worker="w", status=status,
        steps=list(steps),
    )  # fmt: skip


def beside(run, rule, text=""):
    Message.objects.create(
        thread=run.thread, role="user", status="consumed", rule=rule, beside=run.version, text=text
    )


def test_a_period_without_conversations_is_empty(thread):
    assert figures(PERIOD).is_empty


def test_success_is_counted_by_language_and_phase(thread):
    for turns, seconds in ((2, 10), (4, 30), (9, 500)):
        session(thread, turns=turns, seconds=seconds)
    session(thread, lang="zh", turns=1, seconds=5)
    session(thread, phase="IDLE", turns=1)
    session(thread, "timeout", "CONFIRMING")

    found = [(e.phase, e.language, e.count, e.turns, e.seconds) for e in figures(PERIOD).reached]

    assert found == [
        ("BOOKED", "en", 3, 4, 30),
        ("BOOKED", "zh", 1, 1, 5),
        ("IDLE", "en", 1, 1, 60),
    ]


def test_attempts_are_counted_where_they_end(thread):
    for outcome in ("cancelled", "timeout", "timeout", "failed"):
        session(thread, outcome, "CONFIRMING")
    session(thread)

    booked, confirming = figures(PERIOD).ended

    assert (booked.phase, booked.success, booked.abandoned, booked.total) == ("BOOKED", 1, 0, 1)
    assert (confirming.cancelled, confirming.timeout, confirming.failed) == (1, 2, 1)
    assert (confirming.abandoned, confirming.total) == (3, 4)


def test_what_was_assumed_and_put_right_is_counted_by_slot(thread):
    run(thread, {"node": "understand", "assumed": ["date", "capacity"]}, {"node": "search"})
    run(thread, {"node": "understand", "revised": ["date", "date"], "overturned": ["date"]})
    run(thread, {"node": "understand", "revised": ["date"]}, status="superseded")

    found = {e.slot: (e.assumed, e.overturned, e.revised) for e in figures(PERIOD).revised}

    assert found == {"capacity": (1, 0, 0), "date": (1, 1, 2)}


def test_what_is_said_beside_a_run_is_counted_by_class(thread):
    stopped, ended = run(thread, status="superseded"), run(thread)
    beside(stopped, "correction_while_running")
    beside(stopped, "correction_while_running")
    beside(ended, "new_intent_while_running")
    Message.objects.create(
        thread=thread, role="user", status="consumed", rule="text_on_idle_thread"
    )

    found = [(each.message_class, each.count, each.ended) for each in figures(PERIOD).beside]

    assert found == [("correction", 2, 1), ("new_intent", 1, 0)]


def test_what_became_of_the_model_is_counted(thread):
    def plan(by, verdict, seconds):
        return {
            "by": by,
            "verdict": verdict,
            "seconds": seconds,
            "tokens": {"input": 5, "output": 2},
        }

    run(thread, {"node": "understand", "planner": [plan("llm", "ok", 1), plan("llm", "ok", 3)]})
    run(thread, {"node": "understand", "planner": [plan("rules", "timeout", 8)]})

    found = [(e.by, e.verdict, e.count, e.seconds, e.tokens) for e in figures(PERIOD).planned]

    assert found == [("llm", "ok", 2, 2, 14), ("rules", "timeout", 1, 8, 7)]


def test_only_the_period_the_agent_and_live_threads_count(thread, person):
    before, after = DAY - timedelta(seconds=1), PERIOD.until
    for at in (before, after):
        session(thread, at=at)
        beside(run(thread, {"node": "x", "revised": ["date"]}, at=at), "cancel_while_running")
    copy = new_thread(person, agent="booking", language="en")
    copy.sandbox = True
    copy.save()
    session(copy)
    run(copy, {"node": "x", "revised": ["date"]})

    assert figures(PERIOD).is_empty
    session(thread)
    assert not figures(PERIOD).is_empty
    assert figures(Period(since=DAY, until=PERIOD.until, agent="another")).is_empty


def test_the_period_is_read_from_indexes(thread):
    """Not the whole of any table, as soon as there is more in it than a period's rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            """insert into agentruntime_run (id, thread_id, version, kind, worker, status)
               select ('01' || lpad(to_hex(i::bigint * 1000000), 10, '0') || '70008000000000000000')::uuid,
                   %s, 1000 + i, 'start', 'w', 'done' from generate_series(1, 5000) as i""",
            [thread.pk],
        )
        cursor.execute(
            """insert into agentruntime_session (thread_id, outcome, started_at, ended_at)
               select %s, 'success', now(), now() - i * interval '1 hour'
               from generate_series(1, 5000) as i""",
            [thread.pk],
        )
        cursor.execute("analyze agentruntime_run; analyze agentruntime_session")
    with CaptureQueriesContext(connection) as queries:
        figures(PERIOD)

    assert len(queries) == 5
    for query in queries:
        with connection.cursor() as cursor:
            cursor.execute(f"explain {query['sql']}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
        assert "Seq Scan on agentruntime_run" not in plan, plan
        assert "Seq Scan on agentruntime_session" not in plan, plan


def test_the_page_shows_them_in_both_languages(admin_client, thread):
    session(thread)
    run(thread, {"node": "understand", "assumed": ["date"], "planner": [{"by": "rules"}]})
    address = reverse("admin:audit_figures") + "?since=2027-03-01&until=2027-03-01&agent=booking"

    page = admin_client.get(address).content.decode()
    chinese = admin_client.get(address, headers={"accept-language": "zh-hans"}).content.decode()

    assert "What success takes" in page
    assert ">Booked<" in page
    assert ">Date<" in page
    assert "对话数据" in chinese
    assert ">日期<" in chinese


def test_the_page_says_when_there_is_nothing_and_what_is_no_period(admin_client, db):
    address = reverse("admin:audit_figures")

    assert b"No conversations in this period." in admin_client.get(address).content
    backwards = admin_client.get(address, {"since": "2027-03-02", "until": "2027-03-01"})
    assert b"ends before it begins" in backwards.content
    assert b"A year at most" in admin_client.get(
        address, {"since": "2020-03-02", "until": "2027-03-01"}
    ).content  # fmt: skip
    assert b"Enter a valid date" in admin_client.get(address, {"since": "x"}).content


def test_the_command_prints_the_same_as_json(thread):
    session(thread, at=datetime.now(UTC) - timedelta(hours=1))
    out = StringIO()

    call_command("conversation_figures", "--since", "2h", stdout=out)

    found = json.loads(out.getvalue())
    assert found["ended"] == [
        {"phase": "BOOKED", "success": 1, "cancelled": 0, "failed": 0, "timeout": 0}
    ]
    assert found["reached"][0]["turns"] == 3.0
