"""What the runtime tells whoever follows a thread: typed, in the past tense.

Events are a fast path. The truth is the committed thread: a follower that misses one reads the
thread again (`ThreadChanged` says which turn it should see). Imports nothing of the project.
"""

from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar


@dataclass(frozen=True, kw_only=True)
class Event:
    """version: the run version it belongs to; n: its number within that run, from 1."""

    thread: str
    version: int
    n: int
    turn: int
    name: ClassVar[str]


@dataclass(frozen=True, kw_only=True)
class MessageStored(Event):
    """A person said something; told to every tab."""

    name = "message_stored"
    message: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RunStarted(Event):
    """A worker took the thread and runs the graph."""

    name = "run_started"
    kind: str


@dataclass(frozen=True, kw_only=True)
class StepStarted(Event):
    """A node of the graph began."""

    name = "step_started"
    step: str


@dataclass(frozen=True, kw_only=True)
class NoticeGiven(Event):
    """Something about the run a person should know, by its code."""

    name = "notice_given"
    code: str


@dataclass(frozen=True, kw_only=True)
class QueueChanged(Event):
    """What waits behind the run in progress now: the clients' ids of the messages."""

    name = "queue_changed"
    waiting: list[str]


@dataclass(frozen=True, kw_only=True)
class MessageWithdrawn(Event):
    """A person took back what no run had taken in; its client id."""

    name = "message_withdrawn"
    client_id: str


@dataclass(frozen=True, kw_only=True)
class AnswerSetAside(Event):
    """An answer that waited came up when its question was no longer open; its client id."""

    name = "answer_set_aside"
    client_id: str


@dataclass(frozen=True, kw_only=True)
class StopAsked(Event):
    """A person wants the run of this version stopped; for the worker that has it."""

    name = "stop_asked"


@dataclass(frozen=True, kw_only=True)
class ServiceNoticed(Event):
    """Something about the service, not about a run, that a person should know, by its code."""

    name = "service_noticed"
    code: str


@dataclass(frozen=True, kw_only=True)
class ThreadChanged(Event):
    """A turn was committed: what is new, and the thread as it now stands."""

    name = "thread_changed"
    status: str
    interrupt: dict[str, Any] | None = None
    summary: dict[str, Any] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class TurnNoticed(Event):
    """The database has this turn and run version: a follower that has not seen them missed an event.

    is_news: something was said that no event told of.
    """

    name = "turn_noticed"
    is_news: bool = False


@dataclass(frozen=True, kw_only=True)
class RunFailed(Event):
    """The run ended with an error; the thread stands as before it."""

    name = "run_failed"
    code: str
    retry: bool


def _event_types(base: type[Event] = Event) -> dict[str, type[Event]]:
    return {kind.name: kind for kind in base.__subclasses__()}


EVENTS = _event_types()


def pack(event: Event) -> dict[str, Any]:
    """The event as plain JSON for a channel layer."""
    return {"name": event.name, **asdict(event)}


def unpack(data: dict[str, Any]) -> Event | None:
    """The event again; None for one that a newer version of the server sent."""
    kind = EVENTS.get(data.get("name", ""))
    if kind is None:
        return None
    names = {item.name for item in fields(kind)}
    return kind(**{key: value for key, value in data.items() if key in names})
