"""What leaves the house: the outbox of mail, secret calendar feeds, an identity for each booking."""

import booking.models.calendar
import django.contrib.postgres.functions
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('booking', '0005_blackouts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='booking',
            name='calendar_uid',
            field=models.UUIDField(db_default=django.contrib.postgres.functions.RandomUUID(), editable=False, unique=True, verbose_name='calendar identity'),
        ),
        migrations.CreateModel(
            name='CalendarFeed',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=booking.models.calendar.new_token, max_length=64, unique=True, verbose_name='token')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='created')),
                ('revoked_at', models.DateTimeField(blank=True, null=True, verbose_name='revoked')),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calendar_feeds', to=settings.AUTH_USER_MODEL, verbose_name='person')),
            ],
            options={
                'verbose_name': 'calendar feed',
                'verbose_name_plural': 'calendar feeds',
                'ordering': ['-pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('revoked_at__isnull', True)), fields=('person',), name='calendar_feed_one_in_force')],
            },
        ),
        migrations.CreateModel(
            name='Mail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('purpose', models.CharField(choices=[('calendar', 'Calendar'), ('request', 'Request to decide on')], max_length=10, verbose_name='purpose')),
                ('status', models.CharField(choices=[('waiting', 'Waiting'), ('sent', 'Sent'), ('superseded', 'Superseded by a newer one'), ('failed', 'Given up')], default='waiting', max_length=10, verbose_name='status')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='created')),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='due')),
                ('attempts', models.PositiveSmallIntegerField(default=0, verbose_name='attempts')),
                ('sent_at', models.DateTimeField(blank=True, null=True, verbose_name='sent')),
                ('error', models.CharField(blank=True, max_length=200, verbose_name='last error')),
                ('booking', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mails', to='booking.booking', verbose_name='booking')),
                ('change', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mails', to='booking.bookingchange', verbose_name='change')),
                ('recipient', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='recipient')),
            ],
            options={
                'verbose_name': 'mail',
                'verbose_name_plural': 'outbox',
                'ordering': ['-pk'],
                'indexes': [models.Index(condition=models.Q(('status', 'waiting')), fields=['due_at'], name='mail_due'), models.Index(fields=['booking', 'recipient', 'purpose', '-id'], name='mail_newest')],
                'constraints': [models.UniqueConstraint(fields=('change', 'recipient', 'purpose'), name='mail_once_per_change'), models.CheckConstraint(condition=models.Q(('status__in', ['waiting', 'sent', 'superseded', 'failed'])), name='mail_status_known')],
            },
        ),
    ]
