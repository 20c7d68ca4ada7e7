"""Drives one thread while this process holds it: run after run until nothing is unread."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Protocol

from agentruntime.agents import AgentSpec
from agentruntime.events import (
    Event,
    MessageStored,
    MessageWithdrawn,
    NoticeGiven,
    QueueChanged,
    StopAsked,
)
from agentruntime.exceptions import (
    RunSuperseded,
    RunTimedOut,
    StorageUnavailable,
)
from agentruntime.execution.runner import Graph, Run, RunSettings
from agentruntime.execution.turns import turn_input
from agentruntime.orchestration import endings, policy
from agentruntime.orchestration.leases import LeaseKeeper
from agentruntime.persistence import store
from agentruntime.persistence.pools import Pool
from agentruntime.persistence.records import (
    Claim,
    Committed,
    Lease,
    MessageView,
)
from agentruntime.persistence.store import STOPPED

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
# Words that go on and on are answered after so many debounce times.
DEBOUNCE_CEILING = 4
_NOTICES = {"join": "adjusting", "stop": STOPPED}


class Followers(Protocol):
    """Takes a run's events, at once and without failing; `close` waits for their delivery."""

    def put(self, event: Event) -> None: ...
    async def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A run in progress; moved_at: when its step began (monotonic seconds)."""

    thread: str
    run: str
    moved_at: float
    step: str = ""
    steps: int = 0
    tool: str = ""


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
        self._ceiling = 0.0
        self._is_changing = False
        self._wanted: policy.Action | Literal["stop"] = "queued"
        self._waiting: list[str] = []

    @property
    def step(self) -> tuple[int, str]:
        """`(run version, node)` of the run in progress; the node is "" before the first."""
        run = self._run
        return (self._claim.lease.version, run.step if run else "")

    @property
    def progress(self) -> Progress:
        """Where it stands, for the heartbeat."""
        run, lease = self._run, self._claim.lease
        if run is None:
            return Progress(thread=self.thread, run=str(lease.run), moved_at=time.monotonic())
        return Progress(
            thread=self.thread,
            run=str(lease.run),
            step=run.step,
            steps=len(run.steps),
            tool=run.context.tool,
            moved_at=run.moved_at,
        )

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
        """An event of the thread from another process: words beside the run, a wish to stop it, or
        a newer run.
        """
        if isinstance(event, MessageStored | MessageWithdrawn):
            self.nudge()
        elif isinstance(event, StopAsked):
            if event.version == self._claim.lease.version:
                self.stop_turn()
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
                    claim.lease,
                    on_lost=partial(self._lose, claim.lease),
                    on_unread=self.nudge,
                    on_stop=self.stop_turn,
                )
                try:
                    claim = await self._next(await self._gathered(claim))
                finally:
                    self._leases.drop(self._claim.lease)
        except RunSuperseded:
            log.info("run_superseded thread=%s version=%s", self.thread, self._claim.lease.version)
        except StorageUnavailable as error:
            # The worker is well, so this counts towards no quarantine: it is tried until it works.
            log.warning("run_without_storage thread=%s error=%s", self.thread, error)
            await self._give_back("superseded", f"without storage: {error}")
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
        is_more = False
        while is_more or not self._is_settled(claim):
            if self._stop_asked:
                return replace(claim, notice=STOPPED)
            self._news.clear()
            wait = min(self._settings.debounce, ceiling - loop.time())
            try:
                await asyncio.wait_for(self._news.wait(), max(0.0, wait))
            except TimeoutError:
                break
            claim = replace(claim, pending=await store.take_in(self._pool, claim.lease))
            is_more = True
        return claim

    def _is_settled(self, claim: Claim) -> bool:
        taken = turn_input(
            claim.thread.interrupt, claim.pending, changes=policy.changes_run
        ).messages
        if not taken or any(said.value is not None for said in taken):
            return True
        return self._spec.is_settled(taken, claim.thread.summary)

    async def _next(self, claim: Claim) -> Claim | None:
        """Run a turn to its end, unless what is said beside it starts it again; what comes next."""
        run = self._run = self._made(claim)
        if claim.notice == STOPPED:
            return await self._after(await self._stopped(run))
        taken = {*run.input.consumed, *run.input.aside}
        self._tell_queue(run, [m for m in claim.pending if m.id not in taken])
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
        self._stop_asked = False  # of the turn that has ended, whether it came in time or not
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
            try:
                await asyncio.wait({work, news}, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
            finally:
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
        unread = await store.unread(self._pool, self.thread)
        fresh = [m for m in unread if m.id not in known]
        known.update(message.id for message in fresh)
        taken = {*run.input.consumed, *run.input.aside}
        waiting = [message for message in unread if message.id not in taken]
        if not fresh:
            self._tell_queue(run, waiting)
            return None
        action = policy.strongest([policy.action_of(message.rule) for message in fresh])
        self._wanted = action
        if action == "queued" or not run.is_stoppable:
            run.tell(NoticeGiven, code="queued")
            self._tell_queue(run, waiting)
        return action

    def _tell_queue(self, run: Run, waiting: Sequence[MessageView]) -> None:
        """Tell what waits behind the run, if that has changed."""
        names = [message.client_id or str(message.id) for message in waiting]
        if names != self._waiting:
            self._waiting = names
            run.tell(QueueChanged, waiting=names)

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
        return claim

    def _made(self, claim: Claim) -> Run:
        return Run(
            claim,
            pool=self._pool,
            spec=self._spec,
            graph=self._graph,
            settings=self._settings,
            publish=self._followers.put,
            changes=policy.changes_run,
        )

    async def _turn(self, run: Run) -> Committed:
        claim = run.claim
        if claim.attempt > MAX_ATTEMPTS:
            return await endings.quarantined(self._pool, run)
        try:
            async with asyncio.timeout(self._run_seconds):
                return await run.execute()
        except (RunSuperseded, StorageUnavailable):
            raise
        except TimeoutError:
            return await endings.failed(self._pool, run, RunTimedOut(f"over {self._run_seconds} s"))
        except Exception as error:
            log.exception("run_failed thread=%s version=%s", self.thread, claim.lease.version)
            return await endings.failed(self._pool, run, error)

    async def _stopped(self, run: Run) -> Committed:
        """End a turn that its person stopped."""
        return await endings.stopped(self._pool, run)

    async def _give_back(self, status: str, error: str) -> None:
        try:
            await asyncio.shield(
                store.release(self._pool, self._claim.lease, status=status, error=error)
            )
        except StorageUnavailable:
            log.warning("lease_not_released thread=%s", self.thread)
