"""The house: what its rooms are called, when they open, who is in one now."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from booking.closures import blackouts_of
from booking.exceptions import RoomNotFound
from booking.intervals import Interval, busy_until
from booking.models import Feature, Occurrence, OpeningHours, Profile, Room, Site
from booking.rights import hidden_policies
from booking.storable import is_storable
from booking.visibility import seen


@dataclass(frozen=True, kw_only=True)
class RoomEntry:
    """The ways people may name a room."""

    code: str
    name_en: str
    name_zh: str
    aliases: tuple[str, ...]
    building: str
    floor: int


@dataclass(frozen=True, kw_only=True)
class FeatureEntry:
    code: str
    name_en: str
    name_zh: str


@dataclass(frozen=True, kw_only=True)
class RoomNow:
    """Whether a room is in use, until when (free: until the next use), and by whom if visible.

    `until` is None for a free room without another use that day.
    """

    room: str
    is_busy: bool
    until: datetime | None
    title: str | None = None
    organizer: str | None = None


def room_lexicon(viewer: AbstractBaseUser | None) -> tuple[RoomEntry, ...]:
    """How the active rooms that the viewer may see are named (one query); all rooms for None, which
    stands for an operator in the administration.
    """
    found = (
        Room.objects.filter(is_active=True)
        .exclude(policy__in=hidden_policies(viewer) if viewer is not None else ())
        .select_related("floor__building")
        .order_by("code")
    )
    return tuple(
        RoomEntry(
            code=room.code,
            name_en=room.name_en,
            name_zh=room.name_zh,
            aliases=tuple(room.aliases),
            building=room.floor.building.code,
            floor=room.floor.number,
        )
        for room in found
    )


def feature_lexicon() -> tuple[FeatureEntry, ...]:
    """The features rooms may have, by code (one query)."""
    return tuple(
        FeatureEntry(code=each.code, name_en=each.name_en, name_zh=each.name_zh)
        for each in Feature.objects.order_by("code")
    )


def usual_hours(user: AbstractBaseUser) -> tuple[time, time] | None:
    """The earliest opening and latest closing of any weekday at the person's site (one query).

    A close of 00:00 is the coming midnight. None when no room has opening hours.
    """
    at_home = Room.objects.filter(
        is_active=True,
        policy=OuterRef("policy"),
        floor__building__site__buildings__in=_home_buildings(user),
    )
    hours = list(
        OpeningHours.objects.filter(policy__rooms__is_active=True)
        .annotate(is_home=Exists(at_home))
        .values_list("opens", "closes", "is_home")
    )
    spans = [span for *span, is_home in hours if is_home] or [span for *span, _ in hours]
    if not spans:
        return None
    # The midnight that ends the day sorts before every other close, but is the latest.
    closes = max((closes for _, closes in spans), key=lambda close: (close == time(0), close))
    return min(opens for opens, _ in spans), closes


def home_zone(user: AbstractBaseUser) -> ZoneInfo | None:
    """The zone of the person's home site, else of the first site; None without any (one query)."""
    at_home = Q(buildings__in=_home_buildings(user))
    sites = Site.objects.annotate(home=Max("pk", filter=at_home)).order_by("-home", "pk")
    site = sites.first()
    return None if site is None else site.zone


def room_now(code: str, *, viewer: AbstractBaseUser, now: datetime) -> RoomNow:
    """Whether a room is in use now. Title and organizer only if the viewer may see the booking.

    Raises RoomNotFound.
    """
    if not is_storable(code):
        raise RoomNotFound(room=code)
    room = Room.objects.select_related("floor__building__site").filter(code=code).first()
    if room is None or hidden_policies(viewer).filter(pk=room.policy_id).exists():
        raise RoomNotFound(room=code)
    here_and_now = Interval(now, now + timedelta(microseconds=1))
    shut = blackouts_of(room, here_and_now)
    if shut:
        return RoomNow(room=code, is_busy=True, until=max(each.ends_at for each in shut))
    local = now.astimezone(room.floor.building.site.zone)
    midnight = datetime.combine(local.date() + timedelta(days=1), time(0), local.tzinfo)
    uses = list(
        Occurrence.objects.blocking(now)
        .filter(room=room)
        .within(now, midnight)
        .select_related("booking__organizer")
        .order_by("during")
    )
    if not uses or uses[0].starts_at > now:
        return RoomNow(room=code, is_busy=False, until=uses[0].starts_at if uses else None)
    until = busy_until(now, (Interval(each.starts_at, each.ends_at) for each in uses))
    known = seen(uses[0].booking, viewer)
    if known.is_masked:
        return RoomNow(room=code, is_busy=True, until=until)
    return RoomNow(
        room=code, is_busy=True, until=until, title=known.title, organizer=known.organizer
    )


def _home_buildings(user: AbstractBaseUser) -> QuerySet[Profile, Any]:
    return Profile.objects.filter(user=user.pk, building__isnull=False).values("building")
