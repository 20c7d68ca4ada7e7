"""What a turn takes from its thread's unread messages: pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from agentruntime.agents import Said
from agentruntime.persistence.records import MessageView


@dataclass(frozen=True, kw_only=True)
class TurnInput:
    """messages: what this turn answers. refused: answers to questions no longer open.

    interrupt: the question that is answered, or None for a fresh start. value: the graph's input
    (`{"messages": [...]}`) or the answer handed to `interrupt()`.
    """

    messages: Sequence[Said]
    refused: Sequence[int]
    interrupt: str | None
    value: dict[str, Any]

    @property
    def consumed(self) -> list[int]:
        return [message.id for message in self.messages]


def turn_input(
    interrupt: Mapping[str, Any] | None,
    pending: Sequence[MessageView],
    *,
    shift: timedelta = timedelta(),
) -> TurnInput:
    """Read the unread messages in their order.

    A structured answer to the open question is a turn of its own; consecutive texts are one turn.
    """
    taken: list[Said] = []
    refused: list[int] = []
    open_id = str(interrupt["id"]) if interrupt else None
    for message in pending:
        is_answer = message.kind == "answer"
        if is_answer and taken:
            break
        if (is_answer or message.interrupt_id) and message.interrupt_id != open_id:
            refused.append(message.id)
            continue
        taken.append(said_of(message, shift=shift))
        if is_answer:
            break
    value: dict[str, Any] = {}
    if taken:
        items = [_plain(item) for item in taken]
        first = taken[0]
        if open_id is None:
            value = {"messages": items}
        elif first.value is not None:
            value = {**first.value, "messages": items}
        else:
            value = {"text": "\n".join(item.text for item in taken), "messages": items}
    return TurnInput(messages=taken, refused=refused, interrupt=open_id, value=value)


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
