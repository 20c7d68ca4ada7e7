"""The events of one run after another on their way out: numbered, in order, progress thinned."""

import asyncio
from collections import deque
from dataclasses import replace

from agentruntime.events import Event, NoticeGiven, RunStarted, StepStarted
from agentruntime.orchestration.delivery import Delivery

LIMIT = 256
CLOSE_SECONDS = 3.0
# People see no step that is over sooner; telling them costs as much as taking it.
GLIMPSE_SECONDS = 0.06

# Progress is worth nothing once something newer is known or the queue is full.
_PROGRESS = (RunStarted, StepStarted)
_DROPPABLE = (*_PROGRESS, NoticeGiven)


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
        self._told = (0, 0)

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
        version, n = self._told
        self._told = (event.version, n + 1 if event.version == version else 1)
        event = replace(event, n=self._told[1])
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
            await self._delivery.relay.send(self._waiting.popleft())

    async def close(self) -> None:
        """Wait, within bounds, until everything is sent."""
        self._drop_held()
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
