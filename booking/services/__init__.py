"""Every change to a booking, for every door: chat, portal, administration, API, calendar.

Each service is one transaction (a savepoint inside a caller's). The database's constraints decide;
what Python checks before is courtesy, and a violation is translated by the constraint's name.
Raises only `booking.exceptions.BookingError`s for what a person can cause.
"""

from booking.services.approvals import approve_booking, reject_booking
from booking.services.attendance import check_in
from booking.services.blackouts import close_rooms, lift_blackout
from booking.services.bookings import (
    Scope,
    amend_booking,
    book_room,
    cancel_booking,
    reschedule_booking,
)
from booking.services.feeds import issue_feed, revoke_feed
from booking.services.lapses import expire_requests, release_no_shows
from booking.services.records import through
from booking.services.series import OnClash, book_series
from booking.services.series_changes import change_series
from booking.services.splits import book_rooms
from booking.services.swaps import swap_bookings
from booking.services.undo import may_restore, restore_booking
from booking.services.values import MAX_HEADCOUNT
from booking.splits import MOST_ROOMS

__all__ = [
    "MAX_HEADCOUNT",
    "MOST_ROOMS",
    "OnClash",
    "Scope",
    "amend_booking",
    "approve_booking",
    "book_room",
    "book_rooms",
    "book_series",
    "cancel_booking",
    "change_series",
    "check_in",
    "close_rooms",
    "expire_requests",
    "issue_feed",
    "lift_blackout",
    "may_restore",
    "reject_booking",
    "release_no_shows",
    "reschedule_booking",
    "restore_booking",
    "revoke_feed",
    "swap_bookings",
    "through",
]
