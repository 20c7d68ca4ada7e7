"""Forks know where they come from; a sandbox thread cannot have effects, whoever writes them."""

import django.db.models.deletion
from django.db import migrations, models

GUARD = """
CREATE FUNCTION agentruntime_no_effect_in_sandbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM agentruntime_thread WHERE id = NEW.thread_id AND sandbox) THEN
        RAISE EXCEPTION 'thread % is a sandbox: it has no effects', NEW.thread_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'effect_not_in_sandbox';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER effect_not_in_sandbox BEFORE INSERT OR UPDATE OF thread_id ON agentruntime_effect
    FOR EACH ROW EXECUTE FUNCTION agentruntime_no_effect_in_sandbox();
"""
UNGUARD = """
DROP TRIGGER effect_not_in_sandbox ON agentruntime_effect;
DROP FUNCTION agentruntime_no_effect_in_sandbox();
"""


class Migration(migrations.Migration):
    dependencies = [("agentruntime", "0004_liveness")]
    operations = [
        migrations.AddField(
            model_name="thread",
            name="sandbox",
            field=models.BooleanField(
                db_default=False,
                help_text="A copy to try things in: it never acts.",
                verbose_name="sandbox",
            ),
        ),
        migrations.AddField(
            model_name="thread",
            name="forked_from",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="forks",
                to="agentruntime.thread",
                verbose_name="forked from",
            ),
        ),
        migrations.AddField(
            model_name="thread",
            name="forked_at",
            field=models.CharField(
                db_default="", max_length=60, verbose_name="forked at checkpoint"
            ),
        ),
        migrations.RunSQL(GUARD, UNGUARD),
    ]
