"""Reads that see rooms about as they were at an instant, for replays of old conversations.

A replay of a conversation that booked a room would find that very room taken. Inside this context,
and only in this session, the table of occurrences is a view without what was booked later. What
was cancelled since then is missing, for its row says so now.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import connection

from booking.models import Booking, Occurrence

VIEW = """
CREATE TEMPORARY VIEW {occurrences} AS SELECT o.* FROM {schema}.{occurrences} AS o
WHERE EXISTS (SELECT FROM {schema}.{bookings} AS b WHERE b.id = o.booking_id AND b.created_at <= %s)
"""


@contextmanager
def as_of(moment: datetime) -> Iterator[None]:
    """Inside a transaction that is rolled back in the end, which takes the view along."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(current_schema())")
        (schema,) = cursor.fetchone()
        names = {
            "schema": schema,
            "occurrences": connection.ops.quote_name(Occurrence._meta.db_table),
            "bookings": connection.ops.quote_name(Booking._meta.db_table),
        }
        cursor.execute(VIEW.format(**names), [moment])
    yield
