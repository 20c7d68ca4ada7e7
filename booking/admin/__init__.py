"""The stock administration of rooms and bookings. Bookings change through the services only."""

from booking.admin import bookings, places, rules

__all__ = ["bookings", "places", "rules"]
