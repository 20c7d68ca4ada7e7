"""A database to play in: made for one evaluation on the same server, dropped at its end.

While it is there, this process reads and writes nothing else, sends no mail and reaches no other
process: what the operator's database holds is neither seen nor changed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from channels.layers import channel_layers
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from psycopg import sql
from psycopg.conninfo import make_conninfo

# Held by whoever makes or clears away such databases, on the server's own database.
LOCK = 0x524F4F4D
_MARK = "_evaluation_"
_NOT_LIBPQ = {"pool", "isolation_level", "server_side_binding", "assume_role"}


class NoScratch(Exception):
    """No database can be made to play in; says why and what to do."""


@contextmanager
def scratch_database() -> Iterator[None]:
    """Inside, Django's default database is a new and empty one with every migration applied.

    Raises NoScratch. Not for use inside a transaction.
    """
    own = str(connection.settings_dict["NAME"])
    name = f"{own[:30]}{_MARK}{os.getpid()}"
    with psycopg.connect(_conninfo(own), autocommit=True) as server:
        server.execute("select pg_advisory_lock(%s)", [LOCK])
        _clear_away(server, own)
        _create(server, name)
        _turn_to(name)
        try:
            connection.ensure_connection()  # nobody clears away what somebody is connected to
            server.execute("select pg_advisory_unlock(%s)", [LOCK])
            with _alone():
                call_command("migrate", verbosity=0, interactive=False)
                yield
        finally:
            _turn_to(own)
            server.execute(
                sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
            )


def _conninfo(name: str) -> str:
    """The operator's database, for a session that only makes and drops another."""
    own = connection.settings_dict
    options = {key: value for key, value in own["OPTIONS"].items() if key not in _NOT_LIBPQ}
    return make_conninfo(
        "",
        dbname=name,
        user=own["USER"] or None,
        password=own["PASSWORD"] or None,
        host=own["HOST"] or None,
        port=own["PORT"] or None,
        **options,
    )


def _create(server: "psycopg.Connection[tuple[object, ...]]", name: str) -> None:
    try:
        server.execute(
            sql.SQL("create database {} template template0").format(sql.Identifier(name))
        )
    except psycopg.errors.InsufficientPrivilege as error:
        raise NoScratch(
            "The database role may not create databases, and an evaluation never plays in the"
            " database that is in use. Allow it (ALTER ROLE ... CREATEDB), or run the evaluation"
            " where DATABASE_URL names a server on which it is allowed."
        ) from error


def _clear_away(server: "psycopg.Connection[tuple[object, ...]]", own: str) -> None:
    """Drop what evaluations left behind that were killed: databases nobody is connected to."""
    left = server.execute(
        "select datname from pg_database as d where datname like %s and not exists"
        " (select from pg_stat_activity as a where a.datname = d.datname)"
        " and pg_has_role(datdba, 'member')",
        [own[:30].replace("_", r"\_") + _MARK.replace("_", r"\_") + "%"],
    ).fetchall()
    for (name,) in left:
        server.execute(sql.SQL("drop database if exists {}").format(sql.Identifier(str(name))))


def _turn_to(name: str) -> None:
    """Have every thread of this process use another database from now on."""
    connections.close_all()
    connection.close_pool()  # type: ignore[attr-defined]
    settings.DATABASES["default"]["NAME"] = name
    connections["default"].settings_dict["NAME"] = name


@contextmanager
def _alone() -> Iterator[None]:
    """No mail goes out, and no event to other processes."""
    mail, layers = settings.EMAIL_BACKEND, settings.CHANNEL_LAYERS
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    channel_layers.backends.clear()
    try:
        yield
    finally:
        settings.EMAIL_BACKEND, settings.CHANNEL_LAYERS = mail, layers
        channel_layers.backends.clear()
