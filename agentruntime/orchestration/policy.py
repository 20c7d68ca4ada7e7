"""What a message does to its thread: pure, a table. No clock, no database, no settings.

Design 2.4. The agent says what a message is; this says what happens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Action = Literal["start", "answer", "join", "supersede", "queued", "refuse"]

# How a message wants to be treated beside a run; the names are those of the LangGraph platform.
STRATEGIES = ("auto", "enqueue", "reject", "interrupt", "rollback")

# What each class of message does to a run that has written nothing yet.
_BESIDE: Mapping[str, Action] = {
    "correction": "supersede",
    "cancel": "supersede",
    "restart": "supersede",
    "supplement": "join",
    "new_intent": "queued",
    "answer": "queued",
}

CLASSES = tuple(_BESIDE)


@dataclass(frozen=True, kw_only=True)
class Decision:
    """action: what happens. rule: which line of the table said so. code: why a refusal."""

    action: Action
    rule: str
    code: str = ""


def decide(
    *,
    status: str,
    interrupt: Mapping[str, Any] | None,
    kind: str,
    interrupt_id: str,
    message_class: str = "",
    strategy: str = "auto",
) -> Decision:
    """What to do with a message of `kind` (`text`, `answer`) on a thread.

    interrupt: the question the thread's last commit left open. While the thread is running it is
    the question that the run is answering, so an answer to it has come too late.
    message_class: what the agent takes it to be; matters beside a run only. A `join` or
    `supersede` is what is wanted: a run past its point of no return ends first.
    """
    if status == "archived":
        return Decision(action="refuse", rule="thread_archived", code="archived")
    if kind == "answer" or (interrupt_id and status != "running"):
        return _decide_answer(status=status, interrupt=interrupt, interrupt_id=interrupt_id)
    if status == "running":
        return _decide_beside(message_class, strategy)
    if status == "waiting":
        return Decision(action="answer", rule="text_answers_open_question")
    return Decision(action="start", rule="text_on_idle_thread")


def _decide_answer(
    *, status: str, interrupt: Mapping[str, Any] | None, interrupt_id: str
) -> Decision:
    if interrupt is None or interrupt.get("id") != interrupt_id:
        return Decision(action="refuse", rule="answers_another_question", code="stale_answer")
    if status != "waiting":
        return Decision(action="refuse", rule="already_answered", code="stale_answer")
    return Decision(action="answer", rule="answers_open_question")


def _decide_beside(message_class: str, strategy: str) -> Decision:
    if strategy == "reject":
        return Decision(action="refuse", rule="rejected_while_running", code="busy")
    if strategy == "enqueue":
        return Decision(action="queued", rule="enqueued_as_asked")
    if strategy in {"interrupt", "rollback"}:
        return Decision(action="supersede", rule=f"{strategy}_as_asked")
    action = _BESIDE.get(message_class, "queued")
    return Decision(action=action, rule=f"{message_class or 'text'}_while_running")


def strongest(actions: Sequence[Action]) -> Action:
    """What several messages do together: one that supersedes takes the others along."""
    for action in ("supersede", "join"):
        if action in actions:
            return action
    return "queued"


def action_of(rule: str) -> Action:
    """The action that a stored rule stands for, as `decide` named it."""
    if rule in {"interrupt_as_asked", "rollback_as_asked"}:
        return "supersede"
    return _BESIDE.get(rule.removesuffix("_while_running"), "queued")


def changes_run(rule: str) -> bool:
    """Whether a message stored by this rule belongs to the turn that it came beside."""
    return action_of(rule) in {"supersede", "join"}
