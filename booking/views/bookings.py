"""A person's own bookings: the list, and cancelling one."""

from datetime import datetime

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from booking import services
from booking.exceptions import BookingError
from booking.forms import CancelForm
from booking.models import ACTIVE_STATUSES, Booking, Occurrence, Source
from booking.selectors import booking_of, occurrences_of
from booking.views.person import PersonRequest

BOOKINGS_A_PAGE = 20


@login_required
@never_cache
@require_safe
def my_bookings(request: PersonRequest) -> HttpResponse:
    """A person's uses of rooms: those to come, or those that are over or were cancelled."""
    now = timezone.now()
    is_past = request.GET.get("show") == "past"
    found = _past(request.user, now) if is_past else occurrences_of(request.user, starts_at=now)
    page = Paginator(found, BOOKINGS_A_PAGE).get_page(request.GET.get("page"))
    context = {"section": "bookings", "is_past": is_past, "page": page, "now": now}
    return render(request, "booking/my_bookings.html", context)


def _past(user: User, now: datetime) -> QuerySet[Occurrence]:
    """What is over or was cancelled, latest first."""
    to_come = Q(status__in=ACTIVE_STATUSES, ends_at__gt=now)
    return occurrences_of(user, only_active=False).exclude(to_come).order_by("-during", "-pk")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: PersonRequest, booking_id: int) -> HttpResponse:
    """Ask first, then cancel: the booking, or with `?date=` one date of a series."""
    booking = booking_of(request.user, booking_id)
    occurrence = _chosen(booking, request.GET.get("date", "")) if booking else None
    if booking is None or occurrence is None:
        raise Http404
    form = CancelForm(request.POST or None, initial={"version": booking.version})
    if request.method != "POST" or not form.is_valid():
        context = {"section": "bookings", "booking": booking, "occurrence": occurrence}
        return render(request, "booking/cancel.html", {**context, "form": form})
    try:
        services.cancel_booking(
            booking.pk,
            by=request.user,
            now=timezone.now(),
            recurrence_date=occurrence.recurrence_date,
            source=Source.PORTAL,
            **form.cleaned_data,
        )
    except BookingError as error:
        messages.error(request, error.text())
    else:
        messages.success(request, _("The booking is cancelled. The room is free again."))
    return redirect("my-bookings")


def _chosen(booking: Booking, date: str) -> Occurrence | None:
    """The occurrence a page is about: the only one, or that of a series' date."""
    if not booking.is_series:
        return booking.occurrence
    found = (each for each in booking.occurrences.all() if str(each.recurrence_date) == date)
    return next(found, None)
