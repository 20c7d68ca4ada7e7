"""Sites down to rooms, policies, bookings, occurrences and their constraints."""

import datetime
import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.core.validators
import django.db.models.constraints
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('agentruntime', '0001_initial'),
        ('booking', '0001_btree_gist'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Building',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name_en', models.CharField(max_length=100, verbose_name='English name')),
                ('name_zh', models.CharField(max_length=100, verbose_name='Chinese name')),
                ('code', models.CharField(help_text='What people call it: A.', max_length=10, verbose_name='code')),
            ],
            options={
                'verbose_name': 'building',
                'verbose_name_plural': 'buildings',
                'ordering': ['code'],
            },
        ),
        migrations.CreateModel(
            name='Feature',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name_en', models.CharField(max_length=100, verbose_name='English name')),
                ('name_zh', models.CharField(max_length=100, verbose_name='Chinese name')),
                ('code', models.SlugField(help_text='For programs: video_conference.', unique=True, verbose_name='code')),
            ],
            options={
                'verbose_name': 'feature',
                'verbose_name_plural': 'features',
                'ordering': ['code'],
            },
        ),
        migrations.CreateModel(
            name='Site',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name_en', models.CharField(max_length=100, verbose_name='English name')),
                ('name_zh', models.CharField(max_length=100, verbose_name='Chinese name')),
                ('time_zone', models.CharField(help_text='IANA name, for example Asia/Shanghai; opening hours are local to it.', max_length=60, verbose_name='time zone')),
            ],
            options={
                'verbose_name': 'site',
                'verbose_name_plural': 'sites',
            },
        ),
        migrations.CreateModel(
            name='Booking',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(blank=True, max_length=200, verbose_name='title')),
                ('visibility', models.CharField(choices=[('public', 'Public'), ('private', 'Private')], default='public', help_text='Others see a private booking only as a busy room.', max_length=10, verbose_name='visibility')),
                ('headcount', models.PositiveIntegerField(validators=[django.core.validators.MinValueValidator(1)], verbose_name='headcount')),
                ('recurrence', models.CharField(blank=True, help_text='RFC 5545 rule of a series; empty for a single booking.', max_length=200, verbose_name='recurrence')),
                ('source', models.CharField(choices=[('chat', 'Assistant'), ('portal', 'Portal'), ('admin', 'Administration'), ('api', 'API')], max_length=10, verbose_name='source')),
                ('idempotency_key', models.CharField(max_length=200, verbose_name='idempotency key')),
                ('request_digest', models.CharField(help_text='Of the first request, to tell a resend from another request.', max_length=64, verbose_name='request digest')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='created')),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='updated')),
                ('effect', models.ForeignKey(blank=True, help_text='What the assistant did to make this booking, and in which conversation.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='bookings', to='agentruntime.effect', verbose_name='effect')),
                ('organizer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bookings', to=settings.AUTH_USER_MODEL, verbose_name='organizer')),
            ],
            options={
                'verbose_name': 'booking',
                'verbose_name_plural': 'bookings',
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='BookingChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='at')),
                ('source', models.CharField(choices=[('chat', 'Assistant'), ('portal', 'Portal'), ('admin', 'Administration'), ('api', 'API')], max_length=10, verbose_name='source')),
                ('action', models.CharField(choices=[('booked', 'Booked'), ('moved', 'Moved'), ('amended', 'Details changed'), ('cancelled', 'Cancelled')], max_length=10, verbose_name='action')),
                ('before', models.JSONField(default=dict, verbose_name='before')),
                ('after', models.JSONField(default=dict, verbose_name='after')),
                ('reason', models.CharField(blank=True, max_length=200, verbose_name='reason')),
                ('booking', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='booking.booking', verbose_name='booking')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='by')),
            ],
            options={
                'verbose_name': 'change',
                'verbose_name_plural': 'history',
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='Floor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.SmallIntegerField(verbose_name='number')),
                ('building', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='floors', to='booking.building', verbose_name='building')),
            ],
            options={
                'verbose_name': 'floor',
                'verbose_name_plural': 'floors',
                'ordering': ['building__code', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Policy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True, verbose_name='name')),
                ('min_minutes', models.PositiveSmallIntegerField(default=15, verbose_name='shortest booking, minutes')),
                ('max_minutes', models.PositiveSmallIntegerField(default=240, verbose_name='longest booking, minutes')),
                ('grid_minutes', models.PositiveSmallIntegerField(default=15, help_text='Starts and ends fall on multiples of it.', verbose_name='grid, minutes')),
                ('horizon_days', models.PositiveSmallIntegerField(default=90, help_text='How far ahead a booking may start.', verbose_name='horizon, days')),
                ('grace_minutes', models.PositiveSmallIntegerField(default=15, help_text='How long after its start a slot may still be booked (“right now”).', verbose_name='grace, minutes')),
                ('buffer_before_minutes', models.PositiveSmallIntegerField(default=0, help_text='Kept free before each booking.', verbose_name='buffer before, minutes')),
                ('buffer_after_minutes', models.PositiveSmallIntegerField(default=0, help_text='Kept free after each booking.', verbose_name='buffer after, minutes')),
                ('needs_approval', models.BooleanField(default=False, help_text='Bookings wait as requests.', verbose_name='needs approval')),
            ],
            options={
                'verbose_name': 'policy',
                'verbose_name_plural': 'policies',
                'ordering': ['name'],
                'constraints': [models.CheckConstraint(condition=models.Q(('min_minutes__gte', 1), ('max_minutes__gte', models.F('min_minutes')), ('max_minutes__lte', 1440)), name='policy_duration_sane', violation_error_message='The longest booking is at least the shortest and at most a day.'), models.CheckConstraint(condition=models.Q(('grid_minutes__in', [1, 5, 10, 15, 20, 30, 60])), name='policy_grid_divides_hour', violation_error_message='The grid divides an hour: 1, 5, 10, 15, 20, 30 or 60.'), models.CheckConstraint(condition=models.Q(('horizon_days__lte', 1100), ('grace_minutes__lte', 1440), ('buffer_before_minutes__lte', 1440), ('buffer_after_minutes__lte', 1440)), name='policy_reach_sane', violation_error_message='The horizon is at most three years, grace and buffers at most a day.')],
            },
        ),
        migrations.CreateModel(
            name='OpeningHours',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('weekday', models.PositiveSmallIntegerField(choices=[(1, 'Monday'), (2, 'Tuesday'), (3, 'Wednesday'), (4, 'Thursday'), (5, 'Friday'), (6, 'Saturday'), (7, 'Sunday')], verbose_name='weekday')),
                ('opens', models.TimeField(verbose_name='opens')),
                ('closes', models.TimeField(help_text='00:00 is the midnight the day ends with.', verbose_name='closes')),
                ('policy', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='opening_hours', to='booking.policy', verbose_name='policy')),
            ],
            options={
                'verbose_name': 'opening hours',
                'verbose_name_plural': 'opening hours',
                'ordering': ['weekday', 'opens'],
            },
        ),
        migrations.CreateModel(
            name='Profile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(blank=True, choices=[('en', 'English'), ('zh-hans', '简体中文')], help_text='Empty: as the browser asks.', max_length=10, verbose_name='language')),
                ('building', models.ForeignKey(blank=True, help_text='Its rooms are offered first.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='booking.building', verbose_name='home building')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='profile', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'profile',
                'verbose_name_plural': 'profiles',
            },
        ),
        migrations.CreateModel(
            name='Room',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name_en', models.CharField(max_length=100, verbose_name='English name')),
                ('name_zh', models.CharField(max_length=100, verbose_name='Chinese name')),
                ('code', models.CharField(max_length=20, unique=True, verbose_name='code')),
                ('aliases', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), blank=True, default=list, help_text='Other names people use, separated by commas.', size=None, verbose_name='aliases')),
                ('seats', models.PositiveIntegerField(validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100000)], verbose_name='seats')),
                ('needs_approval', models.BooleanField(default=False, help_text='Bookings of this room wait as requests, whatever its policy says.', verbose_name='needs approval')),
                ('is_active', models.BooleanField(default=True, help_text='Inactive rooms are neither offered nor booked.', verbose_name='active')),
                ('features', models.ManyToManyField(blank=True, to='booking.feature', verbose_name='features')),
                ('floor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rooms', to='booking.floor', verbose_name='floor')),
                ('policy', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rooms', to='booking.policy', verbose_name='policy')),
            ],
            options={
                'verbose_name': 'room',
                'verbose_name_plural': 'rooms',
                'ordering': ['code'],
            },
        ),
        migrations.CreateModel(
            name='Occurrence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('during', django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name='during')),
                ('blocked', django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name='blocked')),
                ('starts_at', models.GeneratedField(db_persist=True, expression=models.Func(models.F('during'), function='lower'), output_field=models.DateTimeField(), verbose_name='starts')),
                ('ends_at', models.GeneratedField(db_persist=True, expression=models.Func(models.F('during'), function='upper'), output_field=models.DateTimeField(), verbose_name='ends')),
                ('status', models.CharField(choices=[('held', 'Held'), ('pending', 'Waiting for approval'), ('booked', 'Booked'), ('checked_in', 'Checked in'), ('completed', 'Completed'), ('cancelled', 'Cancelled'), ('rejected', 'Rejected'), ('expired', 'Expired'), ('released', 'Released')], max_length=10, verbose_name='status')),
                ('recurrence_date', models.DateField(blank=True, help_text='The local day the rule gave; it stays when this occurrence is moved.', null=True, verbose_name='date in the series')),
                ('booking', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='occurrences', to='booking.booking', verbose_name='booking')),
                ('room', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='occurrences', to='booking.room', verbose_name='room')),
            ],
            options={
                'verbose_name': 'occurrence',
                'verbose_name_plural': 'occurrences',
                'ordering': ['during', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='ClosedDate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name_en', models.CharField(max_length=100, verbose_name='English name')),
                ('name_zh', models.CharField(max_length=100, verbose_name='Chinese name')),
                ('date', models.DateField(verbose_name='date')),
                ('site', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='closed_dates', to='booking.site', verbose_name='site')),
            ],
            options={
                'verbose_name': 'closed date',
                'verbose_name_plural': 'closed dates',
                'ordering': ['date'],
            },
        ),
        migrations.AddField(
            model_name='building',
            name='site',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='buildings', to='booking.site', verbose_name='site'),
        ),
        migrations.AddConstraint(
            model_name='booking',
            constraint=models.UniqueConstraint(fields=('organizer', 'idempotency_key'), name='booking_once_per_key'),
        ),
        migrations.AddConstraint(
            model_name='booking',
            constraint=models.CheckConstraint(condition=models.Q(('headcount__gte', 1)), name='booking_headcount_positive'),
        ),
        migrations.AddConstraint(
            model_name='booking',
            constraint=models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='booking_version_positive'),
        ),
        migrations.AddConstraint(
            model_name='booking',
            constraint=models.CheckConstraint(condition=models.Q(('idempotency_key', ''), _negated=True), name='booking_has_key'),
        ),
        migrations.AddConstraint(
            model_name='booking',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ['chat', 'portal', 'admin', 'api'])), name='booking_source_known'),
        ),
        migrations.AddConstraint(
            model_name='booking',
            constraint=models.CheckConstraint(condition=models.Q(('visibility__in', ['public', 'private'])), name='booking_visibility_known'),
        ),
        migrations.AddConstraint(
            model_name='booking',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('source', 'chat'), _negated=True), ('effect__isnull', False), _connector='OR'), name='booking_chat_has_effect', violation_error_message='A booking made by the assistant names its effect.'),
        ),
        migrations.AddConstraint(
            model_name='bookingchange',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ['chat', 'portal', 'admin', 'api'])), name='change_source_known'),
        ),
        migrations.AddConstraint(
            model_name='floor',
            constraint=models.UniqueConstraint(fields=('building', 'number'), name='floor_number_once_per_building'),
        ),
        migrations.AddConstraint(
            model_name='openinghours',
            constraint=models.UniqueConstraint(fields=('policy', 'weekday', 'opens'), name='opening_hours_once'),
        ),
        migrations.AddConstraint(
            model_name='openinghours',
            constraint=models.CheckConstraint(condition=models.Q(('weekday__gte', 1), ('weekday__lte', 7)), name='opening_hours_weekday'),
        ),
        migrations.AddConstraint(
            model_name='openinghours',
            constraint=models.CheckConstraint(condition=models.Q(('closes__gt', models.F('opens')), ('closes', datetime.time(0, 0)), _connector='OR'), name='opening_hours_not_empty', violation_error_message='A room closes after it opens.'),
        ),
        migrations.AddConstraint(
            model_name='profile',
            constraint=models.CheckConstraint(condition=models.Q(('language__in', ['', 'en', 'zh-hans'])), name='profile_language_known'),
        ),
        migrations.AddConstraint(
            model_name='room',
            constraint=models.CheckConstraint(condition=models.Q(('seats__gte', 1)), name='room_has_seats'),
        ),
        migrations.AddConstraint(
            model_name='room',
            constraint=models.CheckConstraint(condition=models.Q(('code', ''), _negated=True), name='room_has_code'),
        ),
        migrations.AddIndex(
            model_name='occurrence',
            index=models.Index(fields=['starts_at'], name='occurrence_starts'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(condition=models.Q(('status__in', ('held', 'pending', 'booked', 'checked_in'))), deferrable=django.db.models.constraints.Deferrable['IMMEDIATE'], expressions=[('room', '='), ('blocked', '&&')], name='occurrence_room_free', violation_error_message='The room is taken at that time.'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=models.CheckConstraint(condition=models.Q(('during__isempty', False), ('during__lower_inc', True), ('during__lower_inf', False), ('during__upper_inc', False), ('during__upper_inf', False)), name='occurrence_during_half_open'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=models.CheckConstraint(condition=models.Q(models.Func(models.Func(models.F('during'), function='lower'), function='isfinite', output_field=models.BooleanField()), models.Func(models.Func(models.F('during'), function='upper'), function='isfinite', output_field=models.BooleanField())), name='occurrence_during_finite'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=models.CheckConstraint(condition=models.Q(('blocked__isempty', False), ('blocked__lower_inc', True), ('blocked__lower_inf', False), ('blocked__upper_inc', False), ('blocked__upper_inf', False)), name='occurrence_blocked_half_open'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=models.CheckConstraint(condition=models.Q(models.Func(models.Func(models.F('blocked'), function='lower'), function='isfinite', output_field=models.BooleanField()), models.Func(models.Func(models.F('blocked'), function='upper'), function='isfinite', output_field=models.BooleanField())), name='occurrence_blocked_finite'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=models.CheckConstraint(condition=models.Q(('blocked__contains', models.F('during'))), name='occurrence_blocked_covers'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['held', 'pending', 'booked', 'checked_in', 'completed', 'cancelled', 'rejected', 'expired', 'released'])), name='occurrence_status_known'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=models.UniqueConstraint(fields=('booking', 'recurrence_date'), name='occurrence_once_per_date', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='closeddate',
            constraint=models.UniqueConstraint(fields=('site', 'date'), name='closed_date_once_per_site'),
        ),
        migrations.AddConstraint(
            model_name='building',
            constraint=models.UniqueConstraint(fields=('site', 'code'), name='building_code_once_per_site'),
        ),
        migrations.AddConstraint(
            model_name='building',
            constraint=models.CheckConstraint(condition=models.Q(('code', ''), _negated=True), name='building_has_code'),
        ),
    ]
