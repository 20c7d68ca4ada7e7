"""A portal page's end of the WebSocket, inside this process: frames in, frames out.

It speaks to the whole ASGI application, so that sign-in, origin, routing and the consumer are those
of production.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from channels.routing import get_default_application
from django.conf import settings
from django.contrib.auth import get_user_model, login
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.utils.module_loading import import_string

from booking.evaluation.played import Frame

_HOST = "evaluation"


class SocketClosed(Exception):
    """The server closed the socket, or failed."""


def signed_in(owner: int) -> str:
    """The session cookie of a person. Synchronous: writes a session."""
    request = HttpRequest()
    store: type[SessionBase] = import_string(f"{settings.SESSION_ENGINE}.SessionStore")
    request.session = store()
    user = get_user_model()._default_manager.get(pk=owner)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session.save()
    return f"{settings.SESSION_COOKIE_NAME}={request.session.session_key}"


class Socket:
    """One socket in simple.v1. frames: everything the server sent, in order."""

    def __init__(self, *, cookie: str, language: str, agent: str) -> None:
        origin = settings.ALLOWED_ORIGINS[0].replace("*", _HOST)
        path = f"/ws/agents/{agent}/"
        self.frames: list[Frame] = []
        self._sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._news = asyncio.Event()
        self._code: int | None = None
        self._scope = {
            "type": "websocket",
            "asgi": {"version": "3.0"},
            "scheme": "ws",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "client": [_HOST, 0],
            "subprotocols": ["simple.v1"],
            "headers": [
                (b"host", _HOST.encode()),
                (b"origin", origin.encode()),
                (b"cookie", cookie.encode()),
                (b"accept-language", language.encode()),
            ],
        }

    async def open(self) -> Frame:
        """Connect and begin a thread: the welcome. Raises SocketClosed, TimeoutError."""
        application = get_default_application()  # type: ignore[no-untyped-call]
        self._task = asyncio.create_task(application(self._scope, self._sent.get, self._take))
        self._sent.put_nowait({"type": "websocket.connect"})
        self.send("init")
        return await self.until(lambda frame: frame["type"] == "welcome")

    def send(self, kind: str, **data: Any) -> None:
        """Send a frame."""
        text = json.dumps({"type": kind, **data}, ensure_ascii=False)
        self._sent.put_nowait({"type": "websocket.receive", "text": text})

    async def until(self, wanted: Callable[[Frame], bool], *, seconds: float = 20.0) -> Frame:
        """The first frame so far or to come that is wanted. Raises SocketClosed, TimeoutError."""
        async with asyncio.timeout(seconds):
            seen = 0
            while True:
                for frame in self.frames[seen:]:
                    if wanted(frame):
                        return frame
                seen = len(self.frames)
                if self._code is not None or self._task.done():
                    raise SocketClosed(f"closed with {self._code}")
                self._news.clear()
                await self._news.wait()

    async def close(self) -> None:
        """Leave, as a page does."""
        self._sent.put_nowait({"type": "websocket.disconnect", "code": 1000})
        _, left = await asyncio.wait([self._task], timeout=2)
        for task in left:
            task.cancel()

    async def _take(self, event: dict[str, Any]) -> None:
        if event["type"] == "websocket.send":
            self.frames.append(json.loads(event["text"]))
        elif event["type"] == "websocket.close":
            self._code = event.get("code", 1000)
        self._news.set()
