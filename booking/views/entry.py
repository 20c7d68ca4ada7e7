"""Making a booking by hand: a form, filled from the gap that was clicked."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from booking import availability, services
from booking.exceptions import BookingError
from booking.forms.booking import BookingForm
from booking.forms.rooms import USUAL_MINUTES
from booking.models import Booking, Room, Source, Visibility
from booking.views import offers, strip
from booking.views.person import PersonRequest

USUAL_PEOPLE = 2


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def book(request: PersonRequest) -> HttpResponse:
    """The form; what cannot be had is said with what could, and nothing is written."""
    now = timezone.now()
    if request.method != "POST":
        form = BookingForm(initial=_filled(request, now))
        return render(request, "booking/book.html", _page(request, form, now=now))
    form = BookingForm(request.POST)
    if not form.is_valid():
        return render(request, "booking/book.html", _page(request, form, now=now))
    try:
        booking = _booked(request, form, now=now)
    except BookingError as error:
        found = offers.after(
            error, form.cleaned_data, user=request.user, now=now, address=_address(form)
        )
        context = _page(request, form, now=now) | {"problem": error.text(), "offers": found}
        context["clashes"] = offers.clashes(error)
        return render(request, "booking/book.html", context, status=409)
    messages.success(request, _done(booking.status))
    return redirect("booking", booking.pk)


def _booked(request: PersonRequest, form: BookingForm, *, now: datetime) -> Booking:
    """A booking, or a series of them."""
    given = form.cleaned_data
    common = {
        "organizer": request.user,
        "room": given["room"].code,
        "headcount": given["headcount"],
        "title": given["title"],
        "visibility": Visibility.PRIVATE if given["is_private"] else Visibility.PUBLIC,
        "source": Source.PORTAL,
        "idempotency_key": given["key"],
        "now": now,
    }
    if not form.recurrence:
        return services.book_room(starts_at=given["starts_at"], ends_at=given["ends_at"], **common)
    return services.book_series(
        first=given["date"],
        start=given["starts"],
        minutes=form.minutes,
        recurrence=form.recurrence,
        on_clash=services.OnClash.SKIP if given["skip"] else services.OnClash.REFUSE,
        **common,
    )


def _done(status: str) -> str:
    if status == "pending":
        return _("Requested. The room is held for you until somebody decides.")
    return _("Booked.")


def _filled(request: PersonRequest, now: datetime) -> dict[str, Any]:
    """What the address of a gap says; nonsense in it is left out."""
    code = _plain(request.GET.get("room"))
    room = Room.objects.filter(code=code, is_active=True).first()
    filled: dict[str, Any] = {"headcount": USUAL_PEOPLE}
    try:
        start = datetime.fromisoformat(request.GET.get("start", "")).replace(tzinfo=None)
        minutes = timedelta(minutes=int(request.GET.get("minutes") or USUAL_MINUTES))
        end = start + minutes
    except (ValueError, OverflowError):
        return filled | {"room": room and room.code}
    return filled | {
        "room": room and room.code,
        "date": start.date(),
        "starts": start.time(),
        "ends": end.time(),
        "headcount": request.GET.get("people") or USUAL_PEOPLE,
        "title": request.GET.get("title", ""),
    }


def _address(form: BookingForm) -> offers.Address:
    def address(room: str, starts_at: datetime, ends_at: datetime, zone: ZoneInfo) -> str:
        query = {
            "room": room,
            "start": f"{starts_at.astimezone(zone):%Y-%m-%dT%H:%M}",
            "minutes": int((ends_at - starts_at).total_seconds() // 60),
            "people": form.cleaned_data["headcount"],
            "title": form.cleaned_data["title"],
        }
        return f"{reverse('book')}?{urlencode(query, safe=':')}"

    return address


def _page(request: PersonRequest, form: BookingForm, *, now: datetime) -> dict[str, Any]:
    """The form and the room's day beside it, as far as both are known."""
    context: dict[str, Any] = {"section": "rooms", "form": form}
    room = form.fields["room"].queryset.filter(code=_plain(form["room"].value())).first()  # type: ignore[attr-defined]
    if room is None:
        return context
    zone = room.floor.building.site.zone
    day = _day(form) or now.astimezone(zone).date()
    days = availability.of_room(room, days=[day], viewer=request.user, now=now)
    if not days:
        return context
    [shown] = days
    within = availability.window([shown], day, zone)
    return context | {
        "room": room,
        "day": day,
        "zone": zone.key,
        "hours": strip.marks(within, zone),
        "row": strip.row(shown, within, zone=zone, now=now),
    }


def _plain(code: Any) -> str:
    """What was given for a code, fit for a query."""
    return str(code or "").replace("\0", "")


def _day(form: BookingForm) -> Any:
    try:
        return form.fields["date"].clean(form["date"].value())
    except ValidationError:
        return None
