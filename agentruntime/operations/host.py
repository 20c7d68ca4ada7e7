"""What one server process owns: the pool, the compiled graphs, its drivers and its leases.

Opened in the server's own event loop, closed by its drain. There is one at a time in a process.
"""

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from agentruntime.agents import all_agents, get_agent
from agentruntime.events import MessageStored, MessageWithdrawn, StopAsked
from agentruntime.exceptions import AlreadyRead, StorageUnavailable
from agentruntime.execution.runner import Graph, RunSettings
from agentruntime.operations.heartbeat import Heartbeat
from agentruntime.operations.monitor import Monitor
from agentruntime.orchestration import inbox
from agentruntime.orchestration.delivery import Delivery, Listener
from agentruntime.orchestration.driver import ThreadDriver
from agentruntime.orchestration.inbox import Receipt
from agentruntime.orchestration.leases import LeaseKeeper
from agentruntime.orchestration.outlet import Outlet
from agentruntime.persistence import store
from agentruntime.persistence.pools import Pool, conninfo, open_pool
from agentruntime.persistence.records import Claim, MessageView, NewMessage, ThreadView

log = logging.getLogger(__name__)


HEAD_CHECK_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class HostSettings:
    """Seconds, all of them; see the settings table in README.md."""

    lease_seconds: float = 12.0
    beat_seconds: float = 3.0
    flush_after_seconds: float = 5.0
    run_seconds: float = 120.0
    drain_seconds: float = 8.0
    watch_seconds: float = 0.5
    debounce_seconds: float = 0.8
    idle_seconds: float = 600.0
    hang_seconds: float = 60.0


def worker_id() -> str:
    """A name no other process has or had: host, process id and chance, under 50 characters."""
    return f"{socket.gethostname()[:24]}-{os.getpid()}-{secrets.token_hex(3)}"


def _now() -> datetime:
    return datetime.now(UTC)


