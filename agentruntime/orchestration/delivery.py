"""Events on their way to whoever follows a thread, in this process and in others.

Here a follower is a callable that neither waits nor fails. Events may be lost on the way: the truth
is the committed thread, and one look at all followed threads finds what was missed.
"""

from collections.abc import Callable
from dataclasses import dataclass

from agentruntime.events import (
    Event,
    MessageStored,
    ServiceNoticed,
    ThreadChanged,
    TurnNoticed,
)
from agentruntime.orchestration.relay import Relay
from agentruntime.persistence import fleet
from agentruntime.persistence.pools import Pool
from agentruntime.persistence.records import Noticed

DEGRADED = "degraded"

Listener = Callable[[Event], None]


@dataclass
class _Told:
    """What the followers of a thread know. stored: a message, since the last look."""

    turn: int = -1
    version: int = -1
    unread: int = 0
    stored: bool = False
    slow: int = -1


class Delivery:
    """Who follows which thread in this process; the way to those who do elsewhere."""

    def __init__(self, worker: str) -> None:
        self._listeners: dict[str, list[Listener]] = {}
        self._told: dict[str, _Told] = {}
        self._is_reached = True
        self.relay = Relay(worker, hear=self.tell, on_health=lambda _: self._health_changed())

    @property
    def is_alone(self) -> bool:
        """No other process can be reached."""
        return self.relay.is_alone

    async def follow(self, thread: str, listener: Listener) -> None:
        """Call `listener` with every event of the thread from now on."""
        listeners = self._listeners.setdefault(thread, [])
        listeners.append(listener)
        self._told.setdefault(thread, _Told())
        if len(listeners) == 1:
            await self.relay.join(thread)

    async def unfollow(self, thread: str, listener: Listener) -> None:
        """Call it no more."""
        listeners = self._listeners.get(thread, [])
        if listener in listeners:
            listeners.remove(listener)
        if not listeners and self._listeners.pop(thread, None) is not None:
            self._told.pop(thread, None)
            await self.relay.leave(thread)

    def tell(self, event: Event, *, but: Listener | None = None) -> None:
        """Tell the followers in this process, except one."""
        told = self._told.get(event.thread)
        if told is None:
            return
        if isinstance(event, ThreadChanged | TurnNoticed):
            told.turn = max(told.turn, event.turn)
        told.version = max(told.version, event.version)
        told.stored = told.stored or isinstance(event, MessageStored)
        for listener in list(self._listeners.get(event.thread, ())):
            if listener != but:  # bound methods are equal, not the same
                listener(event)

    async def notice_turns(self, pool: Pool) -> None:
        """Compare the followed threads with the database, in one statement; tell what was missed.

        An event may be lost without a trace, the last one of a run too. Raises StorageUnavailable.
        """
        if not self._listeners:
            return
        for found in await fleet.turns(pool, list(self._listeners)):
            told = self._told.get(found.id)
            if told is not None:
                self._notice(found, told)

    def _notice(self, found: Noticed, told: _Told) -> None:
        is_news = found.unread > told.unread and not told.stored
        told.unread, told.stored = found.unread, False
        if is_news or (found.turn, found.run_version) > (told.turn, told.version):
            self.tell(
                TurnNoticed(
                    thread=found.id,
                    version=found.run_version,
                    n=0,
                    turn=found.turn,
                    is_news=is_news,
                )
            )
        if found.is_slow and told.slow != found.run_version:
            told.slow = found.run_version
            self._warn(found.id)

    def reached(self, *, database: bool) -> None:
        """Whether the last look at the database worked; its loss is told to everybody here."""
        if database != self._is_reached:
            self._is_reached = database
            self._health_changed()

    def _health_changed(self) -> None:
        if self._is_reached and self.relay.is_well:
            return
        for thread in list(self._listeners):
            self._warn(thread)

    def _warn(self, thread: str) -> None:
        self.tell(ServiceNoticed(thread=thread, version=-1, n=0, turn=-1, code=DEGRADED))
