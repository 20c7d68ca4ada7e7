"""A database for real server processes, the processes, and the pages that talk to them."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from tests.processes.failpoints import Failpoints
from tests.processes.servers import Node, Nursery, Together
from tests.processes.services import Redis


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.processes)


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.end()


@pytest.fixture(scope="session")
def _database(tmp_path_factory, nursery) -> Iterator[Together]:
    together = Together(tmp_path_factory.mktemp("processes") / "servers.log", nursery=nursery)
    together.create()
    try:
        yield together
    finally:
        together.drop()


@pytest.fixture(scope="module")
def together(_database) -> Iterator[Together]:
    """The database, with no process up but those a module starts; they end with it."""
    yield _database
    _database.end()


@pytest.fixture(scope="module")
def points(tmp_path_factory) -> Failpoints:
    """For servers that are started with `failpoints.INSTALL` and `points.env`."""
    return Failpoints(tmp_path_factory.mktemp("failpoints"))


@pytest.fixture(scope="module")
def _server(together) -> Node:
    """One process; it looks for work nobody drives twice a second."""
    (node,) = together.start(1, ROOMWISE_BEAT_SECONDS="0.5")
    return node


@pytest.fixture
def server(_server) -> Node:
    """The process, running at the start of every test whatever the one before did to it. The one
    that follows it is loaded meanwhile, so that a power cut costs little time.
    """
    _server.restart()
    _server.load()
    return _server


@pytest.fixture
def page(together, server):
    """A page of a person's, not open yet."""
    yield together.new_page(server)
    together.close_pages()


@pytest.fixture
def at(server) -> datetime:
    """A start no other test books."""
    return server.free_slot()


@pytest.fixture(scope="module")
def redis(tmp_path_factory) -> Iterator[Redis]:
    redis = Redis(tmp_path_factory.mktemp("redis"))
    redis.start()
    yield redis
    redis.kill()


@pytest.fixture
def figure(record_property):
    """Print a measured figure (pytest -s) and keep it with the report."""

    def keep(name: str, value: object, *, promise: str) -> None:
        print(f"\n  {name}: {value} (promise: {promise})")
        record_property("fault", (name, promise, str(value)))

    return keep
