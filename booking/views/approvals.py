"""Requests that wait for a person's decision."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from booking import services
from booking.exceptions import BookingError
from booking.forms.deciding import DecisionForm
from booking.models import Booking, Occurrence, Source
from booking.selectors import requests_for, seen
from booking.selectors.bookings import decides_on
from booking.views.person import PersonRequest

REQUESTS_A_PAGE = 20


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as its approver sees it."""

    booking: Booking
    title: str
    organizer: str
    first: Occurrence
    dates: int
    expires_at: datetime | None
    form: DecisionForm


@login_required
@never_cache
@require_safe
def approvals(request: PersonRequest) -> HttpResponse:
    """The oldest first, each with the two answers."""
    now = timezone.now()
    page = Paginator(requests_for(request.user, now=now), REQUESTS_A_PAGE).get_page(
        request.GET.get("page")
    )
    context = {
        "section": "approvals",
        "page": page,
        "asked": [_asked(each, request) for each in page],
        "kept": "?",
    }
    return render(request, "booking/approvals.html", context)


@login_required
@require_POST
def decide(request: PersonRequest, booking_id: int) -> HttpResponse:
    """Approve or reject the version that was shown."""
    form = DecisionForm(request.POST)
    if not form.is_valid():
        for error in (each for errors in form.errors.values() for each in errors):
            messages.error(request, str(error))
        return redirect("approvals")
    given = form.cleaned_data
    act = services.approve_booking if given["decision"] == "approve" else services.reject_booking
    try:
        act(
            booking_id,
            by=request.user,
            now=timezone.now(),
            version=given["version"],
            reason=given["reason"],
            source=Source.PORTAL,
        )
    except BookingError as error:
        messages.error(request, error.text())
    else:
        is_approved = given["decision"] == "approve"
        messages.success(
            request, _("The request is approved.") if is_approved else _("The request is rejected.")
        )
    return redirect("approvals")


def _asked(booking: Booking, request: PersonRequest) -> Asked:
    shown = seen(booking, request.user, decides=decides_on(request.user, booking))
    waiting = [each for each in booking.occurrences.all() if each.is_active]
    return Asked(
        booking=booking,
        title=shown.title,
        organizer=shown.organizer,
        first=waiting[0],
        dates=len(waiting),
        expires_at=waiting[0].lapses_at,
        form=DecisionForm(initial={"version": booking.version}, auto_id=f"id_{booking.pk}_%s"),
    )
