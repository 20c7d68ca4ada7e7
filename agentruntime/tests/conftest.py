"""A host with the probe agent on the test database, and a person who speaks to it.

These tests commit for real. Instead of pytest-django's flush of every table of every app (most of
a second a test), the `transactional_db` of this folder deletes what the runtime wrote.
"""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from agentruntime import access, agents
from agentruntime.events import NoticeGiven
from agentruntime.models import uuid7
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread, open_pool
from agentruntime.persistence.records import NewMessage, TurnCommit
from agentruntime.persistence.saver import TurnRows
from agentruntime.testing import probe_spec, running_host, until
from agentruntime.tests.staging import Stage
from agentruntime.tests.tabs import SECONDS, Tab, cookie_of

LEASE = timedelta(seconds=30)

SWEEP = """
set local lock_timeout = '5s';
delete from agentruntime_effect; delete from agentruntime_message; delete from agentruntime_run;
delete from agentruntime_session; delete from agentruntime_worker; delete from agentruntime_chore;
delete from agentruntime_thread;
delete from checkpoint_writes; delete from checkpoint_blobs; delete from checkpoints;
delete from django_session; delete from auth_group; delete from auth_user;
"""


@pytest.fixture
def transactional_db(django_db_setup, django_db_blocker):
    """The test database with real commits, empty again afterwards."""
    with django_db_blocker.unblock():
        assert connection.settings_dict["NAME"].startswith("test_")
        yield
        with connection.cursor() as cursor:
            cursor.execute(SWEEP)
        connection.close()


@pytest.fixture
def person(transactional_db):
    return get_user_model().objects.create_user("mei")


@pytest.fixture
def stranger(transactional_db):
    return get_user_model().objects.create_user("tom")


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
async def pool(transactional_db, probe):
    """The hot path's pool of a worker named `w1`."""
    pool = await open_pool(worker="w1")
    yield pool
    await pool.close()


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

    async def say(self, text, *, client_id=None, seen=None, interrupt_id="", strategy="auto"):
        self.count += 1
        message = NewMessage(
            thread=self.id,
            client_id=client_id or f"c{self.count}",
            kind="text",
            text=text,
            interrupt_id=interrupt_id,
            strategy=strategy,
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

        async def reached():
            view = await self.view()
            return view if view.turn >= turn and view.status != "running" else None

        return await until(reached)


async def open_thread(person, agent="probe"):
    """A new thread of a person, without anything that runs it."""
    thread = await in_db_thread(access.new_thread, person, agent=agent, language="en")
    return thread.id


@pytest.fixture
async def talk(host, person):
    return Talk(host, await open_thread(person))


@pytest.fixture
async def stage_at(talk):
    def put(node):
        stage = Stage(node)
        talk.host._graphs["probe"] = probe_spec(hook=stage.hook).build_graph().compile()
        return stage

    return put


@pytest.fixture
async def notices(talk):
    heard = []
    await talk.host.delivery.follow(
        talk.id, lambda e: heard.append(e.code) if isinstance(e, NoticeGiven) else None
    )
    return heard


@pytest.fixture
async def tab(host, person):
    """Make tabs of a person (of mei, unless another is given); all closed at the end."""
    cookies, opened = {}, []

    async def make(user=person, **names):
        if user.pk not in cookies:
            cookies[user.pk] = await in_db_thread(cookie_of, user)
        each = Tab(cookies[user.pk], **names)
        opened.append(each)
        return each

    yield make
    for each in opened:
        await each.socket.disconnect(timeout=SECONDS)


@pytest.fixture
async def page(tab):
    """A tab that has begun: its session id is in `page.id`."""
    page = await tab()
    page.id = (await page.begin())["session_id"]
    return page


@pytest.fixture
async def thread(pool, person):
    return await open_thread(person)


async def view_of(pool, thread):
    found, _ = await store.snapshot(pool, thread)
    return found


def message_to(thread, text="a room", **names):
    names.setdefault("client_id", str(uuid7()))
    return NewMessage(thread=thread, kind="text", text=text, **names)


async def store_message(pool, message, *, seen=None, claim_for=None, lease=LEASE):
    return await store.accept(
        pool,
        message,
        seen=seen or await view_of(pool, message.thread),
        classification="",
        rule="test",
        claim_for=claim_for,
        lease=lease,
    )


async def claim_by_speaking(pool, thread, *, worker="w1", lease=LEASE):
    """Say something on an idle thread and claim it for a worker: the claim."""
    accepted = await store_message(pool, message_to(thread), claim_for=worker, lease=lease)
    return accepted.claim or await store.claim(pool, thread=thread, worker=worker, lease=lease)


def turn_of(claim, **changes):
    """The smallest commit of a claimed turn: it consumes everything and ends idle."""
    names = {
        "lease": claim.lease,
        "rows": TurnRows(),
        "status": "idle",
        "run_status": "done",
        "head": "",
        "interrupt": None,
        "summary": {},
        "title": "",
        "language": "en",
        "agent_version": 1,
        "consumed": {message.id: "" for message in claim.pending},
        "left": 0,
    }
    return TurnCommit(**{**names, **changes})


async def expire(thread):
    """Let a thread's lease have run out a minute ago, by the database's clock."""
    await change(thread, "lease_until = clock_timestamp() - interval '1 minute'")


async def change(thread, assignments):
    """Update a thread's row, as in `change(id, "turn = 5")`."""
    await sql(f"update agentruntime_thread set {assignments} where id = %s", thread)  # noqa: S608


async def sql(statement, *values):
    """Run one statement in a transaction of its own; its rows, if it has any."""

    def inside():
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else None

    return await in_db_thread(inside)


async def row_counts():
    """How many rows every table has: what a refused write must leave as it was.

    A heartbeat is not one: it says that a process lives, whatever it may write.
    """
    tables = await sql(
        "select quote_ident(tablename) from pg_tables where schemaname = 'public'"
        " and tablename not in ('agentruntime_worker', 'agentruntime_chore') order by 1"
    )
    counts = ", ".join(f"(select count(*) from {name})" for (name,) in tables)  # noqa: S608
    (row,) = await sql(f"select {counts}")  # the names come from the catalogue
    return dict(zip((name for (name,) in tables), row, strict=True))
