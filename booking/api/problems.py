"""What went wrong, as a program reads it (RFC 9457): the codes of the chat, the words of the reader."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import exception_handler

from booking.exceptions import BookingError, PolicyViolation, SeriesClash

MEDIA_TYPE = "application/problem+json"
STATUSES: Mapping[str, int] = {
    "taken": status.HTTP_409_CONFLICT,
    "room_not_found": status.HTTP_404_NOT_FOUND,
    "policy": status.HTTP_422_UNPROCESSABLE_ENTITY,
    "invalid": status.HTTP_422_UNPROCESSABLE_ENTITY,
    "booking_not_found": status.HTTP_404_NOT_FOUND,
    "not_allowed": status.HTTP_403_FORBIDDEN,
    "version_conflict": status.HTTP_409_CONFLICT,
    "already_cancelled": status.HTTP_409_CONFLICT,
    "already_over": status.HTTP_409_CONFLICT,
    "series_needs_date": status.HTTP_400_BAD_REQUEST,
    "already_decided": status.HTTP_409_CONFLICT,
    "not_approved": status.HTTP_409_CONFLICT,
    "check_in_too_early": status.HTTP_409_CONFLICT,
    "check_in_too_late": status.HTTP_409_CONFLICT,
    "series_clash": status.HTTP_409_CONFLICT,
    "blackout_hits": status.HTTP_409_CONFLICT,
    "cannot_undo": status.HTTP_409_CONFLICT,
    "nonexistent_time": status.HTTP_422_UNPROCESSABLE_ENTITY,
    "idempotency_mismatch": status.HTTP_422_UNPROCESSABLE_ENTITY,
}
"""The HTTP status of every code that booking raises."""
FOREIGN = (
    "error",
    "invalid",
    "not_found",
    "not_authenticated",
    "authentication_failed",
    "permission_denied",
    "method_not_allowed",
    "not_acceptable",
    "parse_error",
    "throttled",
    "unsupported_media_type",
)
"""The codes of what goes wrong before booking is asked."""
IMPOSSIBLE = {
    "range",
    "order",
    "unknown",
    "null_characters_not_allowed",
    "surrogate_characters_not_allowed",
}
"""Faults of values that are well formed."""


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler; None (a server error) for what nobody expected."""
    if isinstance(error, BookingError):
        return _response(booking_problem(error))
    response = exception_handler(error, context)
    if response is None:
        return None
    problem = _foreign(error, response)
    headers = {name: value for name, value in response.items() if name != "Content-Type"}
    return _response(problem, headers=headers)


def booking_problem(error: BookingError) -> dict[str, Any]:
    """The problem a refusal of booking is; a broken rule comes with its values and what is nearest."""
    more: dict[str, Any] = {}
    if isinstance(error, PolicyViolation):
        refusal = error.refusal
        nearest = refusal.nearest
        more = {
            "rule": refusal.rule,
            "params": dict(refusal.params),
            "nearest": nearest and dict(zip(("starts_at", "ends_at"), nearest, strict=True)),
        }
    if "alternatives" in error.data:
        more["alternatives"] = error.data["alternatives"]
    elif isinstance(error, SeriesClash):
        more = {"dates": error.dates}
    elif "field" in error.data:
        more = {"errors": {error.data["field"]: [error.text()]}}
    return _problem(error.code, STATUSES[error.code], error.text(), **more)


@csrf_exempt
def not_found(request: HttpRequest) -> JsonResponse:
    """For addresses below the API that are none."""
    problem = _problem("not_found", status.HTTP_404_NOT_FOUND, _("There is nothing here."))
    return JsonResponse(problem, status=problem["status"], content_type=MEDIA_TYPE)


def _foreign(error: Exception, response: Response) -> dict[str, Any]:
    if isinstance(error, exceptions.ValidationError):
        words = _("Some of what was sent is not right.")
        errors = error.detail if isinstance(error.detail, dict) else {"body": error.detail}
        return _problem("invalid", _status_of(error), words, errors=errors)
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    if isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    code = getattr(error, "default_code", "error")
    return _problem(code, response.status_code, str(getattr(error, "detail", error)))


def _status_of(error: exceptions.ValidationError) -> int:
    """422 for what is well formed but cannot be, 400 for what is not well formed."""
    codes = _codes(error.get_codes())
    is_impossible = bool(codes) and codes <= IMPOSSIBLE
    return status.HTTP_422_UNPROCESSABLE_ENTITY if is_impossible else status.HTTP_400_BAD_REQUEST


def _codes(found: Any) -> set[str]:
    if isinstance(found, str):
        return {found}
    parts = found.values() if isinstance(found, dict) else found
    return set().union(*(_codes(each) for each in parts))


def _problem(code: str, status_code: int, detail: str, **more: Any) -> dict[str, Any]:
    return {"type": "about:blank", "code": code, "status": status_code, "detail": detail, **more}


def _response(problem: dict[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        problem, status=problem["status"], content_type=MEDIA_TYPE, headers=dict(headers or {})
    )
