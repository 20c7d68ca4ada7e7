"""Blackouts of rooms, buildings and sites."""

import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('booking', '0004_series'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Blackout',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('during', django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name='during')),
                ('starts_at', models.GeneratedField(db_persist=True, expression=models.Func(models.F('during'), function='lower'), output_field=models.DateTimeField(), verbose_name='starts')),
                ('ends_at', models.GeneratedField(db_persist=True, expression=models.Func(models.F('during'), function='upper'), output_field=models.DateTimeField(), verbose_name='ends')),
                ('reason', models.CharField(help_text='People are told it; maintenance, an event.', max_length=200, verbose_name='reason')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='created')),
                ('lifted_at', models.DateTimeField(blank=True, null=True, verbose_name='lifted')),
                ('building', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='blackouts', to='booking.building', verbose_name='building')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='created by')),
                ('room', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='blackouts', to='booking.room', verbose_name='room')),
                ('site', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='blackouts', to='booking.site', verbose_name='site')),
            ],
            options={
                'verbose_name': 'blackout',
                'verbose_name_plural': 'blackouts',
                'ordering': ['-during'],
                'indexes': [django.contrib.postgres.indexes.GistIndex(condition=models.Q(('lifted_at__isnull', True)), fields=['during'], name='blackout_in_force')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('building__isnull', True), ('room__isnull', True), ('site__isnull', False)), models.Q(('building__isnull', False), ('room__isnull', True), ('site__isnull', True)), models.Q(('building__isnull', True), ('room__isnull', False), ('site__isnull', True)), _connector='OR'), name='blackout_of_one_place', violation_error_message='A blackout is of one site, building or room.'), models.CheckConstraint(condition=models.Q(('during__isempty', False), ('during__lower_inc', True), ('during__lower_inf', False), ('during__upper_inc', False), ('during__upper_inf', False)), name='blackout_during_half_open'), models.CheckConstraint(condition=models.Q(models.Func(models.Func(models.F('during'), function='lower'), function='isfinite', output_field=models.BooleanField()), models.Func(models.Func(models.F('during'), function='upper'), function='isfinite', output_field=models.BooleanField())), name='blackout_during_finite')],
            },
        ),
    ]
