"""The pages of bookings in the administration, and their forms as a browser sends them."""

from django.urls import reverse

from booking.models import Room
from booking.tests.world import TOMORROW, user

ADD = reverse("admin:booking_booking_add")
LIST = reverse("admin:booking_booking_changelist")


def page_of(booking):
    return reverse("admin:booking_booking_change", args=[booking.pk])


def form(day=TOMORROW, starts="10:00", ends="11:00", room="A302", **more):
    values = {
        "organizer": user("lilei").pk,
        "title": "Plan",
        "visibility": "public",
        "headcount": 4,
        "room": Room.objects.get(code=room).pk,
        "request_key": "key-1",
        "starts_at_0": day.isoformat(),
        "starts_at_1": starts,
        "ends_at_0": day.isoformat(),
        "ends_at_1": ends,
    }
    for prefix in ("occurrences", "changes", "series", "exceptions"):
        values |= {f"{prefix}-TOTAL_FORMS": 0, f"{prefix}-INITIAL_FORMS": 0}
    return values | more


def errors(response):
    assert response.status_code == 200
    return {name: list(texts) for name, texts in response.context["adminform"].form.errors.items()}
