"""Which rooms suit a wish, and what else could be had."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.contrib.auth.models import AbstractBaseUser

from booking import diary, policies, ranking
from booking.alternatives import SHIFT, Prospect, alternatives
from booking.closures import blackouts_of, refusal_of
from booking.diary import Entry
from booking.intervals import Interval
from booking.models import Room
from booking.policies import Access, Refusal, Rules
from booking.ranking import Alternative, Candidate, RoomRequest
from booking.splits import split


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """Rooms on offer, and what else could be had when none of them can be booked at once.

    A refusal says why the request as such cannot be met. `candidates` is then empty; `alternatives`
    may hold other rooms when it is the named room that does not fit, or several rooms together
    when none seats everybody.
    """

    candidates: tuple[Candidate, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    refusal: Refusal | None = None


def search(request: RoomRequest, *, user: AbstractBaseUser, now: datetime) -> SearchResult:
    """Rooms for a request by the ranking of interpretation.md, and alternatives (three queries).

    Refusals: capacity, unknown_room, unknown_building, not_bookable (a named room's, for this
    person), missing_features (a named room's) and the rules of `policies.check`.
    """
    visible = diary.entries(user=user, now=now, duration=request.ends_at - request.starts_at)
    everything = [each for each in visible if each.access >= Access.REQUEST]
    refusal = _refused_as_such(visible, everything, request)
    if refusal is not None:
        too_many = refusal.rule == "capacity"
        others = _together(everything, request, now=now) if too_many else ()
        return SearchResult(alternatives=others, refusal=refusal)
    seating = [each for each in everything if each.facts.seats >= request.headcount]
    legal, refusal = _legal(seating, request, now=now)
    if refusal is not None:
        return SearchResult(refusal=refusal)
    during = Interval(request.starts_at, request.ends_at)
    widest = max(each.rules.buffer_before + each.rules.buffer_after for each in legal)
    reach = SHIFT + during.duration + widest
    around = during.padded(reach, reach)
    prospects = diary.prospects(
        legal, around=around, now=now, ignore_booking=request.ignore_booking
    )
    offered = ranking.candidates((each.room for each in prospects if each.is_free(during)), request)
    others = ()
    if all(each.needs_approval for each in offered):
        shown = [each.room for each in offered]
        others = alternatives(prospects, request, shown=shown, now=now)
    if request.may_split:
        others = (*others[: ranking.OFFERED - 1], *_together(everything, request, now=now))
    misfit = None if offered else _misfit(everything, request) or _shut(everything, request)
    return SearchResult(candidates=offered, alternatives=others, refusal=misfit)


def free_starts(
    *,
    user: AbstractBaseUser,
    date: date,
    window: tuple[time, time],
    minutes: int,
    headcount: int,
    building: str | None = None,
    floor: int | None = None,
    features: tuple[str, ...] = (),
    room: str | None = None,
    now: datetime,
) -> list[datetime]:
    """The starts of a local day, from `window[0]` on and ending by `window[1]`, that a room has.

    A window that ends at 00:00 ends with the day. Sorted, in UTC; three queries.
    """
    duration = timedelta(minutes=minutes)
    wished = [
        each
        for each in diary.entries(user=user, now=now, duration=duration)
        if each.access >= Access.REQUEST
        and ranking.is_wished(
            each.facts,
            RoomRequest(
                starts_at=now,
                ends_at=now,
                headcount=headcount,
                building=building,
                floor=floor,
                features=features,
                room=room,
            ),
        )
    ]
    starts: dict[Rules, list[datetime]] = {}
    for each in wished:
        if each.rules not in starts:
            starts[each.rules] = _starts_within(each.rules, date, window, duration, now)
    if not any(starts.values()):
        return []
    first, last = (pick(pick(each) for each in starts.values() if each) for pick in (min, max))
    day = timedelta(days=1)
    prospects = diary.prospects(
        wished, around=Interval(first - day, last + duration + day), now=now
    )
    found = {
        start
        for each in prospects
        for start in starts[each.rules]
        if each.is_free(Interval(start, start + duration))
    }
    return sorted(found)


def _refused_as_such(
    visible: Sequence[Entry], bookable: Sequence[Entry], request: RoomRequest
) -> Refusal | None:
    """What no time could cure: too many people for every room, a place that does not exist."""
    rooms = [each.facts for each in bookable]
    if request.room is not None and all(room.code != request.room for room in rooms):
        is_seen = any(each.facts.code == request.room for each in visible)
        return Refusal("not_bookable" if is_seen else "unknown_room", {"room": request.room})
    if request.building is not None and all(room.building != request.building for room in rooms):
        return Refusal("unknown_building", {"building": request.building})
    largest = max(rooms, key=lambda room: room.seats, default=None)
    if largest is None:
        return Refusal("no_rooms")
    if largest.seats < request.headcount:
        return _too_many(request, largest.code, largest.seats)
    return None


def _together(
    everything: Sequence[Entry], request: RoomRequest, *, now: datetime
) -> tuple[Alternative, ...]:
    """Several rooms of one site that seat everybody at that time, if there are any (one query)."""
    during = Interval(request.starts_at, request.ends_at)
    legal = [each for each in everything if _refusal(each, request, now=now) is None]
    around = during.padded(diary.WIDEST, diary.WIDEST)
    sites: dict[int | None, list[Prospect]] = {}
    for each, prospect in zip(legal, diary.prospects(legal, around=around, now=now), strict=True):
        sites.setdefault(each.site, []).append(prospect)
    home_first = sorted(
        sites.values(), key=lambda found: not any(each.room.is_home for each in found)
    )
    answers = [each for each in (split(found, request) for found in home_first) if each]
    return tuple(answers[:1])


def _refusal(entry: Entry, request: RoomRequest, *, now: datetime) -> Refusal | None:
    """What the rules of the room, for that person, have against the time."""
    may_override = entry.access is Access.OVERRIDE
    return policies.check(
        policies.relaxed(entry.rules) if may_override else entry.rules,
        starts_at=request.starts_at,
        ends_at=request.ends_at,
        now=now,
    )


def _legal(
    seating: Sequence[Entry], request: RoomRequest, *, now: datetime
) -> tuple[list[Entry], Refusal | None]:
    """The rooms whose rules allow the time; a refusal if no room that is wished is among them."""
    answers: dict[Rules, Refusal | None] = {}
    for each in seating:
        if each.rules not in answers:
            answers[each.rules] = _refusal(each, request, now=now)
    legal = [each for each in seating if answers[each.rules] is None]
    wished = [each for each in seating if ranking.is_wished(each.facts, request)] or seating
    if any(answers[each.rules] is None for each in wished):
        return legal, None
    best = min(wished, key=lambda each: ranking.sort_key(each.facts, request))
    return [], answers[best.rules]


def _misfit(everything: Iterable[Entry], request: RoomRequest) -> Refusal | None:
    """Why the named room itself does not suit, if that is so."""
    for each in everything:
        if each.facts.code != request.room:
            continue
        if each.facts.seats < request.headcount:
            return _too_many(request, each.facts.code, each.facts.seats)
        missing = ranking.missing_features(each.facts, request)
        if missing:
            return Refusal("missing_features", {"room": request.room, "features": missing})
    return None


def _shut(everything: Iterable[Entry], request: RoomRequest) -> Refusal | None:
    """Why the named room is shut, if it is (two queries more, then only)."""
    for each in everything:
        if each.facts.code != request.room:
            continue
        wanted = each.rules.blocked(Interval(request.starts_at, request.ends_at))
        room = Room.objects.select_related("floor__building").get(pk=each.pk)
        shut = blackouts_of(room, wanted)
        return refusal_of(shut[0], each.rules.zone) if shut else None
    return None


def _too_many(request: RoomRequest, room: str, seats: int) -> Refusal:
    return Refusal("capacity", {"headcount": request.headcount, "room": room, "seats": seats})


def _starts_within(
    rules: Rules, day: date, window: tuple[time, time], duration: timedelta, now: datetime
) -> list[datetime]:
    last_day = day + timedelta(days=1) if window[1] == time(0) else day
    first = datetime.combine(day, window[0], rules.zone)
    last = datetime.combine(last_day, window[1], rules.zone)
    starts = policies.legal_starts(rules, day=day, duration=duration, now=now)
    return [start for start in starts if first <= start and start + duration <= last]
