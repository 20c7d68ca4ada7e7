"""One socket's view of its thread: which events are news, which frames follow from them.

Events are a fast path and may be lost or late: one of an old run is dropped, a gap asks for the
whole picture (`resync`). No socket, no database here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from agentruntime.agents import AgentSpec
from agentruntime.edges.bindings import simple
from agentruntime.events import (
    AnswerSetAside,
    Event,
    MessageStored,
    MessageWithdrawn,
    NoticeGiven,
    QueueChanged,
    RunFailed,
    ServiceNoticed,
    StepStarted,
    StopAsked,
    ThreadChanged,
    TurnNoticed,
)
from agentruntime.exceptions import StaleAnswer
from agentruntime.persistence.records import MessageView, ThreadView

_BESIDE_RUNS = frozenset(
    {AnswerSetAside, MessageStored, MessageWithdrawn, ServiceNoticed, StopAsked}
)


class Follower:
    """thread: as this socket last showed it."""

    def __init__(self, *, spec: AgentSpec, language: str, thread: ThreadView) -> None:
        self.spec = spec
        self.language = language
        self.thread = thread
        self._question: simple.Frame | None = None
        self._n = 0
        self._run_version = 0
        self._waiting: list[str] = []

    def picture(
        self,
        thread: ThreadView,
        messages: Sequence[MessageView],
        step: tuple[int, str] | None,
    ) -> list[simple.Frame]:
        """The frames that draw the whole thread anew; events go on from there."""
        self.thread = thread
        self._question = _question_among(thread, [asdict(message) for message in messages])
        self._waiting = _waiting_among(thread, messages)
        self._n = 0
        frames = [
            simple.welcome(thread, messages, self._waiting, spec=self.spec, language=self.language)
        ]
        if thread.status == "running":
            self._run_version = thread.run_version
            node = step[1] if step else ""
            frames.append(simple.progress(node, spec=self.spec, language=self.language))
        elif self._question is not None:
            frames.append(self._question)
        return [self._stamped(frame) for frame in frames]

    def is_past(self, thread: ThreadView) -> bool:
        """Whether this socket has been shown a later state than that: events overtook the read."""
        shown = self.thread
        return (thread.turn, thread.run_version) < (shown.turn, shown.run_version)

    def question(self) -> list[simple.Frame]:
        """The open question again, if there is one and nobody is answering it."""
        if self._question is None or self.thread.status == "running":
            return []
        return [self._stamped(self._question)]

    def frames(self, event: Event) -> list[simple.Frame] | None:
        """What to send for an event; None asks for the whole picture."""
        if isinstance(event, TurnNoticed):
            shown = (self.thread.turn, self.thread.run_version)
            return None if event.is_news or (event.turn, event.version) > shown else []
        if type(event) in _BESIDE_RUNS:
            return self._beside_runs(event)
        if event.version < self.thread.run_version:
            return []
        if isinstance(event, ThreadChanged):
            return self._changed(event)
        if event.turn > self.thread.turn:
            return None
        if event.turn < self.thread.turn:
            return []
        if self._has_gap(event):
            return None
        self._run_version, self._n = event.version, event.n
        self.running(event.version)
        return [self._stamped(frame) for frame in self._of_run(event)]

    def _has_gap(self, event: Event) -> bool:
        """Whether an event of the same run was lost before this one."""
        return event.version == self._run_version and 0 < self._n < event.n - 1

    def _beside_runs(self, event: Event) -> list[simple.Frame]:
        """What is not numbered with the events of a run."""
        if isinstance(event, MessageStored):
            return self._said(event)
        if isinstance(event, MessageWithdrawn):
            return [
                simple.withdrawn(event.client_id),
                *self._queue([each for each in self._waiting if each != event.client_id]),
            ]
        if isinstance(event, AnswerSetAside):
            stale = StaleAnswer()
            return [
                simple.error(
                    stale.code,
                    language=self.language,
                    retry=stale.retry,
                    client_id=event.client_id,
                ),
                simple.withdrawn(event.client_id),
            ]
        if isinstance(event, ServiceNoticed):
            return [simple.notice(event.code, language=self.language)]
        return []

    def _queue(self, waiting: list[str]) -> list[simple.Frame]:
        if waiting == self._waiting:
            return []
        self._waiting = waiting
        return [simple.queue(waiting, language=self.language)]

    def _of_run(self, event: Event) -> list[simple.Frame]:
        if isinstance(event, StepStarted):
            return [simple.progress(event.step, spec=self.spec, language=self.language)]
        if isinstance(event, QueueChanged):
            return self._queue(event.waiting)
        if isinstance(event, NoticeGiven):
            return [simple.notice(event.code, language=self.language)]
        if isinstance(event, RunFailed):
            return [simple.error(event.code, language=self.language, retry=event.retry)]
        return []

    def running(self, version: int) -> None:
        """The thread is run under this version from now on."""
        if version > self.thread.run_version:
            self.thread = replace(self.thread, status="running", run_version=version)

    def _said(self, event: MessageStored) -> list[simple.Frame]:
        self.running(event.version)
        return [self._stamped(simple.said(event.message))]

    def _changed(self, event: ThreadChanged) -> list[simple.Frame] | None:
        if event.turn <= self.thread.turn:
            return []
        if event.turn > self.thread.turn + 1:
            return None
        self._n = event.n
        self.thread = replace(
            self.thread,
            status=event.status,
            run_version=event.version,
            turn=event.turn,
            interrupt=event.interrupt,
            summary=event.summary,
        )
        asked = _question_among(self.thread, event.messages)
        if event.interrupt is None or asked is not None:
            self._question = asked
        elif self._question is None or self._question["interrupt_id"] != event.interrupt["id"]:
            return None
        frames = [
            simple.complete(message, event.summary, language=self.language)
            for message in event.messages
            if message["kind"] in {"complete", "text", "notice"}
        ]
        if self._question is not None:
            frames.append(self._question)
        if not frames:  # a run that was stopped: its thread stands as before it
            return None
        stamped = [self._stamped(frame) for frame in frames]
        self._run_version = self._n = 0
        return stamped

    def _stamped(self, frame: simple.Frame) -> simple.Frame:
        stamp: dict[str, Any] = {"session_id": self.thread.id}
        if self._run_version:
            stamp |= {"run": self._run_version, "seq": self._n}
        return {**frame, **stamp}


def _question_among(
    thread: ThreadView, messages: Sequence[Mapping[str, Any]]
) -> simple.Frame | None:
    """The thread's open question as a frame, if the messages have its words."""
    if thread.interrupt is None:
        return None
    for message in reversed(messages):
        if message["role"] == "assistant" and message["interrupt_id"] == thread.interrupt["id"]:
            return simple.interrupt(message, thread.summary)
    return None


def _waiting_among(thread: ThreadView, messages: Sequence[MessageView]) -> list[str]:
    """Clients' ids of what waits behind the run in progress."""
    if thread.newest is None:
        return []
    return [
        message.client_id or str(message.id)
        for message in messages
        if message.status == "pending" and message.role == "user" and message.id > thread.newest
    ]
