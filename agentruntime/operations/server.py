"""Our Daphne server: opens the runtime in its own event loop, drains on SIGTERM and SIGINT.

Plain Daphne cancels every consumer at once without a close frame, accepts on meanwhile, and may
never end. This one stops listening, drains the host, closes sockets with 4012, and leaves within
its time whatever happens. Importing this module installs Twisted's asyncio reactor.
"""

import asyncio
import gc
import logging
import os
import sys
import threading
from typing import Any

from daphne.server import Server, twisted_loop
from twisted.internet import defer

from agentruntime.operations.host import RuntimeHost, set_host
from agentruntime.operations.sockets import BoundedWebSocket
from agentruntime.operations.valve import VALVE

log = logging.getLogger(__name__)

RESTARTING = 4012
CANCEL_SECONDS = 1.5


class RuntimeServer(Server):
    """host: started before the first connection is accepted, drained at the end."""

    def __init__(self, *args: Any, host: RuntimeHost, **options: Any) -> None:
        super().__init__(*args, **options)
        self.host = host
        self.failed = False
        self._ports: list[Any] = []

    def run(self) -> None:
        """Open the host, then serve until a signal; leaves no task of ours behind."""
        asyncio.set_event_loop(twisted_loop)
        twisted_loop.run_until_complete(self.host.start())
        set_host(self.host)
        # What is loaded by now lives as long as the process: no collection need look at it again.
        gc.collect()
        gc.freeze()
        super().run()

    def listen_success(self, port: Any) -> None:
        self._ports.append(port)
        self.ws_factory.protocol = BoundedWebSocket
        super().listen_success(port)

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        """Daphne's, with the socket's valve in the scope of a WebSocket."""
        if isinstance(protocol, BoundedWebSocket):
            scope[VALVE] = protocol.valve
        return super().create_application(protocol, scope)

    def listen_error(self, failure: Any) -> None:
        self.failed = True
        sys.stderr.write(f"Cannot listen: {failure.getErrorMessage()}\n")
        super().listen_error(failure)

    def kill_all_applications(self) -> Any:
        """Daphne's trigger before shutdown: the drain."""
        self._leave_whatever_happens()
        drained = defer.Deferred.fromFuture(asyncio.ensure_future(self._drain()))
        drained.addErrback(lambda failure: log.error("drain_failed error=%s", failure))
        return drained

    def _leave_whatever_happens(self) -> None:
        """A blocked event loop cannot drain: a thread ends the process after the drain's time."""
        limit = self.host.settings.drain_seconds + CANCEL_SECONDS
        timer = threading.Timer(limit, os._exit, args=(1,))
        timer.daemon = True
        timer.start()

    async def _drain(self) -> None:
        for port in self._ports:
            await asyncio.wait_for(_stopped(port), timeout=1)
        await self.host.drain()
        for protocol in list(self.connections):
            if getattr(protocol, "application_type", None) == "websocket":
                protocol.sendClose(code=RESTARTING, reason="restarting")
        await self._end_applications()
        await self.host.stop()

    async def _end_applications(self) -> None:
        tasks = self._applications()
        if tasks:
            await asyncio.wait(tasks, timeout=CANCEL_SECONDS)
        for task in self._applications():
            task.cancel()
        if rest := self._applications():
            await asyncio.wait(rest, timeout=CANCEL_SECONDS / 2)
            log.warning("applications_cancelled count=%d", len(rest))

    def _applications(self) -> list[Any]:
        found = [details.get("application_instance") for details in self.connections.values()]
        return [task for task in found if task is not None and not task.done()]


async def _stopped(port: Any) -> None:
    stopping = port.stopListening()
    if stopping is not None:
        await stopping.asFuture(asyncio.get_running_loop())