class RuntimeHost:
    """Runs threads for this process. `start` before use, `drain` and `stop` at the end.

    settings, shift: read anew for every thread that is driven; shift is added to every instant
    agents see. does_chores: whether it looks after what belongs to no process.
    """

    def __init__(self, settings: HostSettings, *, does_chores: bool = True) -> None:
        self.settings = settings
        self.worker = worker_id()
        self.draining = False
        self.delivery = Delivery(self.worker)
        self.shift = timedelta()
        self._does_chores = does_chores
        self._drivers: dict[str, ThreadDriver] = {}
        self._graphs: dict[str, Graph] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._pool: Pool | None = None
        self._leases: LeaseKeeper | None = None
        self._heart: Heartbeat | None = None

    @property
    def pool(self) -> Pool:
        """The hot path's connections. Raises StorageUnavailable before `start`."""
        if self._pool is None:
            raise StorageUnavailable("the runtime is not started")
        return self._pool

    @property
    def leases(self) -> LeaseKeeper:
        if self._leases is None:
            raise StorageUnavailable("the runtime is not started")
        return self._leases

    async def start(self) -> None:
        """Open the pool, compile the graphs, begin to renew leases and to look for work."""
        self._graphs = {spec.name: spec.build_graph().compile() for spec in all_agents()}
        self._pool = await open_pool(worker=self.worker)
        self._leases = LeaseKeeper(
            self._pool,
            worker=self.worker,
            seconds=self.settings.lease_seconds,
            beat=self.settings.beat_seconds,
        )
        self._own(self._leases.keep(), "renew leases")
        self._heart = Heartbeat(
            self.worker,
            conninfo=conninfo(worker=self.worker),
            loop=asyncio.get_running_loop(),
            beat=self.settings.beat_seconds,
            holds=lambda: [driver.progress for driver in list(self._drivers.values())],
            is_draining=lambda: self.draining,
            hung_after=self.settings.lease_seconds,
            exit_after=self.settings.hang_seconds,
        )
        self._heart.start()
        self.monitor = Monitor(
            self._pool,
            worker=self.worker,
            beat=self.settings.beat_seconds,
            idle_seconds=self.settings.idle_seconds,
        )
        if self._does_chores:
            self._own(self.monitor.run(), "have chores done")
        self._own(self._attend(), "look for unattended threads")
        self._own(self.delivery.relay.listen(), "listen to other workers")
        self._own(self.delivery.relay.watch(), "send canaries")
        self._own(self._notice_turns(), "compare turns")
        log.info("worker_started worker=%s", self.worker)

    async def drain(self) -> None:
        """Take no new work; let runs end within the drain time, then stop them."""
        self.draining = True
        tasks = [task for driver in self._drivers.values() if (task := driver.task)]
        if tasks:
            await asyncio.wait(tasks, timeout=self.settings.drain_seconds / 2)
        for driver in list(self._drivers.values()):
            driver.stop()
        if tasks:
            await asyncio.wait(tasks, timeout=self.settings.drain_seconds / 2)
        log.info("worker_drained worker=%s left=%d", self.worker, len(self._drivers))

    async def stop(self) -> None:
        """End every task and close the pool."""
        self.draining = True
        for driver in list(self._drivers.values()):
            driver.stop()
        owned = [task for task in self._tasks if not task.done()]
        owned += [t for d in self._drivers.values() if (t := d.task) and not t.done()]
        for task in owned:
            task.cancel()
        if owned:
            await asyncio.wait(owned, timeout=2)
        if self._heart is not None:
            self._heart.stop()
            await asyncio.to_thread(self._heart.join, 1.0)
        if self._pool is not None:
            await self._pool.close(timeout=2)
            self._pool = None

    async def accept(
        self, message: NewMessage, *, seen: ThreadView, by: Listener | None = None
    ) -> Receipt:
        """Store what a person said and set its thread going (see `inbox.accept`).

        by: the follower it comes from, which need not be told.
        """
        receipt = await inbox.accept(
            self.pool,
            message,
            seen=seen,
            worker=self.worker,
            lease=self.leases.duration,
            accepting=not self.draining,
        )
        if not receipt.repeated:
            stored = _stored(message, receipt)
            self.delivery.tell(stored, but=by)
            if not self.delivery.is_alone:
                self._own(self.delivery.relay.send(stored), "tell other workers")
        if receipt.claim is not None:
            self.drive(receipt.claim)
        elif not receipt.repeated and message.thread in self._drivers:
            self._drivers[message.thread].nudge()
        return receipt

    def drive(self, claim: Claim) -> None:
        """Run a claimed thread in this process until its inbox is empty."""
        spec = get_agent(claim.thread.agent)
        driver = ThreadDriver(
            claim,
            pool=self.pool,
            leases=self.leases,
            spec=spec,
            graph=self._graphs[spec.name],
            settings=RunSettings(
                flush_after=self.settings.flush_after_seconds,
                debounce=self.settings.debounce_seconds,
                shift=self.shift,
            ),
            run_seconds=self.settings.run_seconds,
            followers=Outlet(self.delivery),
        )
        self._drivers[driver.thread] = driver
        driver.start(self._driver_ended)
        if not self.delivery.is_alone:
            self._own(self.delivery.follow(driver.thread, driver.hear), "hear other workers")

    def step_of(self, thread: str) -> tuple[int, str] | None:
        """`(run version, node)` of the thread's run, if this process runs it."""
        driver = self._drivers.get(thread)
        return driver.step if driver else None

    async def stop_run(self, thread: str) -> bool:
        """Stop the thread's run for good, whichever process has it; False when it is too late.

        The wish is stored: it outlives this process and that one. Raises StorageUnavailable.
        """
        driver = self._drivers.get(thread)
        if driver is not None:
            return driver.stop_turn()
        version = await store.ask_to_stop(self.pool, thread)
        if version is not None and not self.delivery.is_alone:
            asked = StopAsked(thread=thread, version=version, n=0, turn=-1)
            self._own(self.delivery.relay.send(asked), "tell other workers")
        return version is not None

    async def withdraw(self, thread: ThreadView, client_id: str) -> None:
        """Take back a message that waits. Raises AlreadyRead, StorageUnavailable."""
        if not await store.withdraw(self.pool, thread=thread.id, client_id=client_id):
            raise AlreadyRead
        gone = MessageWithdrawn(
            thread=thread.id, version=-1, n=0, turn=thread.turn, client_id=client_id
        )
        self.delivery.tell(gone)
        if thread.id in self._drivers:
            self._drivers[thread.id].nudge()
        if not self.delivery.is_alone:
            self._own(self.delivery.relay.send(gone), "tell other workers")

    async def snapshot(self, thread: str) -> tuple[ThreadView, list[MessageView]] | None:
        """The committed thread and its transcript."""
        return await store.snapshot(self.pool, thread)

    def _driver_ended(self, driver: ThreadDriver) -> None:
        if self._drivers.get(driver.thread) is driver:
            del self._drivers[driver.thread]
        if not self.delivery.is_alone:
            self._own(self.delivery.unfollow(driver.thread, driver.hear), "hear no more")
        task = driver.task
        if task is not None and not task.cancelled() and (error := task.exception()):
            log.error("driver_failed thread=%s", driver.thread, exc_info=error)

    async def _attend(self) -> None:
        """Take over threads whose messages nobody reads: at once, then every beat."""
        while True:
            try:
                await self.attend()
            except StorageUnavailable as error:
                log.warning("unattended_not_read error=%s", error)
            except Exception:
                log.exception("unattended_not_read")
            await asyncio.sleep(self.settings.watch_seconds)

    async def _notice_turns(self) -> None:
        """Find out what the followers here have missed, for ever."""
        while True:
            await asyncio.sleep(HEAD_CHECK_SECONDS)
            try:
                await self.delivery.notice_turns(self.pool)
                self.delivery.reached(database=True)
            except StorageUnavailable as error:
                self.delivery.reached(database=False)
                log.warning("turns_not_compared error=%s", error)

    async def attend(self) -> None:
        """One look for unattended threads; each that can be claimed is driven here."""
        if self.draining:
            return
        found = await store.unattended(
            self.pool, agents=list(self._graphs), lease=self.leases.duration
        )
        for thread in found:
            if thread in self._drivers:
                continue
            claim = await self.leases.claim(thread)
            if claim is not None:
                log.info("thread_taken thread=%s kind=%s", thread, claim.kind)
                self.drive(claim)

    def _own(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._task_ended)

    def _task_ended(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("task_failed name=%s", task.get_name(), exc_info=error)


def _stored(message: NewMessage, receipt: Receipt) -> MessageStored:
    thread = receipt.thread
    return MessageStored(
        thread=thread.id,
        version=receipt.claim.lease.version if receipt.claim else thread.run_version,
        n=0,
        turn=thread.turn,
        message={
            "id": receipt.message_id,
            "client_id": message.client_id,
            "kind": message.kind,
            "text": message.text,
            "data": dict(message.data),
            "interrupt_id": message.interrupt_id,
            "created_at": _now().isoformat(),
        },
    )


_current: RuntimeHost | None = None


def set_host(host: RuntimeHost | None) -> None:
    """Make a started host the one that this process's edges use."""
    global _current
    _current = host


def get_host() -> RuntimeHost:
    """The host of this process. Raises StorageUnavailable when there is none."""
    if _current is None:
        raise StorageUnavailable("this process runs no threads")
    return _current
