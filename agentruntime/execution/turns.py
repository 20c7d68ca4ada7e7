"""What a turn takes from its thread's unread messages: pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from agentruntime.agents import Said
from agentruntime.persistence.records import MessageView

# The status and the rule of an answer whose question was replaced before it was read.
STALE = ("refused", "stale_answer")


@dataclass(frozen=True, kw_only=True)
class TurnInput:
    """messages: what this turn answers. aside: what nobody answers, each with status and rule:
    answers to questions no longer open, words that a later message rolled back.

    interrupt: the question that is answered, or None for a fresh start. value: the graph's input
    (`{"messages": [...]}`) or the answer handed to `interrupt()`.
    """

    messages: Sequence[Said]
    aside: Mapping[int, tuple[str, str]]
    interrupt: str | None
    value: dict[str, Any]

    @property
    def consumed(self) -> list[int]:
        return [message.id for message in self.messages]


def turn_input(
    interrupt: Mapping[str, Any] | None,
    pending: Sequence[MessageView],
    *,
    changes: Callable[[str], bool] = lambda rule: False,
    shift: timedelta = timedelta(),
) -> TurnInput:
    """Read the unread messages in their order.

    changes: whether a message stored by this rule was said to change the run that it came beside.

    A structured answer to the open question is a turn of its own, but for what was said beside its
    run to change it; consecutive texts are one turn.
    """
    taken: list[Said] = []
    open_id = str(interrupt["id"]) if interrupt else None
    first = _newest_rollback(pending)
    aside = {message.id: ("refused", "rolled_back") for message in pending[:first]}
    for message in pending[first:]:
        is_answer = message.kind == "answer"
        if taken and (is_answer or (taken[0].value is not None and not changes(message.rule))):
            break
        if (is_answer or message.interrupt_id) and message.interrupt_id != open_id:
            aside[message.id] = STALE
            continue
        taken.append(said_of(message, shift=shift))
    value = _value(taken, open_id) if taken else {}
    return TurnInput(messages=taken, aside=aside, interrupt=open_id, value=value)


def _value(taken: Sequence[Said], open_id: str | None) -> dict[str, Any]:
    items = [_plain(item) for item in taken]
    if open_id is None:
        return {"messages": items}
    if taken[0].value is not None:
        return {**taken[0].value, "messages": items}
    return {"text": "\n".join(item.text for item in taken), "messages": items}


def _newest_rollback(pending: Sequence[MessageView]) -> int:
    """Where the message stands that takes the place of those before it; 0 without one."""
    for index in range(len(pending) - 1, -1, -1):
        if pending[index].rule == "rollback_as_asked":
            return index
    return 0


def said_of(message: MessageView, *, shift: timedelta = timedelta()) -> Said:
    """A stored message as agents see it."""
    return Said(
        id=message.id,
        at=(message.created_at + shift).isoformat(),
        text=message.text,
        value=message.data if message.kind == "answer" else None,
    )


def _plain(said: Said) -> dict[str, Any]:
    plain: dict[str, Any] = {"id": said.id, "at": said.at}
    if said.value is not None:
        plain["value"] = dict(said.value)
    else:
        plain["text"] = said.text
    return plain
