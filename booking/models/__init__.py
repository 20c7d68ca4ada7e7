"""What the company's rooms, rules and bookings are; the constraints that hold whatever Python does.

Fields, constraints, small properties and querysets only: writes are services, rules are policies.
"""

from booking.models.agreements import (
    ACTIVE_STATUSES,
    Booking,
    Occurrence,
    Source,
    Status,
    Visibility,
    lapsed_status,
)
from booking.models.calendar import CalendarFeed, Mail
from booking.models.closures import Blackout
from booking.models.history import BookingChange
from booking.models.places import Building, Feature, Floor, Profile, Room, RoomPhoto, Site
from booking.models.rules import (
    Grant,
    OpeningHours,
    Policy,
    Quota,
    QuotaCounter,
    SpecialDate,
    Weekday,
)
from booking.models.series import Series, SeriesException

__all__ = [
    "ACTIVE_STATUSES",
    "Blackout",
    "Booking",
    "BookingChange",
    "Building",
    "CalendarFeed",
    "Feature",
    "Floor",
    "Grant",
    "Mail",
    "Occurrence",
    "OpeningHours",
    "Policy",
    "Profile",
    "Quota",
    "QuotaCounter",
    "Room",
    "RoomPhoto",
    "Series",
    "SeriesException",
    "Site",
    "Source",
    "SpecialDate",
    "Status",
    "Visibility",
    "Weekday",
    "lapsed_status",
]
