"""Says a case's turns over the socket and brings back what came of them.

One server process's runtime is started for all cases; the world's clock is moved to each case's.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from agentruntime import agents
from agentruntime.models import Message
from agentruntime.operations.host import HostSettings, RuntimeHost, set_host
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread
from agentruntime.persistence.records import ThreadView
from agentruntime.persistence.saver import TurnSaver
from booking.agent.graph import build_graph
from booking.agent.spec import NAME
from booking.evaluation import world as worlds
from booking.evaluation import writes
from booking.evaluation.cases import Case, Turn, World
from booking.evaluation.played import Frame, Played
from booking.evaluation.socket import Socket, signed_in
from booking.evaluation.world import Stage

SETTINGS = HostSettings(beat_seconds=1.0, watch_seconds=5.0)
# Where nothing more is said the wait for more only takes time.
QUIET = replace(SETTINGS, debounce_seconds=0.0)
TURN_SECONDS = 30.0
_LOOK = 0.005


class CaseFailed(Exception):
    """A case could not be played to its end: the agent did not answer, or the socket closed."""


class _Gate:
    """Holds a run before it looks or acts, for as long as more is being said beside it."""

    def __init__(self) -> None:
        self._is_open = asyncio.Event()
        self._is_open.set()
        self.is_reached = False

    async def pass_through(self, node: str) -> None:
        self.is_reached = True
        await self._is_open.wait()

    def shut(self) -> None:
        self.is_reached = False
        self._is_open.clear()

    def open(self) -> None:
        self._is_open.set()


class Player:
    """Plays cases one after the other; made by `playing`."""

    def __init__(self, host: RuntimeHost, gate: _Gate) -> None:
        self._host = host
        self._gate = gate
        self._stage = Stage()
        self._cookies: dict[int, str] = {}

    async def play(self, case: Case) -> tuple[Played, World]:
        """One case, in a world of its own. Raises CaseFailed, BadCase."""
        world = await in_db_thread(self._stage.set, case.fixture, now=case.now)
        language = "en" if case.lang == "en" else "zh"
        return await self.talk(case.turns, world, now=case.now, language=language), world

    async def talk(
        self, turns: Sequence[Turn], world: World, *, now: datetime, language: str
    ) -> Played:
        """Hold a conversation in the world as it stands. Raises CaseFailed, BadCase."""
        self._host.shift = now - datetime.now(UTC)
        is_beside = any(turn.while_running for turn in turns)
        self._host.settings = SETTINGS if is_beside else QUIET
        before = await in_db_thread(writes.snapshot)
        cookie = await in_db_thread(signed_in, world.owner)
        socket = Socket(cookie=cookie, language=language, agent=NAME)
        played = Played(frames=socket.frames)
        try:
            welcome = await socket.open()
            talk = _Talk(self._host, self._gate, socket, welcome["session_id"], world, played)
            await talk.hold(turns)
        except TimeoutError as error:
            raise CaseFailed("no answer in time") from error
        finally:
            self._gate.open()
            await socket.close()
        after = await in_db_thread(writes.snapshot)
        known = {row: each for each, row in world.bookings.items()}
        played.writes = writes.between(before, after, known=known, zone=world.zone)
        played.unconfirmed = await in_db_thread(writes.unconfirmed, welcome["session_id"])
        return played


class _Talk:
    """One conversation: says turns, waits for answers, looks at what they left."""

    def __init__(
        self,
        host: RuntimeHost,
        gate: _Gate,
        socket: Socket,
        thread: str,
        world: World,
        played: Played,
    ) -> None:
        self._host, self._gate, self._socket = host, gate, socket
        self._thread, self._world, self._played = thread, world, played

    async def hold(self, turns: Sequence[Turn]) -> None:
        """Say every turn after the answer to the one before, or while it is being worked on."""
        began = 0
        for number, turn in enumerate(turns):
            await asyncio.sleep(turn.gap_ms / 1000 if turn.while_running else 0)
            if turn.world is not None:
                await in_db_thread(worlds.happen, turn.world, self._world)
            before = await self._view()
            if not turn.while_running:
                self._gate.shut()
                began = before.turn
            await self._say(number, turn, before)
            following = turns[number + 1 : number + 2]
            if not (following and following[0].while_running):
                self._gate.open()
                await _until(partial(self._is_settled, began + 1))
                await self._socket.until(self._is_answer)
                await self._look()

    async def _view(self) -> ThreadView:
        found = await store.snapshot(self._host.pool, self._thread, limit=0)
        if found is None:
            raise CaseFailed("the thread is gone")
        return found[0]

    async def _say(self, number: int, turn: Turn, before: ThreadView) -> None:
        """Send a message; beside a run that waits at the gate, wait until it is dealt with."""
        name = f"m{number}"
        if turn.answer is None:
            self._socket.send("message", content=turn.text, id=name)
        else:
            asked = (before.interrupt or {}).get("id", "")
            self._socket.send("answer", interrupt_id=asked, value=turn.answer, id=name)
        accepted = await self._socket.until(
            lambda frame: frame["type"] == "accepted" and frame["id"] == name
        )
        changes_run = accepted["classification"] in {"join", "supersede"}
        if turn.while_running and changes_run and self._gate.is_reached:
            await _until(lambda: self._is_superseded(before))

    async def _is_superseded(self, before: ThreadView) -> bool:
        return (await self._view()).run_version > before.run_version

    async def _is_settled(self, turn: int) -> bool:
        now = await self._view()
        is_over = now.turn >= turn and now.status != "running"
        return is_over and not await store.unread(self._host.pool, self._thread)

    def _is_answer(self, frame: Frame) -> bool:
        """Whether the page was told this after the last thing it said."""
        frames = self._socket.frames
        said = max(at for at, each in enumerate(frames) if each["type"] == "accepted")
        is_later = any(each is frame for each in frames[said:])
        return is_later and frame["type"] in {"interrupt", "complete", "error", "welcome"}

    async def _look(self) -> None:
        """Take in the committed state, as the next turn will find it."""
        found = await store.snapshot(self._host.pool, self._thread)
        head = await TurnSaver(self._host.pool).aget_tuple(
            {"configurable": {"thread_id": self._thread}}
        )
        if found is None or head is None:
            raise CaseFailed("there is no state")
        values, messages = head.checkpoint["channel_values"], found[1]
        played = self._played
        played.slots, played.dialogue = values["slots"], values["dialogue"]
        played.result = values["result"]
        if cards := played.dialogue["candidates"]:
            played.candidates = [card["room"] for card in cards if not card.get("starts_at")]
            played.alternatives = [
                f"{card['room']}@{card['starts_at'][11:16]}"
                for card in cards
                if card.get("kind") == "other_time"
            ]
        elif played.phase == "COLLECTING_SLOTS":
            played.candidates, played.alternatives = [], []
        asked = played.dialogue["asks"] if played.phase == "COLLECTING_SLOTS" else []
        if not (played.dialogue["question"] or {}).get("data", {}).get("rule"):
            played.asks_held += [slot for slot in asked if played.slots.get(slot) is not None]
        played.words.append(messages[-1].text)
        played.classification = await in_db_thread(_classes, self._thread)


async def _until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Look again and again until it holds. Raises TimeoutError."""
    async with asyncio.timeout(TURN_SECONDS):
        while True:
            if await condition():
                return
            await asyncio.sleep(_LOOK)


def _classes(thread: str) -> list[str]:
    said = Message.objects.filter(thread_id=thread, role=Message.Role.USER).order_by("pk")
    return list(said.values_list("classification", flat=True))


@asynccontextmanager
async def playing() -> AsyncIterator[Player]:
    """A player on a started runtime, in the database that is Django's default one."""
    gate = _Gate()
    spec = agents.get_agent(NAME)
    agents.register(replace(spec, build_graph=lambda: build_graph(before=gate.pass_through)))
    host = RuntimeHost(QUIET, does_chores=False)
    await host.start()
    set_host(host)
    try:
        yield Player(host, gate)
    finally:
        set_host(None)
        await host.stop()
        agents.register(spec)
