"""Drives one thread while this process holds it: run after run until nothing is unread."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from agentruntime.agents import AgentSpec
from agentruntime.events import Event, RunFailed
from agentruntime.exceptions import (
    RunSuperseded,
    RunTimedOut,
    RuntimeFault,
    StorageUnavailable,
)
from agentruntime.execution.runner import Graph, Run, RunSettings
from agentruntime.orchestration.leases import LeaseKeeper
from agentruntime.persistence import store
from agentruntime.persistence.pools import Pool
from agentruntime.persistence.saver import TurnRows
from agentruntime.persistence.store import Claim, Committed, ThreadView, TurnCommit

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3


class Followers(Protocol):
    """Takes a run's events, at once and without failing; `close` waits for their delivery."""

    def put(self, event: Event) -> None: ...
    async def close(self) -> None: ...


class ThreadDriver:
    """One thread, from a claim until its inbox is empty.

    run_seconds: the longest one run may take.
    """

    def __init__(
        self,
        claim: Claim,
        *,
        pool: Pool,
        leases: LeaseKeeper,
        spec: AgentSpec,
        graph: Graph,
        settings: RunSettings,
        run_seconds: float,
        followers: Followers,
    ) -> None:
        self.thread = claim.lease.thread
        self._claim = claim
        self._pool = pool
        self._leases = leases
        self._spec = spec
        self._graph = graph
        self._settings = settings
        self._run_seconds = run_seconds
        self._followers = followers
        self._run: Run | None = None
        self.task: asyncio.Task[None] | None = None
        self._lost = False
        self._halted = False

    @property
    def step(self) -> tuple[int, str]:
        """`(run version, node)` of the run in progress; the node is "" before the first."""
        run = self._run
        return (self._claim.lease.version, run.step if run else "")

    def start(self, on_end: Callable[["ThreadDriver"], None]) -> "asyncio.Task[None]":
        """Drive in a task of the running loop; `on_end` is called when it ends, however."""
        self.task = asyncio.create_task(self._drive(), name=f"drive {self.thread}")
        self.task.add_done_callback(lambda _: on_end(self))
        return self.task

    def stop(self) -> None:
        """Cancel the run and drop its turn; its messages stay unread and its lease is given back."""
        if self.task is not None:
            self.task.cancel()

    def stop_turn(self) -> bool:
        """Stop as a person asks: the turn is dropped for good, its messages count as read.

        False when it is too late: it acts outside its state already, or is being committed.
        """
        if self.task is None or self._run is None or not self._run.is_stoppable:
            return False
        self._halted = True
        self.task.cancel()
        return True

    def _lose(self) -> None:
        self._lost = True
        if self._run is not None:
            self._run.context.superseded = True
        self.stop()

    async def _drive(self) -> None:
        try:
            claim: Claim | None = self._claim
            while claim is not None:
                self._claim = claim
                self._leases.hold(claim.lease, on_lost=self._lose)
                try:
                    committed = await self._turn(claim)
                finally:
                    self._leases.drop(claim.lease)
                claim = await self._leases.claim(self.thread) if committed.pending else None
        except RunSuperseded:
            log.info("run_superseded thread=%s version=%s", self.thread, self._claim.lease.version)
        except StorageUnavailable as error:
            log.warning("run_without_storage thread=%s error=%s", self.thread, error)
            await self._give_back("lost", str(error))
        except asyncio.CancelledError:
            if not self._lost:
                await self._give_back("superseded", "stopped")
            raise
        except Exception as error:
            log.exception("run_not_ended thread=%s", self.thread)
            await self._give_back("lost", f"{type(error).__name__}: {error}")
        finally:
            await self._followers.close()

    async def _turn(self, claim: Claim) -> Committed:
        run = self._run = Run(
            claim,
            pool=self._pool,
            spec=self._spec,
            graph=self._graph,
            settings=self._settings,
            publish=self._followers.put,
        )
        if claim.attempt > MAX_ATTEMPTS:
            return await self._fail(run, RuntimeFault("given up after repeated loss"))
        try:
            async with asyncio.timeout(self._run_seconds):
                return await run.execute()
        except (RunSuperseded, StorageUnavailable):
            raise
        except asyncio.CancelledError:
            return await self._drop_if_halted(run)
        except TimeoutError:
            return await self._fail(run, RunTimedOut(f"over {self._run_seconds} s"))
        except Exception as error:
            log.exception("run_failed thread=%s version=%s", self.thread, claim.lease.version)
            return await self._fail(run, error)

    async def _drop_if_halted(self, run: Run) -> Committed:
        """What follows a cancellation: the end of the turn if a person asked for it."""
        task = asyncio.current_task()
        if not self._halted or task is None:
            raise asyncio.CancelledError
        self._halted = False
        task.uncancel()
        said = {"kind": "notice", "text": "", "data": {"code": "stopped"}, "interrupt_id": ""}
        committed = await self._commit_nothing(
            run, run_status="stopped", error="stopped by its person", said=[said]
        )
        self._tell_unchanged(run, committed)
        return committed

    async def _fail(self, run: Run, error: Exception) -> Committed:
        """End the run with an error, which is also a message."""
        code = error.code if isinstance(error, RuntimeFault) else "internal"
        retry = error.retry if isinstance(error, RuntimeFault) else True
        committed = await self._commit_nothing(
            run,
            run_status="failed",
            error=f"{type(error).__name__}: {error}",
            said=[{"kind": "error", "text": "", "data": {"code": code}, "interrupt_id": ""}],
        )
        run.tell(RunFailed, code=code, retry=retry)
        self._tell_unchanged(run, committed)
        return committed

    async def _commit_nothing(
        self, run: Run, *, run_status: str, error: str, said: Sequence[Mapping[str, Any]] = ()
    ) -> Committed:
        """End the run without its turn: the thread stands as before it, its messages are read."""
        claim, thread = run.claim, run.claim.thread
        return await store.commit_turn(
            self._pool,
            TurnCommit(
                lease=claim.lease,
                rows=TurnRows(),
                status=_status_of(thread),
                run_status=run_status,
                head=thread.head,
                interrupt=thread.interrupt,
                summary=thread.summary,
                title=thread.title,
                language=thread.language,
                agent_version=self._spec.version,
                consumed=dict.fromkeys(run.input.consumed, ""),
                left=run.left,
                refused=run.input.refused,
                said=said,
                steps=run.steps,
                error=error,
            ),
        )

    def _tell_unchanged(self, run: Run, committed: Committed) -> None:
        thread = run.claim.thread
        run.told_turn(
            committed,
            status=_status_of(thread),
            interrupt=thread.interrupt,
            summary=thread.summary,
        )

    async def _give_back(self, status: str, error: str) -> None:
        try:
            await asyncio.shield(
                store.release(self._pool, self._claim.lease, status=status, error=error)
            )
        except StorageUnavailable:
            log.warning("lease_not_released thread=%s", self.thread)


def _status_of(thread: ThreadView) -> str:
    """What a thread is when nobody runs it."""
    return "idle" if thread.interrupt is None else "waiting"
