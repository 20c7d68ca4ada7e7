"""A host with the probe agent, on the test database."""

import pytest

from agentruntime import access, agents
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread
from agentruntime.persistence.store import NewMessage
from agentruntime.testing import probe_spec, running_host


@pytest.fixture
def register():
    """Register an agent for one test."""
    names = []

    def add(spec):
        agents.register(spec)
        names.append(spec.name)
        return spec

    yield add
    for name in names:
        agents._agents.pop(name, None)


@pytest.fixture
def probe(register):
    return register(probe_spec())


@pytest.fixture
async def host(transactional_db, probe):
    async with running_host() as host:
        yield host


class Talk:
    """Speaks to one thread as a person's edge would."""

    def __init__(self, host, thread_id):
        self.host = host
        self.id = thread_id
        self.count = 0

    async def view(self):
        thread, _ = await store.snapshot(self.host.pool, self.id)
        return thread

    async def messages(self):
        _, messages = await store.snapshot(self.host.pool, self.id)
        return messages

    async def say(self, text, *, client_id=None, seen=None, interrupt_id=""):
        self.count += 1
        message = NewMessage(
            thread=self.id,
            client_id=client_id or f"c{self.count}",
            kind="text",
            text=text,
            interrupt_id=interrupt_id,
        )
        return await self.host.accept(message, seen=seen or await self.view())

    async def answer(self, value, *, interrupt_id=None, client_id=None, seen=None):
        self.count += 1
        seen = seen or await self.view()
        message = NewMessage(
            thread=self.id,
            client_id=client_id or f"c{self.count}",
            kind="answer",
            data=value,
            interrupt_id=interrupt_id or seen.interrupt["id"],
        )
        return await self.host.accept(message, seen=seen)

    async def settled(self, turn):
        """The thread once it has reached that turn."""
        from agentruntime.testing import until

        async def reached():
            view = await self.view()
            return view if view.turn >= turn and view.status != "running" else None

        return await until(reached)


@pytest.fixture
async def talk(host, person):
    thread = await in_db_thread(access.new_thread, person, agent="probe", language="en")
    return Talk(host, thread.id)
