"""Who a page is for."""

from django.contrib.auth.models import User
from django.http import HttpRequest


class PersonRequest(HttpRequest):
    """A request behind `login_required`."""

    user: User
