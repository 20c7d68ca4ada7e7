"""LangGraph's own tables, by the saver's own set-up; not atomic, because it indexes concurrently."""

from django.db import migrations


def create(apps, schema_editor):
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg.rows import dict_row

    wrapper = schema_editor.connection
    wrapper.ensure_connection()
    raw = wrapper.connection
    factory = raw.row_factory
    raw.row_factory = dict_row
    try:
        PostgresSaver(raw).setup()
    finally:
        raw.row_factory = factory


def drop(apps, schema_editor):
    for table in ("checkpoint_writes", "checkpoint_blobs", "checkpoints", "checkpoint_migrations"):
        schema_editor.execute(f"DROP TABLE IF EXISTS {table}")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("agentruntime", "0001_initial")]
    operations = [migrations.RunPython(create, drop)]
