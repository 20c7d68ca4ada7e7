"""The WebSocket door: authenticate, decode, delegate, encode.

Handlers only validate, store and hand over; a run belongs to the runtime, not to the socket. A bad
frame never ends a session, an exception in a handler is answered with an error frame.
"""

import asyncio
import json
import logging
import time
from collections import deque
from datetime import UTC, datetime
from typing import Any

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from agentruntime.agents import get_agent
from agentruntime.edges import sessions
from agentruntime.edges.bindings import simple
from agentruntime.edges.decoder import decode
from agentruntime.edges.follower import Follower
from agentruntime.edges.rates import TokenBucket
from agentruntime.events import Event
from agentruntime.exceptions import BadFrame, RuntimeFault, StaleAnswer, UnknownAgent
from agentruntime.operations.host import get_host
from agentruntime.operations.valve import VALVE
from agentruntime.persistence.records import NewMessage

log = logging.getLogger(__name__)

PROTOCOL = "simple.v1"
INIT_SECONDS = 10.0
# How long a client may leave what it is sent unread.
SLOW_SECONDS = 20.0
STRIKES = 3
HEARD_LIMIT = 256
# A socket has no channel of its own: the process hears for all of them (delivery), so that a layer that
# is gone refuses nobody.
NO_LAYER = "no layer"
CLOSE_BROKEN, CLOSE_SIGNED_OUT, CLOSE_NOT_ALLOWED, CLOSE_TIMEOUT = 4400, 4401, 4403, 4408


