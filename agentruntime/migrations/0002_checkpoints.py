"""LangGraph's own tables, by the stock saver's own statements; not atomic: it may index concurrently.

Its indexes on thread_id alone are left out: every primary key starts with it, and they cost a third
of what a turn writes to the log. Their versions are recorded, so the stock set-up adds nothing.
"""

from django.db import migrations


def create(apps, schema_editor):
    from langgraph.checkpoint.postgres import PostgresSaver

    with schema_editor.connection.cursor() as cursor:
        cursor.execute(PostgresSaver.MIGRATIONS[0])
        cursor.execute("SELECT coalesce(max(v), -1) FROM checkpoint_migrations")
        (done,) = cursor.fetchone()
        for version, statement in enumerate(PostgresSaver.MIGRATIONS):
            if version > done:
                if "INDEX" not in statement:
                    cursor.execute(statement)
                cursor.execute("INSERT INTO checkpoint_migrations (v) VALUES (%s)", [version])


def drop(apps, schema_editor):
    for table in ("checkpoint_writes", "checkpoint_blobs", "checkpoints", "checkpoint_migrations"):
        schema_editor.execute(f"DROP TABLE IF EXISTS {table}")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("agentruntime", "0001_initial")]
    operations = [migrations.RunPython(create, drop)]
