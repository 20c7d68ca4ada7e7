"""What may be read about rooms and bookings, for every door. Synchronous reads; no writes.

The value types of the pure core are re-exported here: other layers import them from this package.
"""

from booking.attendance import check_in_window
from booking.planning import PlannedDate
from booking.policies import Refusal
from booking.ranking import Alternative, Candidate, Part, RoomRequest
from booking.selectors.bookings import (
    booking_of,
    bookings_of,
    decides_on,
    history_of,
    occurrences_of,
    visible_booking,
)
from booking.selectors.grid import RoomDay, RoomUse, day_grid, local_day, on_days
from booking.selectors.house import (
    FeatureEntry,
    RoomEntry,
    RoomNow,
    feature_lexicon,
    home_zone,
    room_lexicon,
    room_now,
    usual_hours,
)
from booking.selectors.requests import due_check_ins, requests_for
from booking.selectors.searching import SearchResult, free_starts, search
from booking.selectors.series import (
    SeriesOffer,
    SeriesPlan,
    SeriesSearch,
    last_bookable_day,
    local_instant,
    preview_change,
    preview_series,
    search_series,
)
from booking.visibility import Seen, seen

__all__ = [
    "Alternative",
    "Candidate",
    "FeatureEntry",
    "Part",
    "PlannedDate",
    "Refusal",
    "RoomDay",
    "RoomEntry",
    "RoomNow",
    "RoomRequest",
    "RoomUse",
    "SearchResult",
    "Seen",
    "SeriesOffer",
    "SeriesPlan",
    "SeriesSearch",
    "booking_of",
    "bookings_of",
    "check_in_window",
    "day_grid",
    "decides_on",
    "due_check_ins",
    "feature_lexicon",
    "free_starts",
    "history_of",
    "home_zone",
    "last_bookable_day",
    "local_day",
    "local_instant",
    "occurrences_of",
    "on_days",
    "preview_change",
    "preview_series",
    "requests_for",
    "room_lexicon",
    "room_now",
    "search",
    "search_series",
    "seen",
    "usual_hours",
    "visible_booking",
]
