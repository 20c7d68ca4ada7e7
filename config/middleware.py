"""What every request passes through on its way to a view."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

ADMIN = "/admin/"


def storable_addresses(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """An address of the administration with a NUL names nothing: PostgreSQL's text cannot hold it,
    and Django's own lists would ask. The portal's pages see to it themselves.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(ADMIN) and _has_nul(request):
            raise BadRequest("NUL in the address")
        return get_response(request)

    return middleware


def _has_nul(request: HttpRequest) -> bool:
    return "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", "")
