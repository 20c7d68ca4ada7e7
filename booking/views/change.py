"""Changing a booking by hand: its room, its time and what it says, in one step."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from booking import availability, services
from booking.changing import change_booking, change_dates
from booking.exceptions import BookingError
from booking.forms.booking import ChangeForm
from booking.models import Booking, Occurrence, Room, Source, Visibility
from booking.views import offers, strip
from booking.views.booking import address_of, own_or_404
from booking.views.person import PersonRequest


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: PersonRequest, booking_id: int) -> HttpResponse:
    """The slot it has is kept until the new one is secured; a clash is said with alternatives."""
    now = timezone.now()
    booking, occurrence = own_or_404(request, booking_id)
    if request.method != "POST":
        form = ChangeForm(initial=_filled(request, booking, occurrence))
        return render(request, "booking/change.html", _page(request, booking, occurrence, form))
    form = ChangeForm(request.POST)
    if not form.is_valid():
        return render(request, "booking/change.html", _page(request, booking, occurrence, form))
    given = form.cleaned_data
    try:
        changed = _changed(request, booking, occurrence, form, now=now)
    except BookingError as error:
        found = offers.after(
            error,
            given,
            user=request.user,
            now=now,
            ignore=booking.pk,
            address=_address(request, form),
        )
        context = _page(request, booking, occurrence, form)
        context |= {"problem": error.text(), "offers": found}
        context["clashes"] = offers.clashes(error)
        return render(request, "booking/change.html", context, status=409)
    messages.success(request, _("The booking is changed."))
    if changed.pk == booking.pk:
        return redirect(address_of(occurrence))
    return redirect("booking", changed.pk)


def _changed(
    request: PersonRequest,
    booking: Booking,
    occurrence: Occurrence,
    form: ChangeForm,
    *,
    now: datetime,
) -> Booking:
    """One date, or all that come after it."""
    given = form.cleaned_data
    common = {
        "by": request.user,
        "version": given["version"],
        "source": Source.PORTAL,
        "now": now,
        "room": given["room"].code,
        "title": given["title"],
        "visibility": Visibility.PRIVATE if given["is_private"] else Visibility.PUBLIC,
        "headcount": given["headcount"],
    }
    if occurrence.recurrence_date is None or given["scope"] in {"", services.Scope.THIS}:
        return change_booking(
            booking.pk,
            starts_at=given["starts_at"],
            ends_at=given["ends_at"],
            recurrence_date=occurrence.recurrence_date,
            **common,
        )
    is_all = given["scope"] == services.Scope.ALL
    return change_dates(
        booking.pk,
        scope=given["scope"],
        recurrence_date=None if is_all else occurrence.recurrence_date,
        start=given["starts"],
        minutes=form.minutes,
        on_clash=services.OnClash.SKIP if given["skip"] else services.OnClash.REFUSE,
        **common,
    )


def _filled(request: PersonRequest, booking: Booking, occurrence: Occurrence) -> dict[str, Any]:
    """As the booking is, or as an offer's address has it."""
    room = (
        Room.objects.filter(code=request.GET.get("room", "").replace("\0", "")).first()
        or occurrence.room
    )
    zone = room.floor.building.site.zone
    try:
        first, last = (datetime.fromisoformat(request.GET[name]) for name in ("start", "end"))
    except (KeyError, ValueError):
        first, last = (each.astimezone(zone) for each in (occurrence.starts_at, occurrence.ends_at))
    return {
        "room": room.code,
        "date": first.date(),
        "starts": first.time(),
        "ends": last.time(),
        "headcount": booking.headcount,
        "title": booking.title,
        "is_private": booking.visibility == Visibility.PRIVATE,
        "version": booking.version,
    }


def _address(request: PersonRequest, form: ChangeForm) -> offers.Address:
    def address(room: str, starts_at: datetime, ends_at: datetime, zone: ZoneInfo) -> str:
        query = {
            "room": room,
            "start": f"{starts_at.astimezone(zone):%Y-%m-%dT%H:%M}",
            "end": f"{ends_at.astimezone(zone):%Y-%m-%dT%H:%M}",
        }
        if "date" in request.GET:
            query["date"] = request.GET["date"]
        return f"{request.path}?{urlencode(query, safe=':')}"

    return address


def _page(
    request: PersonRequest, booking: Booking, occurrence: Occurrence, form: ChangeForm
) -> dict[str, Any]:
    now = timezone.now()
    zone = occurrence.room.floor.building.site.zone
    day = occurrence.starts_at.astimezone(zone).date()
    [shown] = availability.of_room(occurrence.room, days=[day], viewer=request.user, now=now)
    within = availability.window([shown], day, zone)
    return {
        "section": "bookings",
        "booking": booking,
        "occurrence": occurrence,
        "back": address_of(occurrence),
        "form": form,
        "skipped": () if occurrence.recurrence_date else ("scope", "skip"),
        "day": day,
        "zone": zone.key,
        "hours": strip.marks(within, zone),
        "row": strip.row(shown, within, zone=zone, now=now),
    }
