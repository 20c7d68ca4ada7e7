"""The secret addresses calendar programs read. Whoever has the address has the calendar."""

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from booking.calendar import feeds


@require_safe
@cache_control(private=True, max_age=60)
def person(request: HttpRequest, token: str) -> HttpResponse:
    """The person's own bookings; one unknown address looks like any other."""
    reader = feeds.reader_of(token)
    if reader is None:
        raise Http404
    return _calendar(feeds.person_feed(reader, now=timezone.now()))


@require_safe
@cache_control(private=True, max_age=60)
def room(request: HttpRequest, token: str, code: str) -> HttpResponse:
    """A room, as the person with that address may see it."""
    reader = feeds.reader_of(token)
    found = reader and feeds.room_feed(code, viewer=reader, now=timezone.now())
    if not found:
        raise Http404
    return _calendar(found)


def _calendar(content: bytes) -> HttpResponse:
    response = HttpResponse(content, content_type="text/calendar; charset=utf-8")
    response["Content-Disposition"] = 'inline; filename="roomwise.ics"'
    # The address is the secret: it must not travel on, nor be found.
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response
