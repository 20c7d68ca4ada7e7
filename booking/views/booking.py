"""One booking: what it is, what can be done about it, what happened to it, where it came from."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from booking import services
from booking.exceptions import BookingError
from booking.forms.cancelling import CancelForm
from booking.models import Booking, Occurrence, Source
from booking.selectors import booking_of, decides_on, history_of, visible_booking
from booking.views import due, history
from booking.views.person import PersonRequest

DATES_SHOWN = 12


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The conversation a booking came from, and the links this viewer may follow."""

    conversation: str
    effect: str
    checkpoint: str


@login_required
@never_cache
@require_safe
def show(request: PersonRequest, booking_id: int) -> HttpResponse:
    now = timezone.now()
    booking = _visible_or_404(request.user, booking_id)
    is_mine = booking.organizer_id == request.user.pk
    everything = list(booking.occurrences.all())
    to_come = [each for each in everything if each.blocks(now) and each.ends_at > now]
    chosen = _chosen(booking, request.GET.get("date", "")) or (to_come or everything)[0]
    zone = chosen.room.floor.building.site.zone
    changes = history_of(booking, request.user)
    context = {
        "section": "bookings",
        "booking": booking,
        "occurrence": chosen,
        "is_mine": is_mine,
        "is_to_come": chosen in to_come,
        "is_due": is_mine and due.is_due(chosen, now),
        "window": due.window_of(chosen, now) if is_mine else None,
        "waits_for_me": decides_on(request.user, booking),
        "dates": to_come[:DATES_SHOWN] if booking.is_series else (),
        "more_dates": max(len(to_come) - DATES_SHOWN, 0),
        "events": history.events(changes, zone),
        "origin": _origin(booking, request.user),
        "organizer": booking.organizer.get_full_name() or booking.organizer.get_username(),
    }
    return render(request, "booking/booking.html", context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: PersonRequest, booking_id: int) -> HttpResponse:
    """Ask first, then cancel: the booking, or with `?date=` one date of a series."""
    booking, occurrence = own_or_404(request, booking_id)
    form = CancelForm(request.POST or None, initial={"version": booking.version})
    if request.method != "POST" or not form.is_valid():
        context = {"section": "bookings", "booking": booking, "occurrence": occurrence}
        return render(request, "booking/cancel.html", {**context, "form": form})
    given = form.cleaned_data
    is_all = given["scope"] == services.Scope.ALL or occurrence.recurrence_date is None
    try:
        services.cancel_booking(
            booking.pk,
            by=request.user,
            now=timezone.now(),
            version=given["version"],
            reason=given["reason"],
            recurrence_date=None if is_all else occurrence.recurrence_date,
            scope=None if is_all else given["scope"] or None,
            source=Source.PORTAL,
        )
    except BookingError as error:
        messages.error(request, error.text())
        return redirect("my-bookings")
    messages.success(request, _("The booking is cancelled. The room is free again."))
    return redirect(f"{reverse('my-bookings')}?cancelled={booking.pk}")


@login_required
@require_POST
def restore(request: PersonRequest, booking_id: int) -> HttpResponse:
    """Take the latest cancellation back, where nobody has the room yet."""
    booking = booking_of(request.user, booking_id)
    if booking is None:
        raise Http404
    try:
        services.restore_booking(
            booking.pk, by=request.user, now=timezone.now(), source=Source.PORTAL
        )
    except BookingError as error:
        messages.error(request, error.text())
        return redirect("my-bookings")
    messages.success(request, _("Undone: the room is yours as before."))
    return redirect("booking", booking.pk)


def address_of(occurrence: Occurrence) -> str:
    """The page of a booking, or of that date of a series."""
    address = reverse("booking", args=[occurrence.booking_id])
    date = occurrence.recurrence_date
    return f"{address}?date={date}" if date else address


def own_or_404(request: PersonRequest, booking_id: int) -> tuple[Booking, Occurrence]:
    """The person's own booking and which of its dates the page is about."""
    booking = booking_of(request.user, booking_id)
    occurrence = _chosen(booking, request.GET.get("date", "")) if booking else None
    if booking is None or occurrence is None:
        raise Http404
    return booking, occurrence


def _visible_or_404(viewer: User, booking_id: int) -> Booking:
    booking = visible_booking(viewer, booking_id)
    if booking is None:
        raise Http404
    return booking


def _chosen(booking: Booking, date: str) -> Occurrence | None:
    """The only occurrence, or that of a series' date."""
    if not booking.is_series:
        return booking.occurrence
    found = (each for each in booking.occurrences.all() if str(each.recurrence_date) == date)
    return next(found, None)


def _origin(booking: Booking, viewer: User) -> Origin | None:
    effect = booking.effect
    if effect is None:
        return None
    is_own = effect.thread.owner_id == viewer.pk
    may_look = viewer.is_staff and viewer.has_perm("agentruntime.view_effect")
    if not is_own and not may_look:
        return None
    return Origin(
        conversation=reverse("assistant-thread", args=[effect.thread_id]) if is_own else "",
        effect=_admin_page("effect", effect.pk) if may_look else "",
        checkpoint=effect.checkpoint if may_look else "",
    )


def _admin_page(name: str, key: Any) -> str:
    """The administration's page of a row of the runtime; "" where nobody registered one."""
    try:
        return reverse(f"admin:agentruntime_{name}_change", args=[key])
    except NoReverseMatch:
        return ""