class AgentConsumer(AsyncWebsocketConsumer):
    """One socket on one agent; follows one thread after `init`."""

    channel_layer_alias = NO_LAYER

    async def dispatch(self, message: dict[str, Any]) -> None:
        """As Channels does, without its hop through the ORM thread: no handler uses it."""
        handler = getattr(self, get_handler_name(message), None)
        if handler is None:
            raise ValueError(f"no handler for {message['type']}")
        await handler(message)

    async def connect(self) -> None:
        self.follower: Follower | None = None
        self.strikes = 0
        self.heard: deque[Event] = deque()
        self.missed = False
        self.sender: asyncio.Task[None] | None = None
        self.showing = asyncio.Lock()
        rate = settings.ROOMWISE["frames_per_second"]
        self.bucket = TokenBucket(rate=rate, burst=4 * rate)
        self.language = sessions.language_of(self.scope)
        self.seen_signed_in = time.monotonic()
        offered = self.scope.get("subprotocols") or []
        await self.accept(subprotocol=PROTOCOL if PROTOCOL in offered else None)
        try:
            self.spec = get_agent(self.scope["url_route"]["kwargs"]["agent"])
        except UnknownAgent:
            await self.close(code=CLOSE_NOT_ALLOWED)
            return
        if not self.scope["user"].is_authenticated:
            await self.close(code=CLOSE_SIGNED_OUT)
            return
        self.deadline = asyncio.get_running_loop().call_later(
            INIT_SECONDS, lambda: asyncio.ensure_future(self.close(code=CLOSE_TIMEOUT))
        )

    async def disconnect(self, code: int) -> None:
        if deadline := getattr(self, "deadline", None):
            deadline.cancel()
        if self.sender is not None:
            self.sender.cancel()
        await self._unfollow()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        client_id = None
        try:
            if not self.bucket.take():
                raise BadFrame("too many frames", code="too_fast")
            request = simple.read(decode(text_data or ""))
            if not await self._signed_in():
                return
            if self.follower is None and not isinstance(request, simple.Init | simple.Ping):
                raise BadFrame("init first", code="not_initialised")
            self.strikes = 0
            client_id = request.id if isinstance(request, simple.Say) else None
            await self._handle(request)
        except BadFrame as error:
            await self._strike(error)
        except RuntimeFault as error:
            await self._refuse(error, client_id)
        except Exception:
            log.exception("frame_failed")
            await self._refuse(RuntimeFault(), client_id)

    def hear(self, event: Event) -> None:
        """An event of the followed thread: queued; when too many wait, only the picture counts."""
        if len(self.heard) >= HEARD_LIMIT:
            self.heard.clear()
            self.missed = True
        self.heard.append(event)
        self._wake_sender()

    def _hear_anew(self) -> None:
        """Show the whole picture when the socket takes it."""
        self.missed = True
        self._wake_sender()

    def _wake_sender(self) -> None:
        if self.sender is None or self.sender.done():
            self.sender = asyncio.create_task(self._send_heard())

    async def _send_heard(self) -> None:
        try:
            while self.heard or self.missed:
                if not await self._signed_in() or not await self._is_read():
                    return
                missed, self.missed = self.missed, False
                if missed or not await self._show(self.heard.popleft()):
                    await self._picture()
        except RuntimeFault as error:
            await self._refuse(error)
        except Exception:
            log.exception("event_failed")
            await self._refuse(RuntimeFault())

    async def _is_read(self) -> bool:
        """Wait for a client that does not read; closes the socket when it has not in time.

        What is told meanwhile is bounded: more than that, and only the picture is kept to show.
        """
        valve = self.scope.get(VALVE)
        if valve is None or await valve.wait_open(SLOW_SECONDS):
            return True
        await self.close(code=CLOSE_TIMEOUT)
        return False

    async def _show(self, event: Event) -> bool:
        """Send what an event changes; False when only the whole picture will do."""
        async with self.showing:
            if self.follower is None or event.thread != self.follower.thread.id:
                return True
            frames = self.follower.frames(event)
            for frame in frames or ():
                await self._send(frame)
            return frames is not None

    async def _handle(self, request: simple.Request) -> None:
        if isinstance(request, simple.Ping):
            await self._send(simple.pong(datetime.now(UTC).isoformat()))
        elif isinstance(request, simple.Init):
            await self._init(request)
        elif isinstance(request, simple.Say):
            await self._say(request)
        elif isinstance(request, simple.Withdraw) and self.follower is not None:
            await get_host().withdraw(self.follower.thread, request.id)
        elif isinstance(request, simple.Stop) and self.follower is not None:
            await get_host().stop_run(self.follower.thread.id)
        else:
            self._hear_anew()

    async def _init(self, request: simple.Init) -> None:
        thread = await sessions.open_thread(
            self.scope["user"],
            request.session_id,
            agent=self.spec.name,
            language=self.language,
        )
        self.deadline.cancel()
        await self._unfollow()
        self.follower = Follower(spec=self.spec, language=self.language, thread=thread)
        await get_host().delivery.follow(thread.id, self.hear)
        await self._picture()

    async def _unfollow(self) -> None:
        if self.follower is not None:
            await get_host().delivery.unfollow(self.follower.thread.id, self.hear)

    async def _say(self, request: simple.Say) -> None:
        follower = self.follower
        if follower is None:
            return
        is_answer = request.value is not None
        text = request.text
        if request.value is not None:
            text = self.spec.phrase(request.value, self.language)
        receipt = await get_host().accept(
            NewMessage(
                thread=follower.thread.id,
                client_id=request.id,
                kind="answer" if is_answer else "text",
                text=text,
                data=request.value or {},
                interrupt_id=request.interrupt_id,
                strategy=request.strategy,
            ),
            seen=follower.thread,
            by=self.hear,
        )
        if receipt.claim is not None:
            follower.running(receipt.claim.lease.version)
        await self._send(simple.accepted(request.id, receipt.action))

    async def _picture(self) -> None:
        """Send the whole thread. Events wait meanwhile, so that none is shown before what it follows
        or overtaken by an older picture.
        """
        async with self.showing:
            while follower := self.follower:
                found = await get_host().snapshot(follower.thread.id)
                if found is None:
                    return
                thread, messages = found
                if follower.is_past(thread):
                    continue
                for frame in follower.picture(thread, messages, get_host().step_of(thread.id)):
                    await self._send(frame)
                return

    async def _signed_in(self) -> bool:
        """Look again whether the session still holds; closes the socket when it does not."""
        if time.monotonic() - self.seen_signed_in > sessions.RECHECK_SECONDS:
            self.seen_signed_in = time.monotonic()
            if not await sessions.still_signed_in(self.scope):
                await self.close(code=CLOSE_SIGNED_OUT)
                return False
        return True

    async def _strike(self, error: BadFrame) -> None:
        self.strikes += 1
        await self._refuse(error)
        if self.strikes >= STRIKES:
            await self.close(code=CLOSE_BROKEN)

    async def _refuse(self, error: RuntimeFault, client_id: str | None = None) -> None:
        valve = self.scope.get(VALVE)
        if valve is not None and not valve.is_open:
            return  # errors are for those who read
        await self._send(
            simple.error(error.code, language=self.language, retry=error.retry, client_id=client_id)
        )
        if isinstance(error, StaleAnswer) and self.follower is not None:
            for frame in self.follower.question():
                await self._send(frame)

    async def _send(self, frame: simple.Frame) -> None:
        if self.follower is not None:
            frame = {"session_id": self.follower.thread.id, **frame}
        await self.send(text_data=json.dumps(frame, ensure_ascii=False))


class NoSuchSocket(AsyncWebsocketConsumer):
    """Every other WebSocket path: a close code instead of a traceback."""

    channel_layer_alias = NO_LAYER

    async def connect(self) -> None:
        await self.accept()
        await self.close(code=4404)
