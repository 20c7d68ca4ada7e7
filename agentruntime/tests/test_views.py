"""The probes a load balancer asks."""

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader


def test_a_living_process_answers(client):
    answer = client.get("/healthz")

    assert (answer.status_code, answer.content) == (200, b"ok")
    assert client.post("/healthz").status_code == 405


def test_a_migrated_database_is_ready(client, transactional_db):
    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json() == {"database": "ok", "migrations": "ok", "channel_layer": "none"}


def test_missing_migrations_are_not_ready(client, transactional_db):
    app = "agentruntime"
    ((_, name),) = MigrationLoader(connection).graph.leaf_nodes(app)
    with connection.cursor() as cursor:
        cursor.execute("delete from django_migrations where app = %s and name = %s", [app, name])
        try:
            answer = client.get("/readyz")
        finally:
            cursor.execute(
                "insert into django_migrations (app, name, applied) values (%s, %s, now())",
                [app, name],
            )

    assert (answer.status_code, answer.json()["migrations"]) == (503, "missing")


def test_an_unreachable_database_is_not_ready(client, transactional_db, monkeypatch):
    connection.close()
    with monkeypatch.context() as patch:
        patch.setattr(connection, "_connection_pools", {})
        patch.setitem(connection.settings_dict, "HOST", "/nowhere")
        patch.setitem(connection.settings_dict, "OPTIONS", {})
        answer = client.get("/readyz")
        connection.close()

    assert (answer.status_code, answer.json()) == (503, {"database": "unreachable"})


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_probe_needs_no_sign_in(client, transactional_db, path):
    assert client.get(path).status_code == 200
