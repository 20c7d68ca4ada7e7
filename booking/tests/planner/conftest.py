"""A server that a model is asked through, and a planner that asks it."""

import pytest

from booking.agent.planner import llm
from booking.agent.planner.model import Model
from booking.tests.planner.house import heard
from booking.tests.planner.model_server import model_server


@pytest.fixture(scope="module")
def running():
    with model_server() as server:
        Model("openai:stub", url=server.url, key="k", seconds=5)  # loads what asking takes
        yield server


@pytest.fixture
def server(running):
    running.requests.clear()
    running.leave.clear()
    yield running
    running.leave.set()


@pytest.fixture
def ask(server):
    """Read a message with the model, as a planner of its own: what it made of it."""

    def connect():
        return Model("openai:stub", url=server.url, key="k", seconds=5)

    def made(seconds=5.0):
        return llm.LlmPlanner(connect, seconds=seconds)

    async def ask(text, *, by=None, seconds=5.0, **draft):
        return await (by or made(seconds))(heard(text, **draft))

    ask.planner = made
    return ask
