"""The stock administration of rooms and bookings. Bookings change through the services only."""

from booking.admin import blackouts, bookings, outbox, places, rules

__all__ = ["blackouts", "bookings", "outbox", "places", "rules"]
