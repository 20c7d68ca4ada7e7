"""The table of design 2.4, as far as it is decided without the agent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentruntime.orchestration.policy import Decision, action_of, decide, strongest

OPEN = {"id": "q1", "kind": "clarify"}

TABLE = [
    # status, open question, kind, answers -> action, rule, code
    ("idle", None, "text", "", "start", "text_on_idle_thread", ""),
    ("waiting", OPEN, "text", "", "answer", "text_answers_open_question", ""),
    ("waiting", OPEN, "text", "q1", "answer", "answers_open_question", ""),
    ("waiting", OPEN, "answer", "q1", "answer", "answers_open_question", ""),
    ("waiting", OPEN, "text", "q0", "refuse", "answers_another_question", "stale_answer"),
    ("waiting", OPEN, "answer", "q0", "refuse", "answers_another_question", "stale_answer"),
    ("waiting", OPEN, "answer", "", "refuse", "answers_another_question", "stale_answer"),
    ("idle", None, "answer", "q1", "refuse", "answers_another_question", "stale_answer"),
    ("idle", None, "text", "q1", "refuse", "answers_another_question", "stale_answer"),
    ("running", None, "text", "", "queued", "text_while_running", ""),
    ("running", OPEN, "text", "", "queued", "text_while_running", ""),
    ("running", OPEN, "answer", "q1", "refuse", "already_answered", "stale_answer"),
    ("running", OPEN, "text", "q1", "queued", "text_while_running", ""),
    ("running", OPEN, "answer", "q0", "refuse", "answers_another_question", "stale_answer"),
    ("running", None, "answer", "q1", "refuse", "answers_another_question", "stale_answer"),
    ("archived", None, "text", "", "refuse", "thread_archived", "archived"),
    ("archived", OPEN, "answer", "q1", "refuse", "thread_archived", "archived"),
]


@pytest.mark.parametrize(
    ("status", "interrupt", "kind", "answers", "action", "rule", "code"), TABLE
)
def test_what_a_message_does(status, interrupt, kind, answers, action, rule, code):
    decision = decide(status=status, interrupt=interrupt, kind=kind, interrupt_id=answers)

    assert decision == Decision(action=action, rule=rule, code=code)


ANYTHING = {
    "status": st.sampled_from(["idle", "running", "waiting", "archived"]),
    "interrupt": st.none() | st.fixed_dictionaries({"id": st.sampled_from(["q1", "q2"])}),
    "kind": st.sampled_from(["text", "answer"]),
    "interrupt_id": st.sampled_from(["", "q1", "q2"]),
}


@given(**ANYTHING)
def test_an_answer_is_taken_only_by_the_question_that_is_open_and_waits(
    status, interrupt, kind, interrupt_id
):
    decision = decide(status=status, interrupt=interrupt, kind=kind, interrupt_id=interrupt_id)

    names_it = interrupt is not None and interrupt["id"] == interrupt_id
    if decision.action == "answer":
        assert status == "waiting"
        assert names_it or (kind == "text" and not interrupt_id)
    assert (decision.action == "refuse") == bool(decision.code)
    assert decision.rule


@given(**ANYTHING)
def test_plain_words_are_refused_by_a_closed_thread_only(status, interrupt, kind, interrupt_id):
    decision = decide(status=status, interrupt=interrupt, kind="text", interrupt_id="")

    assert (decision.action == "refuse") == (status == "archived")


BESIDE = [
    ("correction", "auto", "supersede", "correction_while_running"),
    ("cancel", "auto", "supersede", "cancel_while_running"),
    ("restart", "auto", "supersede", "restart_while_running"),
    ("supplement", "auto", "join", "supplement_while_running"),
    ("new_intent", "auto", "queued", "new_intent_while_running"),
    ("answer", "auto", "queued", "answer_while_running"),
    ("", "auto", "queued", "text_while_running"),
    ("correction", "enqueue", "queued", "enqueued_as_asked"),
    ("new_intent", "interrupt", "supersede", "interrupt_as_asked"),
    ("new_intent", "rollback", "supersede", "rollback_as_asked"),
    ("correction", "reject", "refuse", "rejected_while_running"),
]


@pytest.mark.parametrize(("message_class", "strategy", "action", "rule"), BESIDE)
def test_what_words_beside_a_run_do(message_class, strategy, action, rule):
    decision = decide(
        status="running",
        interrupt=None,
        kind="text",
        interrupt_id="",
        message_class=message_class,
        strategy=strategy,
    )

    assert (decision.action, decision.rule) == (action, rule)
    if action != "refuse":
        assert action_of(rule) == action


@given(st.lists(st.sampled_from(["queued", "join", "supersede"]), min_size=1))
def test_one_message_that_supersedes_takes_the_others_along(actions):
    together = strongest(actions)

    order = ["queued", "join", "supersede"]
    assert order.index(together) == max(map(order.index, actions))
