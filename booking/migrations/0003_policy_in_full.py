"""Policies in full: rights, quotas, check-in, make-up days; what lapses by itself, and its history."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agentruntime', '0003_storage'),
        ('auth', '0012_alter_user_first_name_max_length'),
        ('booking', '0002_rooms_and_bookings'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Grant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('right', models.CharField(choices=[('see', 'See'), ('book', 'Book'), ('request', 'Book as a request'), ('override', 'Override the rules'), ('approve', 'Approve requests')], max_length=10, verbose_name='right')),
            ],
            options={
                'verbose_name': 'grant',
                'verbose_name_plural': 'who may do what',
                'ordering': ['right', 'group'],
            },
        ),
        migrations.CreateModel(
            name='Quota',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('period', models.CharField(choices=[('day', 'Day'), ('week', 'Week from Monday'), ('month', 'Month')], max_length=5, verbose_name='period')),
                ('max_bookings', models.PositiveIntegerField(blank=True, help_text='Empty: any number.', null=True, verbose_name='most bookings')),
                ('max_minutes', models.PositiveIntegerField(blank=True, help_text='Empty: any length.', null=True, verbose_name='most minutes')),
            ],
            options={
                'verbose_name': 'quota',
                'verbose_name_plural': 'quotas',
                'ordering': ['period'],
            },
        ),
        migrations.CreateModel(
            name='QuotaCounter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('starts_on', models.DateField(verbose_name='first day')),
                ('bookings', models.PositiveIntegerField(default=0, verbose_name='bookings')),
                ('minutes', models.PositiveIntegerField(default=0, verbose_name='minutes')),
            ],
            options={
                'verbose_name': 'quota counter',
                'verbose_name_plural': 'quota counters',
                'ordering': ['-starts_on'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='closeddate',
            name='closed_date_once_per_site',
        ),
        migrations.RenameModel(old_name='ClosedDate', new_name='SpecialDate'),
        migrations.AlterModelOptions(
            name='specialdate',
            options={'ordering': ['date'], 'verbose_name': 'special date', 'verbose_name_plural': 'holidays and make-up days'},
        ),
        migrations.AddField(
            model_name='specialdate',
            name='follows_weekday',
            field=models.PositiveSmallIntegerField(blank=True, choices=[(1, 'Monday'), (2, 'Tuesday'), (3, 'Wednesday'), (4, 'Thursday'), (5, 'Friday'), (6, 'Saturday'), (7, 'Sunday')], help_text='For a make-up working day, the weekday whose hours hold; empty: closed.', null=True, verbose_name='opens like a'),
        ),
        migrations.AlterField(
            model_name='specialdate',
            name='site',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='special_dates', to='booking.site', verbose_name='site'),
        ),
        migrations.AlterModelOptions(
            name='booking',
            options={'ordering': ['-pk'], 'permissions': [('view_private_booking', 'Can see who has a private booking and why'), ('approve_booking', 'Can decide on every request')], 'verbose_name': 'booking', 'verbose_name_plural': 'bookings'},
        ),
        migrations.RemoveConstraint(
            model_name='booking',
            name='booking_source_known',
        ),
        migrations.RemoveConstraint(
            model_name='bookingchange',
            name='change_source_known',
        ),
        migrations.RemoveConstraint(
            model_name='openinghours',
            name='opening_hours_once',
        ),
        migrations.AddField(
            model_name='occurrence',
            name='checked_in_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='checked in'),
        ),
        migrations.AddField(
            model_name='occurrence',
            name='lapses_at',
            field=models.DateTimeField(blank=True, help_text='When it stops to count by itself: a request nobody decided, a room nobody uses.', null=True, verbose_name='lapses'),
        ),
        migrations.AddField(
            model_name='openinghours',
            name='valid_from',
            field=models.DateField(blank=True, help_text='Empty: since ever.', null=True, verbose_name='valid from'),
        ),
        migrations.AddField(
            model_name='openinghours',
            name='valid_until',
            field=models.DateField(blank=True, help_text='The last day; empty: for good.', null=True, verbose_name='valid until'),
        ),
        migrations.AddField(
            model_name='policy',
            name='approval_over_minutes',
            field=models.PositiveSmallIntegerField(blank=True, help_text='Empty: the length alone never asks for approval.', null=True, verbose_name='approval if longer than, minutes'),
        ),
        migrations.AddField(
            model_name='policy',
            name='check_in_before_minutes',
            field=models.PositiveSmallIntegerField(default=15, verbose_name='check-in opens before the start, minutes'),
        ),
        migrations.AddField(
            model_name='policy',
            name='check_in_grace_minutes',
            field=models.PositiveSmallIntegerField(default=15, verbose_name='released after the start, minutes'),
        ),
        migrations.AddField(
            model_name='policy',
            name='needs_check_in',
            field=models.BooleanField(default=False, help_text='Rooms whose organizer does not check in are released.', verbose_name='needs check-in'),
        ),
        migrations.AddField(
            model_name='policy',
            name='notice_minutes',
            field=models.PositiveSmallIntegerField(default=0, help_text='How long before its start a booking is made at the latest; 0: up to the start.', verbose_name='notice, minutes'),
        ),
        migrations.AddField(
            model_name='policy',
            name='one_room_at_a_time',
            field=models.BooleanField(default=False, help_text='Nobody books one of these rooms while they have another room.', verbose_name='one room at a time'),
        ),
        migrations.AddField(
            model_name='policy',
            name='request_hours',
            field=models.PositiveSmallIntegerField(default=24, help_text='Then they expire; at the latest when the room would have been used.', verbose_name='requests wait, hours'),
        ),
        migrations.AddField(
            model_name='policy',
            name='series_need_approval',
            field=models.BooleanField(default=False, verbose_name='series need approval'),
        ),
        migrations.AlterField(
            model_name='booking',
            name='source',
            field=models.CharField(choices=[('chat', 'Assistant'), ('portal', 'Portal'), ('admin', 'Administration'), ('api', 'API'), ('calendar', 'Calendar'), ('system', 'By itself')], max_length=10, verbose_name='source'),
        ),
        migrations.AlterField(
            model_name='bookingchange',
            name='action',
            field=models.CharField(choices=[('booked', 'Booked'), ('moved', 'Moved'), ('amended', 'Details changed'), ('cancelled', 'Cancelled'), ('approved', 'Approved'), ('rejected', 'Rejected'), ('expired', 'Expired'), ('checked_in', 'Checked in'), ('released', 'Released')], max_length=10, verbose_name='action'),
        ),
        migrations.AlterField(
            model_name='bookingchange',
            name='by',
            field=models.ForeignKey(blank=True, help_text='Empty: nobody, it came by itself.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='by'),
        ),
        migrations.AlterField(
            model_name='bookingchange',
            name='source',
            field=models.CharField(choices=[('chat', 'Assistant'), ('portal', 'Portal'), ('admin', 'Administration'), ('api', 'API'), ('calendar', 'Calendar'), ('system', 'By itself')], max_length=10, verbose_name='source'),
        ),
        migrations.AddIndex(
            model_name='occurrence',
            index=models.Index(condition=models.Q(('lapses_at__isnull', False), ('status__in', ('held', 'pending', 'booked', 'checked_in'))), fields=['lapses_at'], name='occurrence_lapses'),
        ),
        migrations.AddConstraint(
            model_name='booking',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ('chat', 'portal', 'admin', 'api', 'calendar'))), name='booking_source_known'),
        ),
        migrations.AddConstraint(
            model_name='bookingchange',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ['chat', 'portal', 'admin', 'api', 'calendar', 'system'])), name='change_source_known'),
        ),
        migrations.AddConstraint(
            model_name='bookingchange',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('by__isnull', True), ('source', 'system')), models.Q(('by__isnull', False), models.Q(('source', 'system'), _negated=True)), _connector='OR'), name='change_by_somebody_or_itself'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'checked_in'), _negated=True), ('lapses_at__isnull', True), _connector='OR'), name='occurrence_checked_in_stays'),
        ),
        migrations.AddConstraint(
            model_name='openinghours',
            constraint=models.UniqueConstraint(fields=('policy', 'weekday', 'opens', 'valid_from'), name='opening_hours_once', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='openinghours',
            constraint=models.CheckConstraint(condition=models.Q(('valid_from__isnull', True), ('valid_until__isnull', True), ('valid_until__gte', models.F('valid_from')), _connector='OR'), name='opening_hours_valid_in_order', violation_error_message='Opening hours are valid until a day after their first.'),
        ),
        migrations.AddConstraint(
            model_name='policy',
            constraint=models.CheckConstraint(condition=models.Q(('notice_minutes__lte', 20160), ('request_hours__gte', 1), ('request_hours__lte', 2160), ('check_in_before_minutes__lte', 1440), ('check_in_grace_minutes__gte', 1), ('check_in_grace_minutes__lte', 1440)), name='policy_deadlines_sane', violation_error_message='Notice is at most two weeks, requests wait an hour to 90 days, check-in opens at most a day before and a room is released after 1 to 1440 minutes.'),
        ),
        migrations.AddField(
            model_name='grant',
            name='group',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='auth.group', verbose_name='group'),
        ),
        migrations.AddField(
            model_name='grant',
            name='policy',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='booking.policy', verbose_name='policy'),
        ),
        migrations.AddField(
            model_name='quota',
            name='policy',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='quotas', to='booking.policy', verbose_name='policy'),
        ),
        migrations.AddField(
            model_name='quotacounter',
            name='person',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='person'),
        ),
        migrations.AddField(
            model_name='quotacounter',
            name='quota',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='counters', to='booking.quota', verbose_name='quota'),
        ),
        migrations.AddConstraint(
            model_name='grant',
            constraint=models.UniqueConstraint(fields=('policy', 'group', 'right'), name='grant_once'),
        ),
        migrations.AddConstraint(
            model_name='grant',
            constraint=models.CheckConstraint(condition=models.Q(('right__in', ['see', 'book', 'request', 'override', 'approve'])), name='grant_right_known'),
        ),
        migrations.AddConstraint(
            model_name='quota',
            constraint=models.UniqueConstraint(fields=('policy', 'period'), name='quota_once_per_period'),
        ),
        migrations.AddConstraint(
            model_name='quota',
            constraint=models.CheckConstraint(condition=models.Q(('max_bookings__isnull', False), ('max_minutes__isnull', False), _connector='OR'), name='quota_limits_something', violation_error_message='A quota limits the bookings, the minutes or both.'),
        ),
        migrations.AddConstraint(
            model_name='quota',
            constraint=models.CheckConstraint(condition=models.Q(('period__in', ['day', 'week', 'month'])), name='quota_period_known'),
        ),
        migrations.AddConstraint(
            model_name='quotacounter',
            constraint=models.UniqueConstraint(fields=('quota', 'person', 'starts_on'), name='quota_counter_once_per_period'),
        ),
        migrations.AddConstraint(
            model_name='specialdate',
            constraint=models.UniqueConstraint(fields=('site', 'date'), name='special_date_once_per_site'),
        ),
        migrations.AddConstraint(
            model_name='specialdate',
            constraint=models.CheckConstraint(condition=models.Q(('follows_weekday__isnull', True), models.Q(('follows_weekday__gte', 1), ('follows_weekday__lte', 7)), _connector='OR'), name='special_date_weekday'),
        ),
    ]
