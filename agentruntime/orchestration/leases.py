"""The leases one process holds: renewed together by its event loop, lost together when it hangs."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from agentruntime.exceptions import StorageUnavailable
from agentruntime.persistence import store
from agentruntime.persistence.pools import Pool
from agentruntime.persistence.records import Claim, Lease

log = logging.getLogger(__name__)

# A worker stops its own runs this long before the database would give their threads away.
MARGIN_SECONDS = 1.0


@dataclass
class _Held:
    lease: Lease
    until: float
    on_lost: Callable[[], None]
    on_unread: Callable[[], None]
    on_stop: Callable[[], Any]


class LeaseKeeper:
    """seconds: how long a lease lasts; beat: how often it is renewed."""

    def __init__(self, pool: Pool, *, worker: str, seconds: float, beat: float) -> None:
        self.worker = worker
        self.duration = timedelta(seconds=seconds)
        self.beat = beat
        self._pool = pool
        self._held: dict[str, _Held] = {}

    async def claim(self, thread: str) -> Claim | None:
        """Take a thread that has unread messages and no living owner."""
        return await store.claim(self._pool, thread=thread, worker=self.worker, lease=self.duration)

    def hold(
        self,
        lease: Lease,
        *,
        on_lost: Callable[[], None],
        on_unread: Callable[[], None] = lambda: None,
        on_stop: Callable[[], Any] = lambda: None,
    ) -> None:
        """Renew this lease from now on. `on_lost` is called once if that fails, `on_unread` at
        every renewal that finds messages stored beside the run, by whichever process, `on_stop`
        at every one that finds its person wants it stopped.
        """
        until = time.monotonic() + self.duration.total_seconds()
        self._held[lease.thread] = _Held(lease, until, on_lost, on_unread, on_stop)

    def drop(self, lease: Lease) -> None:
        """Renew it no more: the run is over."""
        held = self._held.get(lease.thread)
        if held is not None and held.lease == lease:
            del self._held[lease.thread]

    async def keep(self) -> None:
        """Renew for ever, one statement a beat; the owner of the loop cancels it."""
        while True:
            await asyncio.sleep(self.beat)
            try:
                await self.renew()
            except Exception:
                log.exception("leases_not_renewed")
                self._stop_overdue()

    async def renew(self) -> None:
        """Renew what is held; stop what was lost or could not be renewed in time."""
        held = dict(self._held)
        if not held:
            return
        began = time.monotonic()
        try:
            kept = await store.renew(
                self._pool,
                worker=self.worker,
                held=[item.lease for item in held.values()],
                lease=self.duration,
            )
        except StorageUnavailable as error:
            log.warning("lease_renewal_failed error=%s", error)
            self._stop_overdue()
            return
        for thread, item in held.items():
            if self._held.get(thread) is not item:
                continue
            if (thread, item.lease.version) in kept:
                item.until = began + self.duration.total_seconds()
                found = kept[thread, item.lease.version]
                if found.is_stopped:
                    item.on_stop()
                if found.unread:
                    item.on_unread()
            else:
                self._lose(thread, item)

    def _stop_overdue(self) -> None:
        now = time.monotonic()
        for thread, item in list(self._held.items()):
            if now > item.until - MARGIN_SECONDS:
                self._lose(thread, item)

    def _lose(self, thread: str, item: _Held) -> None:
        log.warning("lease_lost thread=%s version=%s", thread, item.lease.version)
        del self._held[thread]
        item.on_lost()
