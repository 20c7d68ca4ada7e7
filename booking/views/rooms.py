"""The rooms of a building on a day, and one room by the week."""

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from booking import availability, diary
from booking.availability import RoomDay
from booking.diary import Entry
from booking.forms.fields import FIRST_DAY, LAST_DAY, length
from booking.forms.rooms import RoomsForm, local_today
from booking.intervals import Interval
from booking.models import Building, Profile, RoomPhoto
from booking.views import strip
from booking.views.person import PersonRequest
from booking.views.plan import plan

ROOMS_A_PAGE = 40
DAYS = timedelta(days=1)


@login_required
@never_cache
@require_safe
def day_grid(request: PersonRequest) -> HttpResponse:
    """Every room of a building on one day: free and taken at a glance, a click books a gap."""
    now = timezone.now()
    form = RoomsForm(request.GET)
    form.is_valid()
    building = form.value("building") or home_building(request)
    if building is None:
        return render(request, "booking/rooms.html", {"section": "rooms", "form": form})
    zone = building.site.zone
    day = _shown(form.value("date"), local_today(building, now))
    everything = availability.rooms_in(building, viewer=request.user, now=now)
    fitting = [each for each in everything if _fits(each, form)]
    wanted = form.wanted(building, day)
    if form.value("starts"):
        fitting = _free(request, fitting, day, wanted, now=now)
    page = Paginator(fitting, ROOMS_A_PAGE).get_page(request.GET.get("page"))
    shown = availability.on_day(list(page), day, viewer=request.user, now=now)
    within = availability.window(shown, day, zone)
    context = {
        "section": "rooms",
        "form": form,
        "building": building,
        "day": day,
        "today": local_today(building, now),
        "total": len(everything),
        "page": page,
        "hours": strip.marks(within, zone),
        "rows": [strip.row(each, within, zone=zone, now=now, wanted=wanted) for each in shown],
        "before": _with(request.GET, date=day - DAYS) if day > FIRST_DAY else "",
        "after": _with(request.GET, date=day + DAYS) if day < LAST_DAY else "",
        "kept": _with(request.GET, page=None),
        "narrowed": _with(
            request.GET, seats=None, starts=None, minutes=None, features=None, page=None
        ),
    }
    return render(request, "booking/rooms.html", context)


@login_required
@never_cache
@require_safe
def room(request: PersonRequest, code: str) -> HttpResponse:
    """What a room is and has, and its week."""
    now = timezone.now()
    found = get_object_or_404(diary.rooms().prefetch_related("features"), code=code, is_active=True)
    zone = found.floor.building.site.zone
    today = now.astimezone(zone).date()
    day = _shown(_date(request.GET.get("date", "")), today)
    monday = day - timedelta(days=day.weekday())
    days = [monday + n * DAYS for n in range(7)]
    week = availability.of_room(found, days=days, viewer=request.user, now=now)
    if not week:
        raise Http404
    windows = _same_hours(week, zone)
    rows = [
        strip.row(each, within, zone=zone, now=now)
        for each, within in zip(week, windows, strict=True)
    ]
    context = {
        "section": "rooms",
        "room": found,
        "rules": week[0].rules,
        "plan": plan(found.seats),
        "photo": RoomPhoto.objects.filter(room=found.pk).defer("content").first(),
        "lengths": f"{length(week[0].rules.min_minutes)} – {length(week[0].rules.max_minutes)}",
        "today": today,
        "monday": monday,
        "sunday": days[-1],
        "before": monday - 7 * DAYS,
        "after": monday + 7 * DAYS,
        "hours": strip.marks(windows[0], zone),
        "rows": rows,
        "needs_approval": week[0].facts.needs_approval,
        "soon": next((piece for row in rows for piece in row.pieces if piece.kind == "free"), None),
    }
    return render(request, "booking/room.html", context)


def home_building(request: PersonRequest) -> Building | None:
    """The person's own building, else the first of the house."""
    home = Profile.objects.filter(user=request.user.pk).values("building")
    buildings = Building.objects.select_related("site")
    return buildings.filter(pk__in=home).first() or buildings.first()


def _free(
    request: PersonRequest,
    rooms: list[Entry],
    day: date,
    wanted: Interval | None,
    *,
    now: datetime,
) -> list[Entry]:
    """Those that are free at the wanted time; none if that time does not exist (one query)."""
    if wanted is None:
        return []
    days = availability.on_day(rooms, day, viewer=request.user, now=now)
    return [room for room, each in zip(rooms, days, strict=True) if each.has_free(wanted)]


def _fits(each: Entry, form: RoomsForm) -> bool:
    asked = set(form.value("features") or ())
    return each.facts.seats >= (form.value("seats") or 1) and asked <= each.facts.features


def _same_hours(week: list[RoomDay], zone: ZoneInfo) -> list[Interval]:
    """The hours to show of each day: the same on all, so that the days stand below each other."""
    spans = [availability.window([each], each.day, zone) for each in week]
    first = min(each.starts_at.astimezone(zone).time() for each in spans)
    longest = max(
        each.ends_at - datetime.combine(day.day, first, zone)
        for each, day in zip(spans, week, strict=True)
    )
    starts = [datetime.combine(each.day, first, zone) for each in week]
    return [Interval(start, start + longest) for start in starts]


def _shown(wished: date | None, today: date) -> date:
    return today if wished is None else min(max(wished, FIRST_DAY), LAST_DAY)


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise Http404 from error


def _with(query: QueryDict, **changes: Any) -> str:
    """The query with some values set or, where None, taken out."""
    changed = query.copy()
    for name, value in changes.items():
        if value is None:
            changed.pop(name, None)
        else:
            changed[name] = value
    return f"?{changed.urlencode()}"
