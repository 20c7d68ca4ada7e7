"""Signing in, and the language a person reads."""

from typing import Any

from django.conf import settings
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.utils.translation import check_for_language
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from booking.models import Profile


class SignIn(LoginView):
    """Django's sign-in, which also brings the person's language to a browser that has none."""

    redirect_authenticated_user = True

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        chosen = Profile.objects.filter(user_id=form.get_user().pk).values_list("language").first()
        is_open = settings.LANGUAGE_COOKIE_NAME not in self.request.COOKIES
        if is_open and chosen and check_for_language(chosen[0]):
            remember_language(response, chosen[0])
        return response


def remember_language(response: HttpResponse, language: str) -> None:
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Django's set_language; a signed-in person's choice is kept in the profile as well."""
    response: HttpResponse = set_language(request)
    language = request.POST.get("language", "")
    if request.user.is_authenticated and language in dict(settings.LANGUAGES):
        Profile.objects.update_or_create(user_id=request.user.pk, defaults={"language": language})
    return response
