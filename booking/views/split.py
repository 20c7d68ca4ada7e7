"""Booking several rooms for one meeting by hand: all of them or none."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from booking import services
from booking.exceptions import BookingError
from booking.forms.split import SplitForm
from booking.models import Room, Source, Status, Visibility
from booking.ranking import Part
from booking.views.person import PersonRequest


@dataclass(frozen=True, kw_only=True)
class Wish:
    """The rooms, with the people proposed for each, and the time, as the address has them."""

    rooms: list[Room]
    people: dict[str, str]
    starts_at: datetime
    ends_at: datetime


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def split(request: PersonRequest) -> HttpResponse:
    """What would be booked, with the people of each room to be changed; then all or nothing."""
    wish = _wish(request.GET)
    form = SplitForm(
        request.POST if request.method == "POST" else None,
        rooms=wish.rooms,
        people=wish.people,
        initial={"title": request.GET.get("title", "")},
    )
    context = {"section": "rooms", "form": form, "wish": wish, "zone": _zone(wish.rooms[0])}
    if not form.is_valid():
        return render(request, "booking/split.html", context)
    try:
        bookings = services.book_rooms(
            organizer=request.user,
            parts=form.parts,
            starts_at=wish.starts_at,
            ends_at=wish.ends_at,
            title=form.cleaned_data["title"],
            visibility=(
                Visibility.PRIVATE if form.cleaned_data["is_private"] else Visibility.PUBLIC
            ),
            source=Source.PORTAL,
            idempotency_key=form.cleaned_data["key"],
            now=timezone.now(),
        )
    except BookingError as error:
        return render(
            request, "booking/split.html", context | {"problem": error.text()}, status=409
        )
    waits = any(each.status == Status.PENDING for each in bookings)
    done = _("Booked. Some of the rooms wait for approval; they are held for you until then.")
    messages.success(request, done if waits else _("All rooms are booked."))
    return redirect("my-bookings")


def address(parts: tuple[Part, ...], starts_at: datetime, ends_at: datetime, title: str) -> str:
    """The page that books such a split."""
    query = [
        *(("room", part.room) for part in parts),
        *(("people", str(part.headcount)) for part in parts),
        ("start", starts_at.isoformat()),
        ("end", ends_at.isoformat()),
        *([("title", title)] if title else []),
    ]
    return f"{reverse('split')}?{urlencode(query, safe=':')}"


def _wish(query: QueryDict) -> Wish:
    """Raises Http404 for what no offer has in its address."""
    codes = [code.replace("\0", "") for code in query.getlist("room")]
    found = Room.objects.filter(code__in=codes, is_active=True)
    rooms = {room.code: room for room in found.select_related("floor__building__site")}
    try:
        first, last = (datetime.fromisoformat(str(query[name])) for name in ("start", "end"))
    except (KeyError, ValueError):
        raise Http404 from None
    chosen = [rooms[code] for code in dict.fromkeys(codes) if code in rooms]
    is_whole = len(chosen) == len(codes) and 2 <= len(chosen) <= services.MOST_ROOMS
    if not is_whole or first.tzinfo is None or last.tzinfo is None or last <= first:
        raise Http404
    if len({_zone(room) for room in chosen}) > 1:
        raise Http404
    return Wish(
        rooms=chosen,
        people=dict(zip(codes, query.getlist("people"), strict=False)),
        starts_at=first,
        ends_at=last,
    )


def _zone(room: Room) -> str:
    return room.floor.building.site.time_zone
