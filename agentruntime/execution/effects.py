"""The ledger of what runs did outside their state: once per intent, in the transaction that did it.

Synchronous, for Django's ORM; `context.RunContext.effect` is its only caller.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Q

from agentruntime.exceptions import RunSuperseded
from agentruntime.models import Effect
from agentruntime.persistence.pools import TRANSACTION_TIMEOUT
from agentruntime.persistence.records import Lease
from agentruntime.persistence.statements import FENCE


@dataclass(frozen=True, kw_only=True)
class EffectRequest:
    """What a node wants done.

    intent: the key of the person's wish, kept in state from the question that was confirmed; the
        same wish is carried out once, whichever step, replay or fork asks for it again.
    task, checkpoint: the LangGraph task and the checkpoint it runs from.
    """

    name: str
    intent: str
    task: str
    checkpoint: str
    message: int | None
    arguments: Mapping[str, Any]


def perform(request: EffectRequest, *, lease: Lease, call: Callable[[Effect], Any]) -> Any:
    """Do it, or answer what it did before.

    `call` gets the effect's row, writes through Django's ORM in this transaction and returns
    plain JSON. What it raises undoes everything, the row included, and goes on to the caller.
    Raises RunSuperseded, nothing done, when the run no longer holds its thread.
    """
    with transaction.atomic():
        _fence(lease)
        known = _known(request, lease)
        if known is not None:
            return known.result
        try:
            with transaction.atomic():
                effect = Effect.objects.create(
                    thread_id=lease.thread,
                    run_id=lease.run,
                    run_version=lease.version,
                    name=request.name,
                    intent=request.intent,
                    task=request.task,
                    checkpoint=request.checkpoint,
                    message_id=request.message,
                    arguments=dict(request.arguments),
                )
        except IntegrityError:
            known = _known(request, lease)
            if known is None:
                raise
            return known.result
        effect.result = call(effect)
        effect.save(update_fields=["result"])
        return effect.result


def _fence(lease: Lease) -> None:
    with connection.cursor() as cursor:
        cursor.execute(FENCE, (f"{TRANSACTION_TIMEOUT}s", lease.thread, lease.version))
        if cursor.fetchone() is None:
            raise RunSuperseded(lease.thread)


def _known(request: EffectRequest, lease: Lease) -> Effect | None:
    same_step = Q(thread_id=lease.thread, task=request.task, name=request.name)
    return Effect.objects.filter(Q(intent=request.intent) | same_step).first()
