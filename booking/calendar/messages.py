"""What a mail of the outbox says: words in the recipient's language, and the booking as iTIP."""

from datetime import datetime
from email.mime.text import MIMEText
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils.translation import gettext as _
from django.utils.translation import override

from booking.calendar import ics
from booking.calendar.feeds import language_of
from booking.calendar.ics import Invitation, Party
from booking.models import Booking, BookingChange, Mail, Occurrence

Action = BookingChange.Action


def composed(mail: Mail, *, now: datetime) -> EmailMessage:
    """The message as it is right now; the mail's change and recipient are loaded."""
    booking = Booking.objects.with_occurrences().select_related("series").get(pk=mail.booking_id)
    with override(language_of(mail.recipient)):
        is_request = mail.purpose == Mail.Purpose.REQUEST
        subject = _request_subject(booking) if is_request else _subject(mail.change, booking)
        message = EmailMessage(
            subject=subject,
            body="\n".join(_lines(booking, mail.change, now=now)),
            to=[mail.recipient.email],
            headers={"Message-ID": f"<mail-{mail.pk}.{booking.calendar_uid}@roomwise>"},
        )
        if not is_request:
            _attach(message, booking, mail, now=now)
        return message


def itip(booking: Booking, guest: Any, *, now: datetime) -> tuple[str, bytes]:
    """The method and the file that bring somebody's calendar up to date with their booking."""
    told = Invitation(
        sequence=BookingChange.objects.filter(booking=booking).count() - 1,
        stamp=now,
        now=now,
        host=Party(name="Roomwise", email=settings.DEFAULT_FROM_EMAIL),
        guest=Party(name=guest.get_full_name() or guest.get_username(), email=guest.email),
    )
    events = ics.events_of(booking, told)
    if events:
        return "REQUEST", ics.calendar("REQUEST", events)
    return "CANCEL", ics.calendar("CANCEL", ics.cancellation_of(booking, told))


def _attach(message: EmailMessage, booking: Booking, mail: Mail, *, now: datetime) -> None:
    method, content = itip(booking, mail.recipient, now=now)
    part = MIMEText(content.decode(), "calendar", "utf-8")
    part.set_param("method", method)
    part.add_header("Content-Disposition", "attachment", filename="invite.ics")
    message.attach(part)


def _subject(change: BookingChange, booking: Booking) -> str:
    about = {"what": booking.title or str(_use(booking).room)}
    return str(_SUBJECTS[Action(change.action)]()) % about


def _request_subject(booking: Booking) -> str:
    who = booking.organizer.get_full_name() or booking.organizer.get_username()
    return _("Please decide: %(who)s asks for %(room)s") % {"who": who, "room": _use(booking).room}


_SUBJECTS = {
    Action.BOOKED: lambda: _("Booked: %(what)s"),
    Action.MOVED: lambda: _("Moved: %(what)s"),
    Action.SWAPPED: lambda: _("Moved: %(what)s"),
    Action.AMENDED: lambda: _("Changed: %(what)s"),
    Action.CANCELLED: lambda: _("Cancelled: %(what)s"),
    Action.RESTORED: lambda: _("Restored: %(what)s"),
    Action.APPROVED: lambda: _("Approved: %(what)s"),
    Action.REJECTED: lambda: _("Rejected: %(what)s"),
    Action.EXPIRED: lambda: _("Expired without a decision: %(what)s"),
    Action.RELEASED: lambda: _("Released, nobody checked in: %(what)s"),
}


def _use(booking: Booking) -> Occurrence:
    return booking.occurrence


def _lines(booking: Booking, change: BookingChange, *, now: datetime) -> list[str]:
    """Room, time in the room's zone, status, and the reason of the change."""
    use = _use(booking)
    zone = use.room.floor.building.site.zone
    first, last = use.starts_at.astimezone(zone), use.ends_at.astimezone(zone)
    dates = len(booking.occurrences.all())
    lines = [
        booking.title,
        ics.location_of(use),
        f"{first:%Y-%m-%d %H:%M}-{last:%H:%M} ({zone.key})",
        _("%(count)d dates in all") % {"count": dates} if dates > 1 else "",
        str(use.status_at(now).label),
        _("Reason: %(reason)s") % {"reason": change.reason} if change.reason else "",
    ]
    return [line for line in lines if line]
