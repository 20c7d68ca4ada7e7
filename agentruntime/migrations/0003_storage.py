"""Room in the pages of rows that every turn updates, so that an update stays in its page."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("agentruntime", "0002_checkpoints")]
    operations = [
        migrations.RunSQL(
            "ALTER TABLE agentruntime_thread SET (fillfactor = 50)",
            "ALTER TABLE agentruntime_thread RESET (fillfactor)",
        ),
        migrations.RunSQL(
            "ALTER TABLE agentruntime_run SET (fillfactor = 80)",
            "ALTER TABLE agentruntime_run RESET (fillfactor)",
        ),
    ]
