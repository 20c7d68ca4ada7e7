"""What has to be done from time to time, by whichever process is at it.

Nothing waits for a chore: when something lapses is in the data, and everybody reads it there.
"""

from datetime import datetime

from django.utils import timezone

from agentruntime.operations import chores
from booking.calendar.outbox import send_outbox
from booking.services import expire_requests, release_no_shows

LAPSES_SECONDS = 15.0
OUTBOX_SECONDS = 5.0


def register() -> None:
    """Have the servers do them, one process of all each time."""
    chores.register("booking.lapses", LAPSES_SECONDS, write_lapses)
    chores.register("booking.outbox", OUTBOX_SECONDS, send_mail)


def write_lapses() -> None:
    now = timezone.now()
    release_no_shows(now)
    expire_requests(now)


def send_mail() -> None:
    send_outbox(now=timezone.now())


def run(now: datetime | None = None) -> dict[str, int]:
    """Every chore once; how many rows each had to do with."""
    now = now or timezone.now()
    return {
        "released no-shows": release_no_shows(now),
        "expired requests": expire_requests(now),
        "sent mails": send_outbox(now=now),
    }
