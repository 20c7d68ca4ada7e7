"""The connections of one process: the async pool of the hot path and the threads for Django's ORM.

A pool belongs to the event loop that opened it, so nothing is opened at import.
"""

import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, ParamSpec, TypeVar

import psycopg
from asgiref.sync import SyncToAsync
from django.db import InterfaceError, OperationalError, close_old_connections, connection
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from agentruntime.exceptions import StorageUnavailable

P = ParamSpec("P")
R = TypeVar("R")

Pool = AsyncConnectionPool[AsyncConnection[DictRow]]

POOL_SIZE = 8
DB_THREADS = 8
# A stopped process must not hold locks for ever: the server ends its transaction (seconds).
TRANSACTION_TIMEOUT = 10
STATEMENT_TIMEOUT = 8
IDLE_BEFORE_CHECK = 2.0
# What Django keeps among a database's options for itself.
_NOT_LIBPQ = {"pool", "isolation_level", "server_side_binding", "assume_role"}

_threads = ThreadPoolExecutor(max_workers=DB_THREADS, thread_name_prefix="orm")


def application_name(worker: str) -> str:
    """The session name by which other processes see that a worker is alive (under 64 bytes)."""
    return f"roomwise:{worker}"


def conninfo(*, worker: str) -> str:
    """Django's default database as a libpq connection string for this worker's sessions."""
    settings = connection.settings_dict
    options = {key: value for key, value in settings["OPTIONS"].items() if key not in _NOT_LIBPQ}
    own = (
        f"-c transaction_timeout={TRANSACTION_TIMEOUT}s"
        f" -c statement_timeout={STATEMENT_TIMEOUT}s"
        " -c client_connection_check_interval=2s"
    )
    return make_conninfo(
        "",
        dbname=settings["NAME"],
        user=settings["USER"] or None,
        password=settings["PASSWORD"] or None,
        host=settings["HOST"] or None,
        port=settings["PORT"] or None,
        **{
            **options,
            "application_name": application_name(worker),
            "options": f"{options.get('options', '')} {own}".strip(),
        },
    )


class _CheckedConnection(AsyncConnection[DictRow]):
    """A connection that remembers when it was last proved alive (seconds, monotonic)."""

    proved_at: float = 0.0


async def _check(conn: AsyncConnection[Any]) -> None:
    """Probe a connection that has been idle for a while; a busy one proves itself by its work.

    Raises psycopg.OperationalError when the server is gone; the pool then tries another.
    """
    now = time.monotonic()
    if now - getattr(conn, "proved_at", 0.0) > IDLE_BEFORE_CHECK:
        await AsyncConnectionPool.check_connection(conn)
    conn.proved_at = now  # type: ignore[attr-defined]


async def open_pool(*, worker: str, size: int = POOL_SIZE) -> Pool:
    """Open the hot path's pool in the running loop.

    Raises psycopg_pool.PoolTimeout when no connection can be had within 10 s.
    """
    pool: Pool = AsyncConnectionPool(
        conninfo(worker=worker),
        min_size=2,
        max_size=size,
        open=False,
        timeout=5,
        max_idle=300,
        connection_class=_CheckedConnection,
        check=_check,
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
    )
    await pool.open(wait=True, timeout=10)
    return pool


@asynccontextmanager
async def borrowed(pool: Pool) -> AsyncIterator[AsyncConnection[DictRow]]:
    """A connection for one piece of work. Raises StorageUnavailable when the database is away."""
    try:
        async with pool.connection() as conn:
            yield conn
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
        raise StorageUnavailable(type(error).__name__) from error


async def in_db_thread(call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Run synchronous ORM code in one of the process's database threads.

    The named crossing between the async runtime and Django's ORM. The connection goes back to
    Django's pool before and after, so no thread keeps one.
    """

    def inside() -> R:
        close_old_connections()
        try:
            return call(*args, **kwargs)
        except (OperationalError, InterfaceError) as error:
            raise StorageUnavailable(type(error).__name__) from error
        finally:
            close_old_connections()

    return await SyncToAsync(inside, thread_sensitive=False, executor=_threads)()
