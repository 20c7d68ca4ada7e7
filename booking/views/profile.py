"""What Roomwise knows of a person, and the keys to it: home, language, calendar feed, API token."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from rest_framework.authtoken.models import Token

from booking import services
from booking.forms.profile import ProfileForm
from booking.models import CalendarFeed, Profile
from booking.views.account import remember_language
from booking.views.person import PersonRequest


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: PersonRequest) -> HttpResponse:
    found = Profile.objects.filter(user=request.user).first() or Profile(user=request.user)
    form = ProfileForm(request.POST or None, instance=found)
    if request.method == "POST" and form.is_valid():
        kept = form.save()
        response = redirect("profile")
        if kept.language:
            remember_language(response, kept.language)
        with override(kept.language or None):
            messages.success(request, _("Your profile is kept."))
        return response
    context = {
        "section": "profile",
        "form": form,
        "feed": _feed_address(request),
        "token": Token.objects.filter(user=request.user).first(),
    }
    return render(request, "booking/profile.html", context)


def _feed_address(request: PersonRequest) -> str:
    """Where a calendar program reads this person's bookings; "" as long as nobody may."""
    feed = CalendarFeed.objects.filter(person=request.user, revoked_at__isnull=True).first()
    return request.build_absolute_uri(reverse("calendar-feed", args=[feed.token])) if feed else ""


@login_required
@require_POST
def renew_feed(request: PersonRequest) -> HttpResponse:
    """A new address for calendar programs; the old one stops to work."""
    services.issue_feed(request.user, now=timezone.now())
    messages.success(request, _("You have a new address. An old one no longer works."))
    return redirect("profile")


@login_required
@require_POST
def revoke_feed(request: PersonRequest) -> HttpResponse:
    services.revoke_feed(request.user, now=timezone.now())
    messages.success(request, _("The address no longer works."))
    return redirect("profile")


@login_required
@require_POST
def renew_token(request: PersonRequest) -> HttpResponse:
    """A new token for scripts; the old one stops to work."""
    Token.objects.filter(user=request.user).delete()
    Token.objects.create(user=request.user)
    messages.success(request, _("You have a new token. An old one no longer works."))
    return redirect("profile")


@login_required
@require_POST
def revoke_token(request: PersonRequest) -> HttpResponse:
    Token.objects.filter(user=request.user).delete()
    messages.success(request, _("The token no longer works."))
    return redirect("profile")
