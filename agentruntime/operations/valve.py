"""How a consumer learns whether its client still reads. Imports nothing of the server."""

import asyncio

# The valve's key in the scope of a WebSocket.
VALVE = "roomwise.valve"


class Valve:
    """Whether a socket's client takes what it is sent. Closed by the transport when its buffer is
    full, opened when it is empty again (Twisted's IPushProducer).
    """

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()

    @property
    def is_open(self) -> bool:
        return self._open.is_set()

    async def wait_open(self, seconds: float) -> bool:
        """Wait until the client reads on; False when it has not after so many seconds."""
        try:
            await asyncio.wait_for(self._open.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._open.clear()

    def resumeProducing(self) -> None:  # noqa: N802
        self._open.set()

    def stopProducing(self) -> None:  # noqa: N802
        self._open.set()
