"""Sending what waits in the outbox: at least once, later again after an error, not for ever.

A mail is claimed by moving its due time on, in a transaction of its own; no transaction is open
while a mail server is spoken to.
"""

import logging
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.db import transaction

from booking.calendar.messages import composed
from booking.models import Mail

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 8
FIRST_DELAY = timedelta(minutes=1)
"""After an error, and twice as long after each that follows: the last try is some two hours on."""


def send_outbox(limit: int = 50, *, now: datetime) -> int:
    """Send up to `limit` mails that are due; how many were sent."""
    sent = 0
    for _turn in range(limit):
        mail = _claimed(now)
        if mail is None:
            break
        sent += _sent(mail, now=now)
    return sent


@transaction.atomic
def _claimed(now: datetime) -> Mail | None:
    """The next mail that is due, now ours until its next due time."""
    due = Mail.objects.filter(status=Mail.Status.WAITING, due_at__lte=now).order_by("due_at", "pk")
    mail = due.select_for_update(skip_locked=True, of=("self",)).first()
    if mail is None:
        return None
    mail.attempts += 1
    mail.due_at = now + FIRST_DELAY * 2 ** (mail.attempts - 1)
    mail.save(update_fields=["attempts", "due_at"])
    return Mail.objects.select_related("change", "recipient").get(pk=mail.pk)


def _sent(mail: Mail, *, now: datetime) -> bool:
    if _is_superseded(mail):
        _mark(mail, Mail.Status.SUPERSEDED)
        return False
    try:
        composed(mail, now=now).send()
    except (OSError, SMTPException) as error:
        log.warning("mail.failed", extra={"mail": mail.pk, "attempt": mail.attempts})
        is_last = mail.attempts >= MAX_ATTEMPTS
        status = Mail.Status.FAILED if is_last else Mail.Status.WAITING
        _mark(mail, status, error=f"{type(error).__name__}: {error}"[:200])
        return False
    _mark(mail, Mail.Status.SENT, sent_at=now)
    return True


def _is_superseded(mail: Mail) -> bool:
    """Whether a newer mail will tell the same person of the same booking as it is now."""
    newer = Mail.objects.filter(
        booking=mail.booking_id, recipient=mail.recipient_id, purpose=mail.purpose, pk__gt=mail.pk
    )
    return newer.exclude(status=Mail.Status.FAILED).exists()


def _mark(mail: Mail, status: str, *, error: str = "", sent_at: datetime | None = None) -> None:
    Mail.objects.filter(pk=mail.pk).update(status=status, error=error, sent_at=sent_at)
