"""A weekly series in lilei's name, changed, cancelled and looked at in a line."""

from datetime import date, time, timedelta

from booking import services
from booking.models import Occurrence
from booking.tests import world
from booking.tests.world import NOW, user


def week(number):
    """Thursdays: nothing else of the world is on them."""
    return date(2026, 12, 3) + timedelta(weeks=number)


def series(**more):
    values = {
        "organizer": user("lilei"),
        "room": "B202",
        "first": week(0),
        "start": time(10),
        "minutes": 60,
        "recurrence": "FREQ=WEEKLY;COUNT=5",
        "headcount": 3,
        "title": "Weekly",
        "source": "portal",
        "idempotency_key": "s",
        "now": NOW,
    }
    return services.book_series(**{**values, **more})


def change(booking, **more):
    values = {"by": booking.organizer, "scope": "all", "source": "portal", "now": NOW, **more}
    return services.change_series(booking.pk, **values)


def cancel(booking, **more):
    values = {"by": booking.organizer, "source": "portal", "now": NOW, **more}
    return services.cancel_booking(booking.pk, **values)


def dates(booking, *, active=True):
    """The local days on which the series is."""
    found = Occurrence.objects.filter(booking=booking)
    found = found.active() if active else found
    return sorted(each.starts_at.astimezone(world.SHANGHAI).date() for each in found)


def starts(booking):
    found = Occurrence.objects.active().filter(booking=booking).order_by("during")
    return [each.starts_at for each in found]
