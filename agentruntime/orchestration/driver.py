"""Drives one thread while this process holds it: run after run until nothing is unread."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Protocol

from agentruntime.agents import AgentSpec
from agentruntime.events import Event, MessageStored, NoticeGiven, RunFailed
from agentruntime.exceptions import (
    RunSuperseded,
    RunTimedOut,
    RuntimeFault,
    StorageUnavailable,
)
from agentruntime.execution.runner import Graph, Run, RunSettings
from agentruntime.execution.turns import turn_input
from agentruntime.orchestration import policy
from agentruntime.orchestration.leases import LeaseKeeper
from agentruntime.persistence import store
from agentruntime.persistence.pools import Pool
from agentruntime.persistence.records import Claim, Committed, Lease, ThreadView, TurnCommit
from agentruntime.persistence.saver import TurnRows

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
# Words that go on and on are answered after so many debounce times.
DEBOUNCE_CEILING = 4
STOPPED = "stopped"
_NOTICES = {"join": "adjusting", "stop": STOPPED}


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
        self._stop_asked = False
        self._work: asyncio.Task[Committed] | None = None
        self._news = asyncio.Event()
        self._beside = 0
        self._ceiling = 0.0
        self._is_changing = False
        self._wanted: policy.Action | Literal["stop"] = "queued"

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

        False when nothing runs, or it is too late: it is being committed, or acts where nothing
        can be taken back. An act in our own database is waited for and then lets the run end.
        """
        run = self._run
        if self.task is None or self.task.done() or (run is not None and not run.is_stoppable):
            return False
        self._stop_asked = True
        self._news.set()
        return True

    def _lose(self, lease: Lease) -> None:
        """The keeper no longer holds this lease. Which may be because this driver has just ended
        the run or taken the thread anew: then the fence in the database has decided already.
        """
        run = self._run
        is_over = run is not None and run.claim.lease == lease and run.is_committing
        if lease != self._claim.lease or is_over or self._is_changing:
            return
        self._lost = True
        if self._run is not None:
            self._run.context.superseded = True
        self.stop()

    def hear(self, event: Event) -> None:
        """An event of the thread from another process: words beside the run, or a newer run."""
        if isinstance(event, MessageStored):
            self.nudge()
        elif event.version > self._claim.lease.version:
            self._lose(self._claim.lease)

    def nudge(self) -> None:
        """Something was said beside the run: look what it asks for."""
        self._news.set()

    async def _drive(self) -> None:
        try:
            claim: Claim | None = self._claim
            while claim is not None:
                self._claim = claim
                self._leases.hold(
                    claim.lease, on_lost=partial(self._lose, claim.lease), on_unread=self.nudge
                )
                try:
                    claim = await self._next(await self._gathered(claim))
                finally:
                    self._leases.drop(self._claim.lease)
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

    async def _gathered(self, claim: Claim) -> Claim:
        """The claim with what else is said at once, if what was said looks unfinished.

        Each further message starts the wait anew, up to a ceiling.
        """
        if claim.flushed is not None or claim.notice:
            return claim
        loop = asyncio.get_running_loop()
        ceiling = loop.time() + self._settings.debounce * DEBOUNCE_CEILING
        while not self._is_settled(claim):
            if self._stop_asked:
                return replace(claim, notice=STOPPED)
            self._news.clear()
            wait = min(self._settings.debounce, ceiling - loop.time())
            try:
                await asyncio.wait_for(self._news.wait(), max(0.0, wait))
            except TimeoutError:
                break
            claim = replace(claim, pending=await store.unread(self._pool, self.thread))
        return claim

    def _is_settled(self, claim: Claim) -> bool:
        taken = turn_input(claim.thread.interrupt, claim.pending).messages
        if not taken or any(said.value is not None for said in taken):
            return True
        return self._spec.is_settled(taken, claim.thread.summary)

    async def _next(self, claim: Claim) -> Claim | None:
        """Run a turn to its end, unless what is said beside it starts it again; what comes next."""
        run = self._run = self._made(claim)
        if claim.notice == STOPPED:
            return await self._after(await self._stopped(run))
        work = asyncio.create_task(self._turn(run), name=f"run {self.thread}")
        self._work = work
        try:
            again = await self._attend(run, work)
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait([work])
        return again or await self._after(work.result())

    async def _after(self, committed: Committed) -> Claim | None:
        return await self._leases.claim(self.thread) if committed.pending else None

    async def _attend(self, run: Run, work: "asyncio.Task[Committed]") -> Claim | None:
        """Wait for the run, minding what is said beside it; the claim that starts it again."""
        loop = asyncio.get_running_loop()
        known = {message.id for message in run.claim.pending}
        due: float | None = None
        self._ceiling = 0.0
        while not work.done():
            news = asyncio.ensure_future(self._news.wait())
            wait = None if due is None else max(0.0, due - loop.time())
            await asyncio.wait({work, news}, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
            news.cancel()
            if work.done():
                break
            if self._news.is_set():
                due = await self._due(run, known) or due
            if due is not None and loop.time() >= due:
                again = await self._superseded(run)
                if again is not None:
                    return again
                due = None
        return None

    async def _due(self, run: Run, known: set[int]) -> float | None:
        """When the run is to be started again for what is new; None if it is not."""
        now = asyncio.get_running_loop().time()
        self._news.clear()
        if self._stop_asked:
            self._stop_asked = False
            self._wanted = "stop"
            return now
        action = await self._heard(run, known)
        if action == "supersede":
            return now
        if action == "join":
            self._ceiling = self._ceiling or now + self._settings.debounce * DEBOUNCE_CEILING
            return min(now + self._settings.debounce, self._ceiling)
        return None

    async def _heard(self, run: Run, known: set[int]) -> policy.Action | None:
        """What the messages new since the last look want done; told to the person if they wait."""
        fresh = [m for m in await store.unread(self._pool, self.thread) if m.id not in known]
        known.update(message.id for message in fresh)
        if not fresh:
            return None
        action = policy.strongest([policy.action_of(message.rule) for message in fresh])
        self._wanted = action
        if action == "queued" or not run.is_stoppable:
            run.tell(NoticeGiven, code="queued")
        return action

    async def _superseded(self, run: Run) -> Claim | None:
        """Start the turn again with all that was said; None when it is too late for that."""
        if not run.is_stoppable:
            return None
        why = _NOTICES.get(self._wanted, "superseded")
        self._is_changing = True
        try:
            claim = await store.supersede(
                self._pool, run.claim, lease=self._leases.duration, why=why
            )
            if claim is None:
                return None
            self._leases.drop(self._claim.lease)
            self._claim = claim
        finally:
            self._is_changing = False
        run.context.superseded = True
        if why == STOPPED:
            # What was said beside the stopped run is for the next turn.
            taken = [m for m in claim.pending if m.id in run.input.consumed]
            self._beside = len(claim.pending) - len(taken)
            claim = replace(claim, pending=taken)
        return replace(claim, notice=why)

    def _made(self, claim: Claim) -> Run:
        return Run(
            claim,
            pool=self._pool,
            spec=self._spec,
            graph=self._graph,
            settings=self._settings,
            publish=self._followers.put,
        )

    async def _turn(self, run: Run) -> Committed:
        claim = run.claim
        if claim.attempt > MAX_ATTEMPTS:
            return await self._fail(run, RuntimeFault("given up after repeated loss"))
        try:
            async with asyncio.timeout(self._run_seconds):
                return await run.execute()
        except (RunSuperseded, StorageUnavailable):
            raise
        except TimeoutError:
            return await self._fail(run, RunTimedOut(f"over {self._run_seconds} s"))
        except Exception as error:
            log.exception("run_failed thread=%s version=%s", self.thread, claim.lease.version)
            return await self._fail(run, error)

    async def _stopped(self, run: Run) -> Committed:
        """End a turn that its person stopped: its messages are read, a word says so."""
        said = {"kind": "notice", "text": "", "data": {"code": STOPPED}, "interrupt_id": ""}
        beside, self._beside, self._stop_asked = self._beside, 0, False
        committed = await self._commit_nothing(
            run, run_status="stopped", error="stopped by its person", said=[said], beside=beside
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
        self,
        run: Run,
        *,
        run_status: str,
        error: str,
        said: Sequence[Mapping[str, Any]] = (),
        beside: int = 0,
    ) -> Committed:
        """End the run without its turn: the thread stands as before it, its messages are read."""
        claim, thread = run.claim, run.claim.thread
        run.is_committing = True
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
                left=run.left + beside,
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
