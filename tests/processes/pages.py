"""What a page does: one socket at a time, on one thread, speaking simple.v1; and what people say."""

import json
import time
import uuid
from contextlib import ExitStack
from datetime import datetime
from typing import TYPE_CHECKING

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

if TYPE_CHECKING:
    from tests.processes.servers import Node

SECONDS = 20.0
QUESTIONS = ["clarify", "select_room", "confirm"]
MOST_QUESTIONS = 6
RETRY_SECONDS = 0.5


def until(condition, seconds=SECONDS):
    """Wait until `condition()` is true; its value."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.02)
    return value


class Page:
    """A tab. As the portal does, it keeps what is not acknowledged and sends it again on `open`."""

    def __init__(self, server: "Node", cookie: str, thread: str = "") -> None:
        self.server = server
        self.cookie = cookie
        self.id = thread
        self.heard: list[dict] = []
        self.socket = None
        self._outbox: dict[str, dict] = {}
        self._answered: set[str] = set()
        self._connection = ExitStack()

    def open(self) -> dict:
        """Connect and begin, with the thread's id if there is one: the welcome frame."""
        self.socket = self._connection.enter_context(
            connect(
                self.server.url.replace("http", "ws") + "/ws/agents/booking/",
                additional_headers={"Cookie": self.cookie},
                origin=self.server.url,
                subprotocols=["simple.v1"],
                open_timeout=SECONDS,
            )
        )
        self.send("init", **({"session_id": self.id} if self.id else {}))
        welcome = self.until("welcome")
        self.id = welcome["session_id"]
        self._send_again({line["id"] for line in welcome["transcript"]})
        return welcome

    def _send_again(self, known: set[str]) -> None:
        for client_id, frame in list(self._outbox.items()):
            if client_id in known:
                del self._outbox[client_id]
            else:
                self.socket.send(json.dumps(frame))

    def move(self, server: "Node") -> dict:
        """Reconnect to another process, or to one that was started again; its welcome."""
        self.close()
        self.server = server
        return self.open()

    def send(self, kind: str, **data) -> None:
        frame = {"type": kind, **data}
        if "id" in data:
            self._outbox[data["id"]] = frame
        self.socket.send(json.dumps(frame))

    def say(self, text: str, **data) -> None:
        self.send("message", **{"content": text, "id": uuid.uuid4().hex, **data})

    def answer(self, question: dict, value: dict, **data) -> None:
        names = {"interrupt_id": question["interrupt_id"], "value": value, "id": uuid.uuid4().hex}
        self.send("answer", **{**names, **data})

    def reply(self, question: dict, **data) -> None:
        """What brings the booking on: the answer the question asks for."""
        self._answered.add(question["interrupt_id"])
        if question["kind"] == "clarify":
            self.say("one hour", **data)
        elif question["kind"] == "select_room":
            card = [*question["data"]["candidates"], *question["data"]["alternatives"]][0]
            chosen = {name: card[name] for name in ("room", "starts_at") if name in card}
            self.answer(question, chosen, **data)
        else:
            self.answer(question, {"approved": True}, **data)

    def insist(self, client_id: str) -> None:
        """Send a frame again, as the portal does while the server has no storage, until it is
        accepted.
        """
        while (frame := self.until("accepted", "error"))["type"] == "error":
            assert frame["code"] == "upstream", frame
            time.sleep(RETRY_SECONDS)
            self.socket.send(json.dumps(self._outbox[client_id]))

    def until(self, *kinds: str, seconds: float = SECONDS) -> dict:
        """The next frame of one of these kinds."""
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            frame = json.loads(self.socket.recv(timeout=max(left, 0.01)))
            self.heard.append(frame)
            if frame["type"] == "accepted" or (frame["type"] == "error" and not frame["retry"]):
                self._outbox.pop(frame["id"], None)
            if frame["type"] in kinds:
                return frame

    def news(self) -> dict | None:
        """The next question it shows that was not answered here, or None once it shows that the
        request is done.
        """
        while True:
            frame = self.until("interrupt", "complete", "welcome")
            if frame["type"] == "interrupt":
                if frame["interrupt_id"] not in self._answered:
                    return frame
            elif frame["type"] == "complete" or is_over(frame):
                return None

    def finish(self, welcome: dict | None = None) -> None:
        """Answer whatever is asked until the room is booked.

        welcome: what it was just shown; else the next question is waited for.
        """
        self.agree(None if welcome and is_over(welcome) else self.news())

    def agree(self, question: dict | None) -> None:
        """Answer this question and those that follow, until nothing is asked any more."""
        for _ in range(MOST_QUESTIONS):
            if question is None:
                return
            self.reply(question)
            question = self.news()
        raise AssertionError(f"asked again and again: {question}")

    def picture(self) -> dict:
        """The whole thread as the process shows it now; `question` is the open one or None."""
        while not (picture := self._asked_for_picture()):
            time.sleep(RETRY_SECONDS)  # it has no storage at the moment
        return picture

    def _asked_for_picture(self) -> dict:
        self.send("init", session_id=self.id)
        self.send("ping")  # answered after it: older pictures may still be on their way to us
        picture: dict = {}
        while (frame := self.until("welcome", "interrupt", "error", "pong"))["type"] != "pong":
            if frame["type"] == "welcome":
                picture = {**frame, "question": None}
            elif frame["type"] == "interrupt":
                picture["question"] = frame
            else:
                assert frame["code"] == "upstream", frame
        return picture if "transcript" in picture else {}

    def closed_with(self) -> int:
        """The code the server closes the socket with, whatever it says before."""
        try:
            while True:
                self.heard.append(json.loads(self.socket.recv(timeout=SECONDS)))
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else 1006

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close_timeout = 0.2  # its process may be stopped, or gone
        self._connection.close()


def request_of(at: datetime) -> str:
    """A wish for a room that leaves out how long."""
    return f"Book a room on {at:%Y-%m-%d} at {at:%H:%M} for 4 people"


def is_over(welcome: dict) -> bool:
    said = welcome["transcript"]
    return welcome["status"] == "idle" and bool(said) and said[-1]["kind"] == "complete"


def whole(page: Page) -> dict:
    """The picture of a page without what differs from tab to tab."""
    names = ("status", "slots", "phase", "transcript", "session_id")
    return {name: value for name, value in page.picture().items() if name in names}


def to_question(page: Page, at: datetime, kind: str) -> dict:
    """Talk until the agent asks a question of that kind."""
    page.say(request_of(at))
    while (question := page.news())["kind"] != kind:
        page.reply(question)
    return question


def assert_booked_once(page: Page, at: datetime) -> None:
    """One booking at that start, one effect, and the page shows that it is done."""
    effects = "select count(*) from agentruntime_effect where thread_id = %s"
    assert len(page.server.bookings_at(at)) == 1
    assert page.server.rows(effects, page.id) == [(1,)]
    assert is_over(page.picture())


def assert_told_in_order(page: Page) -> None:
    """The transcript of the booking: every word once, question and answer in turn."""
    transcript = page.picture()["transcript"]
    assert len({each["id"] for each in transcript}) == len(transcript)
    assert [each["role"] for each in transcript] == ["user", "assistant"] * (len(transcript) // 2)
    said = [each["kind"] for each in transcript if each["role"] == "assistant"]
    assert said == [*QUESTIONS, "complete"], f"said {said}"
