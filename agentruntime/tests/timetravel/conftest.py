"""A host whose probe acts, and somebody who talks to it."""

import pytest

from agentruntime.testing import probe_spec, running_host
from agentruntime.tests.conftest import Talk, open_thread
from agentruntime.tests.timetravel.held import CALLED, act
from agentruntime.timetravel import history


@pytest.fixture
async def host(transactional_db, register):
    CALLED.clear()
    register(probe_spec(act=act))
    history.forget_graphs()
    async with running_host() as host:
        yield host
    history.forget_graphs()


@pytest.fixture
async def talk(host, person):
    return Talk(host, await open_thread(person))
