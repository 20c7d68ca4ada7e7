"""What Roomwise knows of a person, and the keys to it: home building, language, the API's token."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from rest_framework.authtoken.models import Token

from booking.forms.profile import ProfileForm
from booking.models import Profile
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
        "token": Token.objects.filter(user=request.user).first(),
    }
    return render(request, "booking/profile.html", context)


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
