"""A run's events on their way to whoever follows its thread: bounded, in order, never in its way."""

import asyncio
import logging
from collections import deque
from typing import Any

from channels.layers import get_channel_layer

from agentruntime.events import Event, NoticeGiven, StepStarted, pack

log = logging.getLogger(__name__)

LIMIT = 256
SEND_SECONDS = 2.0
CLOSE_SECONDS = 3.0

# Progress is worth nothing once the queue is full; the rest is also in the committed thread.
_DROPPABLE = (StepStarted, NoticeGiven)


def group_of(thread: str) -> str:
    """The channel layer group of a thread's followers."""
    return f"thread.{thread}"


async def send(event: Event) -> None:
    """Send one event. A layer that fails or hangs is logged: followers find out by the turn."""
    layer: Any = get_channel_layer()
    message = {"type": "thread.event", "event": pack(event)}
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await layer.group_send(group_of(event.thread), message)
    except Exception as error:  # noqa: BLE001 - whatever a layer raises, the run goes on
        log.warning("event_not_sent thread=%s error=%s", event.thread, type(error).__name__)


class Outlet:
    """The queue of one driver; drained by a task of its own, so that a slow layer slows no run."""

    def __init__(self) -> None:
        self._waiting: deque[Event] = deque()
        self._task: asyncio.Task[None] | None = None

    def put(self, event: Event) -> None:
        """Queue an event; progress is dropped when the queue is full."""
        if len(self._waiting) >= LIMIT and isinstance(event, _DROPPABLE):
            return
        self._waiting.append(event)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        while self._waiting:
            await send(self._waiting.popleft())

    async def close(self) -> None:
        """Wait, within bounds, until everything queued is sent."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
