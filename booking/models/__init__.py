"""What the company's rooms, rules and bookings are; the constraints that hold whatever Python does.

Fields, constraints, small properties and querysets only: writes are services, rules are policies.
"""

from booking.models.agreements import (
    ACTIVE_STATUSES,
    Booking,
    BookingChange,
    Occurrence,
    Source,
    Status,
    Visibility,
)
from booking.models.places import (
    Building,
    ClosedDate,
    Feature,
    Floor,
    OpeningHours,
    Policy,
    Profile,
    Room,
    Site,
)

__all__ = [
    "ACTIVE_STATUSES",
    "Booking",
    "BookingChange",
    "Building",
    "ClosedDate",
    "Feature",
    "Floor",
    "Occurrence",
    "OpeningHours",
    "Policy",
    "Profile",
    "Room",
    "Site",
    "Source",
    "Status",
    "Visibility",
]
