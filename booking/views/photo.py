"""A room's photo, for those who may see the room."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseNotModified
from django.utils import timezone
from django.utils.http import parse_etags, quote_etag
from django.views.decorators.http import require_safe

from booking import diary
from booking.models import RoomPhoto
from booking.photos import MEDIA_TYPE
from booking.policies import Access
from booking.views.person import PersonRequest


@login_required
@require_safe
def photo(request: PersonRequest, code: str) -> HttpResponse:
    """The picture itself; browsers keep it and ask whether it is still the same."""
    found = (
        RoomPhoto.objects.filter(room__code=code, room__is_active=True)
        .select_related("room")
        .defer("content")
        .first()
    )
    if found is None:
        raise Http404
    regimes = diary.regimes({found.room.policy_id}, user=request.user, now=timezone.now())
    if regimes[found.room.policy_id].access is Access.NONE and not request.user.is_staff:
        raise Http404
    tag = quote_etag(found.digest)
    response: HttpResponse
    if tag in parse_etags(request.headers.get("If-None-Match", "")):
        response = HttpResponseNotModified()
    else:
        response = HttpResponse(bytes(found.content), content_type=MEDIA_TYPE)
    response["ETag"] = tag
    response["Cache-Control"] = "private, max-age=3600"
    return response
