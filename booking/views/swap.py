"""Exchanging the slots of two bookings of one's own, so that neither is without one in between."""

from datetime import datetime

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from booking import services
from booking.exceptions import BookingError
from booking.forms.swap import SwapForm
from booking.models import Occurrence, Source
from booking.selectors import occurrences_of
from booking.views import offers
from booking.views.booking import address_of, own_or_404
from booking.views.person import PersonRequest

OFFERED = 30
"""How many of a person's next bookings the list shows."""


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def swap(request: PersonRequest, booking_id: int) -> HttpResponse:
    """The person's other bookings to come; the chosen one and this one trade room and time."""
    now = timezone.now()
    booking, occurrence = own_or_404(request, booking_id)
    others = _others(request, occurrence, now=now)
    form = SwapForm(
        request.POST if request.method == "POST" else None,
        others=[(each, _words(each)) for each in others],
        initial={"version": booking.version},
    )
    context = {
        "section": "bookings",
        "booking": booking,
        "occurrence": occurrence,
        "mine": _words(occurrence),
        "has_others": bool(others),
        "back": address_of(occurrence),
        "form": form,
    }
    if not form.is_valid():
        return render(request, "booking/swap.html", context)
    other: Occurrence = form.cleaned_data["other"]
    try:
        services.swap_bookings(
            booking.pk,
            other.booking_id,
            by=request.user,
            first_version=form.cleaned_data["version"],
            second_version=other.booking.version,
            first_date=occurrence.recurrence_date,
            second_date=other.recurrence_date,
            now=now,
            source=Source.PORTAL,
        )
    except BookingError as error:
        return render(request, "booking/swap.html", context | {"problem": error.text()}, status=409)
    messages.success(request, _("Swapped: each has the other's room and time."))
    return redirect(address_of(occurrence))


def _others(request: PersonRequest, occurrence: Occurrence, *, now: datetime) -> list[Occurrence]:
    """What else is to come; of the same series nothing, its dates would only trade names."""
    mine = occurrences_of(request.user, starts_at=now, now=now)
    return list(mine.exclude(booking=occurrence.booking_id)[:OFFERED])


def _words(each: Occurrence) -> str:
    """Tue 1 Dec 15:00–16:00 · A301 · Title."""
    zone = each.room.floor.building.site.zone
    parts = [offers.when(each.starts_at, each.ends_at, zone), each.room.code, each.booking.title]
    return " · ".join(part for part in parts if part)
