"""A database for several processes; what was measured is printed and kept with the report."""

from collections.abc import Iterator

import pytest

from tests.processes.several.together import Redis, Together


@pytest.fixture(scope="session")
def _database(tmp_path_factory) -> Iterator[Together]:
    together = Together(tmp_path_factory.mktemp("several") / "servers.log")
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
def redis(tmp_path_factory) -> Iterator[Redis]:
    redis = Redis(tmp_path_factory.mktemp("redis"))
    redis.start()
    yield redis
    redis.kill()


@pytest.fixture
def figure(record_property):
    """Print a measured figure (pytest -s) and keep it with the report."""

    def keep(name: str, value: object) -> None:
        print(f"\n  {name}: {value}")
        record_property(name, str(value))

    return keep
