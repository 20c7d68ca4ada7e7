"""Events on their way to whoever follows a thread, in this process and in others.

Here a follower is a callable that neither waits nor fails. Other processes are reached through the
channel layer, which may lose anything: the truth is the committed thread, and a follower that sees
a gap in turns reads it again.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer

from agentruntime.events import (
    Event,
    NoticeGiven,
    RunStarted,
    StepStarted,
    ThreadChanged,
    TurnNoticed,
    pack,
    unpack,
)
from agentruntime.persistence import store
from agentruntime.persistence.pools import Pool

log = logging.getLogger(__name__)

LIMIT = 256
SEND_SECONDS = 2.0
CLOSE_SECONDS = 3.0
# People see no step that is over sooner; telling them costs as much as taking it.
GLIMPSE_SECONDS = 0.06

Listener = Callable[[Event], None]

# Progress is worth nothing once something newer is known or the queue is full.
_PROGRESS = (RunStarted, StepStarted)
_DROPPABLE = (*_PROGRESS, NoticeGiven)


def group_of(thread: str) -> str:
    """The channel layer group of the processes that follow a thread."""
    return f"thread.{thread}"


class Delivery:
    """Who follows which thread in this process; the way to those who do elsewhere.

    worker: this process's name, by which it knows its own events when the layer returns them.
    is_alone: no other process can be reached.
    """

    def __init__(self, worker: str) -> None:
        self.worker = worker
        self._listeners: dict[str, list[Listener]] = {}
        self._told: dict[str, int] = {}
        layer: Any = get_channel_layer()
        self._layer = None if isinstance(layer, InMemoryChannelLayer) else layer
        self.is_alone = self._layer is None
        self._channel = ""

    async def follow(self, thread: str, listener: Listener) -> None:
        """Call `listener` with every event of the thread from now on."""
        listeners = self._listeners.setdefault(thread, [])
        listeners.append(listener)
        if len(listeners) == 1:
            await self._join(thread)

    async def unfollow(self, thread: str, listener: Listener) -> None:
        """Call it no more."""
        listeners = self._listeners.get(thread, [])
        if listener in listeners:
            listeners.remove(listener)
        if not listeners:
            self._told.pop(thread, None)
        if not listeners and self._listeners.pop(thread, None) is not None and self._layer:
            await self._guarded(self._layer.group_discard(group_of(thread), self._channel))

    def tell(self, event: Event, *, but: Listener | None = None) -> None:
        """Tell the followers in this process, except one."""
        if isinstance(event, ThreadChanged | TurnNoticed):
            self._told[event.thread] = event.turn
        for listener in list(self._listeners.get(event.thread, ())):
            if listener != but:  # bound methods are equal, not the same
                listener(event)

    async def notice_turns(self, pool: Pool) -> None:
        """Compare the followed threads with the database, in one statement; tell what was missed.

        An event may be lost without a trace, the last one of a run too. Raises StorageUnavailable.
        """
        if not self._listeners:
            return
        for thread, turn, version in await store.turns(pool, list(self._listeners)):
            if turn > self._told.get(thread, -1):
                self.tell(TurnNoticed(thread=thread, version=version, n=0, turn=turn))

    async def send(self, event: Event) -> None:
        """Tell the other processes; a layer that fails or hangs is logged, never fatal."""
        if self._layer is not None:
            message = {"type": "thread.event", "event": pack(event), "worker": self.worker}
            await self._guarded(self._layer.group_send(group_of(event.thread), message))

    async def listen(self) -> None:
        """Take other processes' events for ever; the owner of the loop cancels it."""
        if self._layer is None:
            return
        self._channel = await self._layer.new_channel("worker")
        for thread in list(self._listeners):
            await self._join(thread)
        while True:
            message = await self._layer.receive(self._channel)
            event = unpack(message["event"])
            if event is not None and message["worker"] != self.worker:
                self.tell(event)

    async def _join(self, thread: str) -> None:
        if self._layer is not None and self._channel:
            await self._guarded(self._layer.group_add(group_of(thread), self._channel))

    async def _guarded(self, call: Any) -> None:
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await call
        except Exception as error:  # noqa: BLE001 - whatever a layer raises, the run goes on
            log.warning("layer_failed error=%s", type(error).__name__)


class Outlet:
    """The events of one driver, in their order; other processes are reached by a task of its own,
    so that a slow layer slows no run. Progress waits a glimpse and gives way to what is newer.
    """

    def __init__(self, delivery: Delivery) -> None:
        self._delivery = delivery
        self._waiting: deque[Event] = deque()
        self._task: asyncio.Task[None] | None = None
        self._held: list[Event] = []
        self._timer: asyncio.TimerHandle | None = None

    def put(self, event: Event) -> None:
        """Tell an event now, or soon if it is progress."""
        if isinstance(event, _PROGRESS):
            self._hold(event)
            return
        self._drop_held()
        self._tell(event)

    def _hold(self, event: Event) -> None:
        started = [each for each in self._held if isinstance(each, RunStarted)]
        self._held = [*started[-1:], event]
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(GLIMPSE_SECONDS, self._release)

    def _release(self) -> None:
        held, self._held, self._timer = self._held, [], None
        for event in held:
            self._tell(event)

    def _drop_held(self) -> None:
        self._held = []
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tell(self, event: Event) -> None:
        self._delivery.tell(event)
        if self._delivery.is_alone:
            return
        if len(self._waiting) >= LIMIT and isinstance(event, _DROPPABLE):
            return
        self._waiting.append(event)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        while self._waiting:
            await self._delivery.send(self._waiting.popleft())

    async def close(self) -> None:
        """Wait, within bounds, until everything is sent."""
        self._drop_held()
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
