"""Who asks, and in which language they are answered."""

from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import translation
from rest_framework.authentication import TokenAuthentication
from rest_framework.request import Request

from booking.models import Profile


class PersonalToken(TokenAuthentication):
    """DRF's, which also brings the person's language to a request that asks for none."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        found = super().authenticate(request)
        asks = "Accept-Language" in request.headers or (
            settings.LANGUAGE_COOKIE_NAME in request.COOKIES
        )
        if found is not None and not asks:
            chosen = Profile.objects.filter(user=found[0].pk).values_list("language").first()
            if chosen and translation.check_for_language(chosen[0]):
                translation.activate(chosen[0])
        return found


def person_of(request: Request) -> User:
    """The signed-in user: the door lets nobody else in."""
    return cast("User", request.user)
