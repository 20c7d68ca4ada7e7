"""What a booking's values may be, whichever door they come through."""

from datetime import datetime

from booking.exceptions import InvalidBooking
from booking.models import Visibility
from booking.models.agreements import DOORS, KEY_LENGTH, TITLE_LENGTH
from booking.storable import is_storable, one_line

MAX_HEADCOUNT = 100_000


def clean_title(title: str) -> str:
    """One line the database can hold; raises InvalidBooking when it is too long."""
    title = one_line(title)
    if len(title) > TITLE_LENGTH:
        raise InvalidBooking(field="title")
    return title


def check_instants(**instants: datetime | None) -> None:
    """Raises InvalidBooking naming the first that is naive."""
    for field, instant in instants.items():
        if instant is not None and instant.tzinfo is None:
            raise InvalidBooking(field=field)


def check_values(*, headcount: int, visibility: str, source: str, key: str = "-") -> None:
    """Raises InvalidBooking naming the first that no booking can have."""
    valid = {
        "headcount": 1 <= headcount <= MAX_HEADCOUNT,
        "visibility": visibility in Visibility.values,
        "source": source in DOORS,
        "idempotency_key": 1 <= len(key) <= KEY_LENGTH and is_storable(key),
    }
    for field, is_valid in valid.items():
        if not is_valid:
            raise InvalidBooking(field=field)
