"""Being there: the check-in of a booking."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from booking import services
from booking.exceptions import BookingError
from booking.models import Source
from booking.views.booking import address_of, own_or_404
from booking.views.person import PersonRequest


@login_required
@require_POST
def check_in(request: PersonRequest, booking_id: int) -> HttpResponse:
    """Say that one is there; back to the page that was asked from."""
    booking, occurrence = own_or_404(request, booking_id)
    try:
        services.check_in(
            booking.pk,
            by=request.user,
            now=timezone.now(),
            recurrence_date=occurrence.recurrence_date,
            source=Source.PORTAL,
        )
    except BookingError as error:
        messages.error(request, error.text())
    else:
        messages.success(request, _("You are checked in."))
    if request.POST.get("from") == "today":
        return redirect("today")
    return redirect(address_of(occurrence))
