"""WebSockets with bounds in both directions, which Daphne's do not have.

Outwards a valve tells the consumer whether its client still reads: the transport buffers 64 KB,
and whatever is sent on top of that stays in memory. Inwards reading from the network pauses while
the application has not yet taken what was read, so that TCP slows the client down.
"""

import asyncio
from typing import Any

from daphne.ws_protocol import WebSocketProtocol

from agentruntime.operations.valve import Valve

INBOUND_LIMIT = 32
LOOK_SECONDS = 0.05
SLICE_BYTES = 1024


class BoundedWebSocket(WebSocketProtocol):
    """Daphne's protocol with a valve outwards and a bound inwards."""

    _is_paused = False
    _is_parsing = False
    _backlog = b""

    def onConnect(self, request: Any) -> Any:  # noqa: N802 - Autobahn's name
        self.valve = Valve()
        transport: Any = self.transport
        transport.unregisterProducer()
        transport.registerProducer(self.valve, streaming=True)
        return super().onConnect(request)  # type: ignore[no-untyped-call]

    def serverSend(self, content: Any, binary: bool = False) -> None:  # noqa: FBT001, FBT002, N802
        """What comes too late for a socket that has closed meanwhile is for nobody."""
        if self.state in {self.STATE_CONNECTING, self.STATE_OPEN}:
            super().serverSend(content, binary)  # type: ignore[no-untyped-call]

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Parse much at once in slices, between which others have their turn."""
        if self._is_parsing or len(data) > SLICE_BYTES:
            self._backlog += data
            self._parse_soon()
        else:
            super().dataReceived(data)

    def _parse_soon(self) -> None:
        transport: Any = self.transport
        if not self._is_parsing:
            self._is_parsing = True
            transport.pauseProducing()
            asyncio.get_running_loop().call_soon(self._parse)

    def _parse(self) -> None:
        """One slice; what comes on a socket that is being closed is nobody's."""
        transport: Any = self.transport
        if self._is_paused:
            asyncio.get_running_loop().call_later(LOOK_SECONDS, self._parse)
            return
        if self.state in {self.STATE_CLOSING, self.STATE_CLOSED}:
            self._backlog = b""
        part, self._backlog = self._backlog[:SLICE_BYTES], self._backlog[SLICE_BYTES:]
        if part:
            super().dataReceived(part)
        if self._backlog:
            asyncio.get_running_loop().call_soon(self._parse)
            return
        self._is_parsing = False
        if not self._is_paused:
            transport.resumeProducing()

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: FBT001, N802, N803
        super().onMessage(payload, isBinary)  # type: ignore[no-untyped-call]
        transport: Any = self.transport
        if not self._is_paused and self.application_queue.qsize() > INBOUND_LIMIT:
            self._is_paused = True
            transport.pauseProducing()
            self._look_later()

    def _look_later(self) -> None:
        asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        transport: Any = self.transport
        if self.application_queue.qsize() > INBOUND_LIMIT // 2 and transport.connected:
            self._look_later()
            return
        self._is_paused = False
        if not self._is_parsing:
            transport.resumeProducing()
