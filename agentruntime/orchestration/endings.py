"""How a run ends without its turn: stopped, failed, given up. The thread stands as before it."""

import logging
from typing import Any

from agentruntime.events import RunFailed
from agentruntime.exceptions import Quarantined, RuntimeFault
from agentruntime.execution.runner import Run
from agentruntime.persistence import store
from agentruntime.persistence.pools import Pool
from agentruntime.persistence.records import Committed, ThreadView, TurnCommit
from agentruntime.persistence.saver import TurnRows
from agentruntime.persistence.store import STOPPED

log = logging.getLogger(__name__)


async def stopped(pool: Pool, run: Run) -> Committed:
    """End a turn that its person stopped: its messages are read, a word says so."""
    return await _end(pool, run, run_status="stopped", error="stopped by its person")


async def failed(pool: Pool, run: Run, error: Exception) -> Committed:
    """End the run with an error, which is also a message."""
    code = error.code if isinstance(error, RuntimeFault) else "internal"
    retry = error.retry if isinstance(error, RuntimeFault) else True
    words = f"{type(error).__name__}: {error}"
    return await _end(pool, run, run_status="failed", error=words, failure=(code, retry))


async def quarantined(pool: Pool, run: Run) -> Committed:
    """Set aside what ended its worker again and again; the conversation can go on without."""
    log.error("thread_quarantined thread=%s attempt=%s", run.claim.thread.id, run.claim.attempt)
    return await _end(
        pool,
        run,
        run_status="quarantined",
        error=f"given up: {run.claim.attempt - 1} workers were lost with it",
        failure=(Quarantined.code, Quarantined.retry),
        quarantine=True,
    )


def _said(kind: str, code: str) -> dict[str, Any]:
    return {"kind": kind, "text": "", "data": {"code": code}, "interrupt_id": ""}


async def _end(
    pool: Pool,
    run: Run,
    *,
    run_status: str,
    error: str,
    failure: tuple[str, bool] | None = None,
    quarantine: bool = False,
) -> Committed:
    """failure: the code told to the person and whether trying again may help; None for a stop."""
    thread = run.claim.thread
    run.is_committing = True
    consumed, aside = dict.fromkeys(run.input.consumed, ""), dict(run.input.aside)
    if quarantine:
        aside |= dict.fromkeys(consumed, ("quarantined", "given_up"))
        consumed = {}
    status = _status_of(thread)
    committed = await store.commit_turn(
        pool,
        TurnCommit(
            lease=run.claim.lease,
            rows=TurnRows(),
            status=status,
            run_status=run_status,
            head=thread.head,
            interrupt=thread.interrupt,
            summary=thread.summary,
            title=thread.title,
            language=thread.language,
            agent_version=run.spec.version,
            consumed=consumed,
            left=run.left,
            aside=aside,
            outcome="failed" if quarantine and thread.interrupt is None else "",
            phase=str(thread.summary.get("phase", "")),
            quarantine=quarantine,
            said=[_said("error", failure[0]) if failure else _said("notice", STOPPED)],
            steps=run.steps,
            error=error,
        ),
    )
    if failure is not None:
        run.tell(RunFailed, code=failure[0], retry=failure[1])
    run.told_turn(committed, status=status, interrupt=thread.interrupt, summary=thread.summary)
    return committed


def _status_of(thread: ThreadView) -> str:
    """What a thread is when nobody runs it."""
    return "idle" if thread.interrupt is None else "waiting"
