"""A page's socket, spoken to through the real ASGI application."""

import json

from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.test import Client

from config.asgi import application

ORIGIN = "http://localhost:8000"
SECONDS = 8.0


def cookie_of(user):
    client = Client()
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


class Tab:
    """A page's socket: speaks frames, and remembers what it was told."""

    def __init__(
        self, cookie="", *, origin=ORIGIN, path="/ws/agents/probe/", protocols=(), more=()
    ):
        headers = [(b"host", b"localhost:8000"), *more]
        if cookie:
            headers.append((b"cookie", cookie.encode()))
        if origin:
            headers.append((b"origin", origin.encode()))
        self.socket = WebsocketCommunicator(application, path, headers, list(protocols))
        self.heard = []

    async def open(self):
        connected, subprotocol = await self.socket.connect(timeout=SECONDS)
        return connected, subprotocol

    async def send(self, kind, **data):
        await self.socket.send_to(text_data=json.dumps({"type": kind, **data}))

    async def frame(self):
        frame = json.loads(await self.socket.receive_from(timeout=SECONDS))
        self.heard.append(frame)
        return frame

    async def until(self, *kinds):
        """The next frame of one of these kinds."""
        while True:
            frame = await self.frame()
            if frame["type"] in kinds:
                return frame

    async def begin(self, session_id=""):
        """Open, say `init`: the welcome frame."""
        assert (await self.open())[0]
        await self.send("init", **({"session_id": session_id} if session_id else {}))
        return await self.until("welcome")

    async def say(self, text, **data):
        await self.send("message", content=text, **data)

    async def answer(self, question, value, **data):
        await self.send("answer", interrupt_id=question["interrupt_id"], value=value, **data)

    async def closed(self):
        """The code it is closed with, whatever is said before."""
        while True:
            sent = await self.socket.receive_output(timeout=SECONDS)
            if sent["type"] == "websocket.close":
                return sent["code"]
            self.heard.append(json.loads(sent["text"]))

    async def is_quiet(self):
        return await self.socket.receive_nothing(timeout=0.15)
