"""Looks after what belongs to no process: judges workers, ends idle sessions, has chores done."""

import asyncio
import logging
from collections.abc import Sequence

from agentruntime.exceptions import StorageUnavailable
from agentruntime.operations.chores import Chore, all_chores
from agentruntime.operations.health import judge
from agentruntime.persistence import fleet
from agentruntime.persistence.pools import Pool, in_db_thread

log = logging.getLogger(__name__)

SESSIONS_EVERY = 30.0


class Monitor:
    """One in every process; each chore is done by whichever finds it due first.

    beat: seconds between two looks. idle_seconds: how long a session may go without a word.
    """

    def __init__(self, pool: Pool, *, worker: str, beat: float, idle_seconds: float) -> None:
        self._pool = pool
        self._worker = worker
        self._beat = beat
        self._idle_seconds = idle_seconds
        own = (
            Chore(name="judge workers", every_seconds=beat, call=self.judge_workers),
            Chore(name="end idle sessions", every_seconds=SESSIONS_EVERY, call=self.end_sessions),
        )
        self._chores = {chore.name: chore for chore in (*own, *all_chores())}
        self._doing: dict[str, asyncio.Task[None]] = {}
        self._is_enrolled = False

    async def run(self) -> None:
        """Look for ever; the owner of the loop cancels it."""
        try:
            while True:
                await asyncio.sleep(self._beat)
                try:
                    await self.tick()
                except StorageUnavailable as error:
                    log.warning("chores_not_read error=%s", error)
                except Exception:
                    log.exception("chores_not_read")
        finally:
            for task in self._doing.values():
                task.cancel()

    async def tick(self) -> Sequence[str]:
        """One look: begin what is due and not still being done here; the names."""
        if not self._is_enrolled:
            await fleet.enrol(
                self._pool, [(c.name, c.every_seconds) for c in self._chores.values()]
            )
            self._is_enrolled = True
        free = [name for name in self._chores if name not in self._doing]
        due = await fleet.due(self._pool, free, worker=self._worker)
        for name in due:
            task = asyncio.create_task(self._do(self._chores[name]), name=f"chore {name}")
            self._doing[name] = task
            task.add_done_callback(lambda _, name=name: self._doing.pop(name, None))  # type: ignore[misc]
        return due

    async def settle(self) -> None:
        """Wait until what was begun here is done."""
        if self._doing:
            await asyncio.wait(list(self._doing.values()))

    async def _do(self, chore: Chore) -> None:
        error = ""
        try:
            if chore.is_async:
                await chore.call()
            else:
                await in_db_thread(chore.call)
        except Exception as failure:
            log.exception("chore_failed name=%s", chore.name)
            error = f"{type(failure).__name__}: {failure}"
        try:
            await fleet.done(self._pool, chore.name, error=error)
        except StorageUnavailable as failure:
            log.warning("chore_not_noted name=%s error=%s", chore.name, failure)

    async def judge_workers(self) -> None:
        """Keep a verdict on every worker where the admin shows it; tell of changes in the log."""
        verdicts = []
        for seen in await fleet.seen(self._pool):
            verdict = judge(seen)
            verdicts.append((seen.id, verdict.health, verdict.reason))
            if verdict.health != seen.health:
                log.warning(
                    "worker_judged worker=%s health=%s reason=%s",
                    seen.id,
                    verdict.health,
                    verdict.reason,
                )
        await fleet.judged(self._pool, verdicts)

    async def end_sessions(self) -> None:
        """End the sessions nobody has added to; their conversations stay as they are."""
        await fleet.time_out_sessions(self._pool, idle_seconds=self._idle_seconds)
