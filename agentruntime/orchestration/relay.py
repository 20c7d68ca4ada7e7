"""The way to the other processes: the channel layer, which may lose anything and half die.

A message sent to oneself every few seconds (the canary) is the only check that sees a layer whose
sending works and whose receiving does not.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer

from agentruntime.events import Event, pack, unpack

log = logging.getLogger(__name__)

SEND_SECONDS = 2.0
CANARY_SECONDS = 5.0
CANARY_LIMIT = 3.0
AGAIN_SECONDS = 1.0


def group_of(thread: str) -> str:
    """The channel layer group of the processes that follow a thread."""
    return f"thread.{thread}"


class Relay:
    """Sends this process's events to the others and hears theirs.

    worker: this process's name, by which it knows its own events when the layer returns them.
    hear: takes what other processes tell. on_health: called with False when the layer stops
    carrying messages, with True when it does again. is_alone: no other process can be reached.
    """

    def __init__(
        self, worker: str, *, hear: Callable[[Event], None], on_health: Callable[[bool], None]
    ) -> None:
        self.worker = worker
        self._hear = hear
        self._on_health = on_health
        layer: Any = get_channel_layer()  # type: ignore[no-untyped-call]
        self._layer = None if isinstance(layer, InMemoryChannelLayer) else layer
        self.is_alone = self._layer is None
        self.is_well = True
        self._is_lost = False
        self._channel = ""
        self._groups = {group_of(f"worker-{worker}")}
        self._receiving: asyncio.Task[None] | None = None
        self._nonce = ""
        self._returned = asyncio.Event()

    async def join(self, thread: str) -> None:
        """Hear of this thread."""
        self._groups.add(group_of(thread))
        if self._layer is not None and self._channel:
            await self._guarded(self._layer.group_add(group_of(thread), self._channel))

    async def leave(self, thread: str) -> None:
        """Hear of it no more."""
        self._groups.discard(group_of(thread))
        if self._layer is not None and self._channel:
            await self._guarded(self._layer.group_discard(group_of(thread), self._channel))

    async def send(self, event: Event) -> None:
        """Tell the other processes; a layer that fails or hangs is logged, never fatal."""
        if self._layer is not None:
            message = {"type": "thread.event", "event": pack(event), "worker": self.worker}
            await self._guarded(self._layer.group_send(group_of(event.thread), message))

    async def listen(self) -> None:
        """Take other processes' events for ever; the owner of the loop cancels it."""
        if self._layer is None:
            return
        try:
            while True:
                self._receiving = asyncio.create_task(self._receive())
                await asyncio.wait({self._receiving})
                await asyncio.sleep(AGAIN_SECONDS)
        finally:
            if self._receiving is not None:
                self._receiving.cancel()

    async def _receive(self) -> None:
        """On a channel of its own, until the layer fails or the canary is lost."""
        layer: Any = self._layer
        try:
            self._channel = await layer.new_channel("worker")
            for group in list(self._groups):
                await self._guarded(layer.group_add(group, self._channel))
            self._is_lost = False
            while True:
                self._take(await layer.receive(self._channel))
        except Exception as error:  # noqa: BLE001 - whatever a layer raises, it is tried again
            level = logging.DEBUG if self._is_lost else logging.WARNING  # tried again every second
            log.log(level, "layer_lost error=%s", type(error).__name__)
            self._is_lost = True
        finally:
            self._channel = ""

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "canary":
            if message["nonce"] == self._nonce:
                self._returned.set()
            return
        event = unpack(message["event"])
        if event is not None and message["worker"] != self.worker:
            self._hear(event)

    async def watch(self) -> None:
        """Send canaries for ever; subscribe anew when one does not come back."""
        if self._layer is None:
            return
        while True:
            await asyncio.sleep(CANARY_SECONDS)
            await self._probe()

    async def _probe(self) -> None:
        self._nonce = secrets.token_hex(4)
        self._returned.clear()
        message = {"type": "canary", "nonce": self._nonce}
        layer: Any = self._layer
        await self._guarded(layer.group_send(group_of(f"worker-{self.worker}"), message))
        try:
            await asyncio.wait_for(self._returned.wait(), CANARY_LIMIT)
        except TimeoutError:
            if self._receiving is not None:
                self._receiving.cancel()
        is_well = self._returned.is_set()
        if is_well != self.is_well:
            log.warning("layer_well" if is_well else "layer_deaf")
            self.is_well = is_well
            self._on_health(is_well)

    async def _guarded(self, call: Any) -> None:
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await call
        except Exception as error:  # noqa: BLE001 - whatever a layer raises, the run goes on
            log.warning("layer_failed error=%s", type(error).__name__)
