"""What has to be done from time to time, by whichever process is at it.

Nothing waits for a chore: when something lapses is in the data, and everybody reads it there.
"""

from datetime import datetime

from django.utils import timezone

from booking.services import expire_requests, release_no_shows


def run(now: datetime | None = None) -> dict[str, int]:
    """Every chore once; how many rows each had to do with."""
    now = now or timezone.now()
    return {
        "released no-shows": release_no_shows(now),
        "expired requests": expire_requests(now),
    }
