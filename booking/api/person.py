"""Who asks."""

from typing import cast

from django.contrib.auth.models import User
from rest_framework.request import Request


def person_of(request: Request) -> User:
    """The signed-in user: the door lets nobody else in."""
    return cast("User", request.user)
