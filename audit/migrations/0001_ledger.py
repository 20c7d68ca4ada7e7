"""The operators' ledger, which the database keeps from being changed, and pins."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


KEEP = """
CREATE FUNCTION audit_operation_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'operations are never changed or deleted'
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'operation_is_final';
END $$;
CREATE TRIGGER operation_is_final BEFORE UPDATE OR DELETE ON audit_operation
    FOR EACH ROW EXECUTE FUNCTION audit_operation_is_final();
"""
UNKEEP = """
DROP TRIGGER operation_is_final ON audit_operation;
DROP FUNCTION audit_operation_is_final();
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('agentruntime', '0005_lineage'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditedThread',
            fields=[
            ],
            options={
                'verbose_name': 'thread',
                'verbose_name_plural': 'threads',
                'permissions': [('view_raw_state', 'Can read the raw state of a thread'), ('replay_thread', 'Can replay a thread in a sandbox'), ('fork_thread', 'Can fork a thread into a sandbox'), ('promote_thread', 'Can make a fork the live thread'), ('prune_checkpoints', "Can prune checkpoints and erase people's words"), ('export_thread', 'Can export a thread as evidence'), ('pin_checkpoint', 'Can pin checkpoints'), ('correct_label', 'Can correct what a message was taken to be')],
                'proxy': True,
                'default_permissions': ('view',),
                'indexes': [],
                'constraints': [],
            },
            bases=('agentruntime.thread',),
        ),
        migrations.CreateModel(
            name='Operation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='when')),
                ('kind', models.CharField(choices=[('read_raw', 'Read raw state'), ('fork', 'Forked'), ('speak', 'Spoke in a sandbox'), ('replay', 'Replayed'), ('what_if', 'Tried variants'), ('promote', 'Made a fork live'), ('pin', 'Pinned'), ('unpin', 'Unpinned'), ('prune', 'Pruned checkpoints'), ('prune_threads', 'Deleted threads'), ('erase', "Erased a person's words"), ('export', 'Exported'), ('correct', 'Corrected a label'), ('retention', 'Changed retention')], max_length=20, verbose_name='what')),
                ('thread', models.CharField(db_default='', max_length=120, verbose_name='thread')),
                ('checkpoint', models.CharField(db_default='', max_length=60, verbose_name='from')),
                ('target', models.CharField(db_default='', max_length=120, verbose_name='to')),
                ('reason', models.CharField(db_default='', max_length=300, verbose_name='why')),
                ('outcome', models.CharField(choices=[('done', 'Done'), ('refused', 'Refused'), ('failed', 'Failed')], max_length=10, verbose_name='outcome')),
                ('details', models.JSONField(db_default=models.Value({}, models.JSONField()), verbose_name='details')),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='who')),
            ],
            options={
                'verbose_name': 'operation',
                'verbose_name_plural': 'operations',
                'default_permissions': ('view',),
                'indexes': [models.Index(fields=['thread', '-id'], name='operation_of_thread'), models.Index(fields=['-at'], name='operation_by_time')],
            },
        ),
        migrations.CreateModel(
            name='Pin',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('checkpoint', models.CharField(max_length=60, verbose_name='checkpoint')),
                ('reason', models.CharField(max_length=300, verbose_name='reason')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='pinned')),
                ('expires_at', models.DateTimeField(blank=True, null=True, verbose_name='until')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='pinned by')),
                ('thread', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pins', to='agentruntime.thread', verbose_name='thread')),
            ],
            options={
                'verbose_name': 'pin',
                'verbose_name_plural': 'pins',
                'default_permissions': ('view',),
                'constraints': [models.UniqueConstraint(fields=('thread', 'checkpoint'), name='pin_once'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='pin_has_reason')],
            },
        ),
        migrations.RunSQL(KEEP, UNKEEP),
    ]
