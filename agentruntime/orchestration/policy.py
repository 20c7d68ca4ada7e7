"""What a message does to its thread: pure, a table. No clock, no database, no settings.

Design 2.4. The agent says what a message is; this says what happens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Action = Literal["start", "answer", "join", "supersede", "queued", "refuse"]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """action: what happens. rule: which line of the table said so. code: why a refusal."""

    action: Action
    rule: str
    code: str = ""


def decide(
    *, status: str, interrupt: Mapping[str, Any] | None, kind: str, interrupt_id: str
) -> Decision:
    """What to do with a message of `kind` (`text`, `answer`) on a thread.

    interrupt: the question the thread's last commit left open. While the thread is running it is
    the question that the run is answering, so an answer to it has come too late.
    """
    if status == "archived":
        return Decision(action="refuse", rule="thread_archived", code="archived")
    if kind == "answer" or interrupt_id:
        return _decide_answer(status=status, interrupt=interrupt, interrupt_id=interrupt_id)
    if status == "running":
        return Decision(action="queued", rule="text_while_running")
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
