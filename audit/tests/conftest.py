"""Conversations to look into: held with the probe, really, on a database that commits.

Like the runtime's own tests, these sweep what they wrote instead of flushing every table.
"""

import asyncio

import pytest
from django.contrib.auth.models import Permission
from django.db import connection

from agentruntime import access, agents
from agentruntime.models import Effect, Thread
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread
from agentruntime.persistence.store import NewMessage
from agentruntime.testing import probe_spec, running_host, until
from agentruntime.tests.conftest import SWEEP
from agentruntime.timetravel import history


@pytest.fixture
def transactional_db(django_db_setup, django_db_blocker):
    """The test database with real commits, empty again afterwards."""
    with django_db_blocker.unblock():
        assert connection.settings_dict["NAME"].startswith("test_")
        yield
        with connection.cursor() as cursor:
            # The ledger's rows cannot be deleted; a table can be emptied by its owner.
            cursor.execute("truncate audit_operation")
            cursor.execute(
                "delete from audit_pin; delete from audit_correction; delete from audit_retentionrule;"
                " delete from django_admin_log; delete from auth_user_user_permissions"
            )
            cursor.execute(SWEEP)
        connection.close()


@pytest.fixture
def owner(transactional_db, django_user_model):
    return django_user_model.objects.create_user("mei")


@pytest.fixture
def boss(transactional_db, django_user_model):
    return django_user_model.objects.create_superuser("admin")


@pytest.fixture
def desk(client, boss):
    """A client of somebody who may everything."""
    client.force_login(boss)
    return client


@pytest.fixture
def staff(transactional_db, django_user_model):
    """`staff("view_auditedthread", ...)`: somebody of the administration with these permissions."""

    def made(*permissions):
        user = django_user_model.objects.create_user(
            f"s{'-'.join(permissions)}"[:140], is_staff=True
        )
        found = Permission.objects.filter(content_type__app_label="audit", codename__in=permissions)
        assert len(found) == len(permissions)
        user.user_permissions.set(found)
        return user

    return made


async def _book(context, draft):
    """The probe's act: one effect, without a row of any app."""
    return await context.effect(
        "book_room",
        key=f"intent-{context.lease.thread}",
        arguments={"room": draft["room"]},
        call=lambda effect: {"room": draft["room"], "effect": effect.pk},
    )


@pytest.fixture
def probe(transactional_db):
    spec = probe_spec(act=_book)
    agents.register(spec)
    history.forget_graphs()
    yield spec
    agents._agents.pop(spec.name, None)
    history.forget_graphs()


TURNS = (
    ("text", "a room for six"),
    ("answer", {"room": "P01"}),
    ("answer", {"approved": True}),
)


async def hold(owner, turns):
    """Hold a conversation with the probe, turn by turn; its thread's id."""
    async with running_host() as host:
        thread = await in_db_thread(access.new_thread, owner, agent="probe", language="en")
        for number, (kind, what) in enumerate(turns):
            await say(host, thread.id, kind, what, turn=number + 1)
    return thread.id


async def say(host, thread, kind, what, *, turn):
    seen, _ = await store.snapshot(host.pool, thread)
    message = NewMessage(
        thread=thread,
        client_id=f"c{turn}",
        kind=kind,
        text=what if kind == "text" else "",
        data=what if kind == "answer" else {},
        interrupt_id=seen.interrupt["id"] if kind == "answer" else "",
    )
    await host.accept(message, seen=seen)

    async def settled():
        view, _ = await store.snapshot(host.pool, thread)
        return view.turn >= turn and view.status != "running"

    await until(settled)


@pytest.fixture
def converse(owner, probe):
    """`converse(2)`: the first two turns of a booking with the probe, held for real."""

    def held(turns=TURNS):
        turns = TURNS[:turns] if isinstance(turns, int) else turns
        return Thread.objects.get(pk=asyncio.run(hold(owner, turns)))

    return held


@pytest.fixture
def booked(converse):
    thread = converse()
    assert Effect.objects.filter(thread=thread).count() == 1
    return thread
