"""A person's own bookings: those to come, and those that are over or were cancelled."""

from datetime import datetime

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from booking.models import ACTIVE_STATUSES, Booking, Occurrence
from booking.selectors import occurrences_of
from booking.services import may_restore
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
    context["undo"] = _undoable(request)
    context["kept"] = "?show=past" if is_past else "?show=coming"
    return render(request, "booking/my_bookings.html", context)


def _undoable(request: PersonRequest) -> Booking | None:
    """The booking that was just cancelled, if that can still be taken back."""
    key = request.GET.get("cancelled", "")
    if not key.isascii() or not key.isdigit():
        return None
    booking = Booking.objects.of(request.user).filter(pk=key).first()
    if booking is None or not may_restore(booking, by=request.user, now=timezone.now()):
        return None
    return booking


def _past(user: User, now: datetime) -> QuerySet[Occurrence]:
    """What is over or was cancelled, latest first."""
    to_come = Q(status__in=ACTIVE_STATUSES, ends_at__gt=now) & (
        Q(lapses_at__isnull=True) | Q(lapses_at__gt=now)
    )
    return occurrences_of(user, only_active=False).exclude(to_come).order_by("-during", "-pk")
