"""Series: where and when a rule gives its dates, the dates it skipped, and what continues it."""

from zoneinfo import ZoneInfo

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


def describe_series(apps, schema_editor):
    """Give the series there are the room, the wall time and the zone of their first date."""
    Booking = apps.get_model('booking', 'Booking')
    Series = apps.get_model('booking', 'Series')
    for booking in Booking.objects.exclude(recurrence=''):
        first = booking.occurrences.filter(recurrence_date__isnull=False).order_by('recurrence_date').first()
        if first is None:
            continue
        zone = first.room.floor.building.site.time_zone
        length = first.ends_at - first.starts_at
        Series.objects.create(
            booking=booking,
            room=first.room,
            zone=zone,
            first=first.recurrence_date,
            start=first.starts_at.astimezone(ZoneInfo(zone)).time(),
            minutes=int(length.total_seconds() // 60),
        )


class Migration(migrations.Migration):

    dependencies = [
        ('booking', '0003_policy_in_full'),
    ]

    operations = [
        migrations.AddField(
            model_name='booking',
            name='continues',
            field=models.ForeignKey(blank=True, help_text='The series whose coming dates were changed and became this one.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='continued_by', to='booking.booking', verbose_name='continues'),
        ),
        migrations.AddField(
            model_name='occurrence',
            name='is_shifted',
            field=models.BooleanField(db_default=False, help_text='The clocks skip its wall time that day, and it starts that much later.', verbose_name='shifted'),
        ),
        migrations.AlterField(
            model_name='bookingchange',
            name='action',
            field=models.CharField(choices=[('booked', 'Booked'), ('moved', 'Moved'), ('amended', 'Details changed'), ('cancelled', 'Cancelled'), ('approved', 'Approved'), ('rejected', 'Rejected'), ('expired', 'Expired'), ('checked_in', 'Checked in'), ('released', 'Released'), ('swapped', 'Swapped'), ('restored', 'Restored'), ('split', 'Coming dates split off')], max_length=10, verbose_name='action'),
        ),
        migrations.CreateModel(
            name='Series',
            fields=[
                ('booking', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='series', serialize=False, to='booking.booking', verbose_name='booking')),
                ('zone', models.CharField(max_length=60, verbose_name='time zone')),
                ('first', models.DateField(verbose_name='first date')),
                ('start', models.TimeField(verbose_name='start')),
                ('minutes', models.PositiveSmallIntegerField(validators=[django.core.validators.MinValueValidator(1)], verbose_name='minutes')),
                ('room', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='booking.room', verbose_name='room')),
            ],
            options={
                'verbose_name': 'series',
                'verbose_name_plural': 'series',
                'constraints': [models.CheckConstraint(condition=models.Q(('minutes__gte', 1)), name='series_takes_time'), models.CheckConstraint(condition=models.Q(('zone', ''), _negated=True), name='series_has_zone')],
            },
        ),
        migrations.CreateModel(
            name='SeriesException',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('date', models.DateField(verbose_name='date')),
                ('rule', models.CharField(help_text='taken, or the rule that did not allow it.', max_length=30, verbose_name='why')),
                ('booking', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exceptions', to='booking.booking', verbose_name='booking')),
            ],
            options={
                'verbose_name': 'skipped date',
                'verbose_name_plural': 'skipped dates',
                'ordering': ['date'],
                'constraints': [models.UniqueConstraint(fields=('booking', 'date'), name='series_exception_once_per_date')],
            },
        ),
        migrations.RunPython(describe_series, migrations.RunPython.noop, elidable=True),
    ]
