"""Accept what people say: decide, store, acknowledge. A row is there before anybody is told so."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from agentruntime.agents import Said, get_agent
from agentruntime.exceptions import (
    InboxFull,
    RuntimeFault,
    StaleAnswer,
    StorageUnavailable,
    ThreadArchived,
    ThreadNotFound,
)
from agentruntime.execution.turns import said_of
from agentruntime.orchestration import policy
from agentruntime.persistence import store
from agentruntime.persistence.pools import Pool
from agentruntime.persistence.records import Claim, NewMessage, ThreadView

# A thread that moves on this often while one message is being decided has something wrong.
MAX_DECISIONS = 20

_REFUSALS: dict[str, Callable[[], RuntimeFault]] = {
    "archived": ThreadArchived,
    "busy": InboxFull,
    "stale_answer": StaleAnswer,
}


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """A message that is stored. `claim` is set when this worker now has to run the thread."""

    thread: ThreadView
    message_id: int
    classification: str
    action: str
    repeated: bool
    claim: Claim | None


async def accept(
    pool: Pool,
    message: NewMessage,
    *,
    seen: ThreadView,
    worker: str,
    lease: timedelta,
    accepting: bool = True,
) -> Receipt:
    """Store a message and say what it does; a repeated client id changes nothing.

    seen: the thread as the caller last saw it; when it has moved on, the decision is made again
    on what it is now. accepting: False while this worker drains (it stores, but claims nothing).
    Raises StaleAnswer, ThreadArchived (the refusal is stored), StorageUnavailable.
    """
    fresh = False
    for _ in range(MAX_DECISIONS):
        classification = await _classify(pool, message, seen)
        decision = policy.decide(
            status=seen.status,
            interrupt=seen.interrupt,
            kind=message.kind,
            interrupt_id=message.interrupt_id,
            message_class=classification,
            strategy=message.strategy,
        )
        if decision.action != "refuse":
            claims = accepting and decision.action in {"start", "answer"}
            accepted = await store.accept(
                pool,
                _beside(message) if seen.status == "running" else message,
                seen=seen,
                classification=classification,
                rule=decision.rule,
                claim_for=worker if claims else None,
                lease=lease,
            )
            if accepted.expected and accepted.message_id is not None:
                claim = accepted.claim
                if claims and claim is None:
                    claim = await store.claim(
                        pool, thread=message.thread, worker=worker, lease=lease
                    )
                return Receipt(
                    thread=accepted.thread,
                    message_id=accepted.message_id,
                    classification=classification,
                    action=decision.action,
                    repeated=False,
                    claim=claim,
                )
            seen, fresh = accepted.thread, True
        known = await _known(pool, message, seen)
        if known:
            return known
        if decision.action == "refuse":
            if fresh:
                await store.refuse(pool, message, classification=classification, rule=decision.rule)
                raise _REFUSALS[decision.code]()
            seen, fresh = await _fresh(pool, message.thread), True
    raise StorageUnavailable("the thread changes faster than a message can be stored")


def _beside(message: NewMessage) -> NewMessage:
    """Words beside a run are words, whatever question they were written under: the run replaces it."""
    return replace(message, interrupt_id="") if message.kind == "text" else message


async def _fresh(pool: Pool, thread: str) -> ThreadView:
    found = await store.snapshot(pool, thread, limit=0)
    if found is None:
        raise ThreadNotFound(thread)
    return found[0]


async def _classify(pool: Pool, message: NewMessage, seen: ThreadView) -> str:
    """What the agent takes it to be; only where a decision needs to know: beside a run."""
    if seen.status != "running" or message.kind != "text":
        return ""
    before = [said_of(each) for each in await store.unread(pool, message.thread)]
    said = Said(id=0, at=datetime.now(UTC).isoformat(), text=message.text)
    return get_agent(seen.agent).classify(said, seen.summary, before)


async def _known(pool: Pool, message: NewMessage, seen: ThreadView) -> Receipt | None:
    """The receipt of a message that is stored already, for a resend."""
    if message.client_id is None:
        return None
    row = await store.stored_message(pool, thread=message.thread, client_id=message.client_id)
    if row is None:
        return None
    if row["rule"] == "stale_answer":
        raise StaleAnswer
    return Receipt(
        thread=seen,
        message_id=row["id"],
        classification=row["classification"],
        action="queued" if seen.status == "running" else "answer",
        repeated=True,
        claim=None,
    )
