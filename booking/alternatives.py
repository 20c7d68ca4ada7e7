"""What to offer when no room can be booked at once as wished. Pure.

The order is point 4 of "Ranking of rooms" in interpretation.md: (a) another time the same day,
(b) another place, (c) one wish less, (d) a room that needs approval. Time and headcount never shrink.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice

from booking import policies, ranking
from booking.intervals import Interval, is_free
from booking.policies import Rules
from booking.ranking import Alternative, RoomFacts, RoomRequest

SHIFT = timedelta(hours=3)
"""How far from the wanted start another time is still an alternative."""


@dataclass(frozen=True, eq=False)
class Prospect:
    """A room with its rules and what blocks it around the wanted time."""

    room: RoomFacts
    rules: Rules
    busy: tuple[Interval, ...] = ()

    def is_free(self, during: Interval) -> bool:
        """Whether a booking, with its buffers, would cross no other booking with its own."""
        return is_free(self.rules.blocked(during), self.busy)


def alternatives(
    prospects: Iterable[Prospect],
    request: RoomRequest,
    *,
    shown: Sequence[str],
    now: datetime,
) -> tuple[Alternative, ...]:
    """The first few in the order (a) to (d); `shown` are the rooms already on offer.

    `prospects` are the rooms that seat everybody and whose rules allow the wanted time.
    """
    during = Interval(request.starts_at, request.ends_at)
    ranked = sorted(prospects, key=lambda each: ranking.sort_key(each.room, request))
    instant = [each for each in ranked if not each.room.needs_approval]
    on_request = [each for each in ranked if each.room.needs_approval]
    unseen = [each for each in instant if each.room.code not in shown]
    found = chain(
        _other_times(instant, request, during, now),
        _other_rooms(unseen, request, during),
        _without_a_wish(unseen, request, during),
        _on_request(on_request, request, during, shown=shown, now=now),
    )
    return tuple(islice(found, ranking.OFFERED))


def _wished(prospects: Iterable[Prospect], request: RoomRequest) -> list[Prospect]:
    wished = [each for each in prospects if ranking.is_wished(each.room, request)]
    kept = ranking.guarded((each.room for each in wished), request)
    return [each for each in wished if each.room in kept]


def _other_times(
    prospects: Iterable[Prospect], request: RoomRequest, during: Interval, now: datetime
) -> list[Alternative]:
    """(a) Per wished room the nearest earlier and later free start of the day, by shift."""
    legal: dict[Rules, list[datetime]] = {}
    found = []
    for position, prospect in enumerate(_wished(prospects, request)):
        if prospect.is_free(during):
            continue
        rules = prospect.rules
        if rules not in legal:
            legal[rules] = _starts_nearby(rules, during, now)
        for starts_at in _nearest_free(prospect, during, legal[rules]):
            shift = abs(starts_at - during.starts_at)
            found.append((shift, position, starts_at, prospect.room.code))
    return [
        _alternative("other_time", code, during.starting(starts_at), _shift(during, starts_at))
        for _distance, _position, starts_at, code in sorted(found)
    ]


def _starts_nearby(rules: Rules, during: Interval, now: datetime) -> list[datetime]:
    """The starts of the day within the shift at which rooms of these rules may be booked."""
    day = rules.local(during.starts_at).date()
    starts = policies.legal_starts(rules, day=day, duration=during.duration, now=now)
    return [start for start in starts if abs(start - during.starts_at) <= SHIFT]


def _nearest_free(
    prospect: Prospect, during: Interval, starts: Sequence[datetime]
) -> Iterator[datetime]:
    """The nearest earlier and the nearest later start at which the room is free."""
    earlier = [start for start in starts if start < during.starts_at]
    later = [start for start in starts if start > during.starts_at]
    for side in (reversed(earlier), later):
        free = (start for start in side if prospect.is_free(during.starting(start)))
        yield from islice(free, 1)


def _other_rooms(
    prospects: Iterable[Prospect], request: RoomRequest, during: Interval
) -> Iterator[Alternative]:
    """(b) Free at the wanted time: a larger room the guard hid, or one in another place."""
    free = [each for each in prospects if each.is_free(during)]
    placed = [each for each in free if not ranking.missing_features(each.room, request)]
    fitting = ranking.guarded((each.room for each in placed), request)
    for each in sorted(placed, key=lambda each: each.room not in fitting):
        yield _alternative("other_room", each.room.code, during, _place(each.room, request))


def _without_a_wish(
    prospects: Iterable[Prospect], request: RoomRequest, during: Interval
) -> Iterator[Alternative]:
    """(c) In the wanted place at the wanted time, with exactly one feature less, named."""
    free = [each for each in prospects if each.is_free(during)]
    kept = ranking.guarded((each.room for each in free), request)
    for each in free:
        missing = ranking.missing_features(each.room, request)
        if len(missing) == 1 and each.room in kept and ranking.is_in_place(each.room, request):
            yield _alternative("without_wish", each.room.code, during, f"feature:{missing[0]}")


def _on_request(
    prospects: Sequence[Prospect],
    request: RoomRequest,
    during: Interval,
    *,
    shown: Sequence[str],
    now: datetime,
) -> Iterator[Alternative]:
    """(d) As a request: at the wanted time in any place, else at another time of the day."""
    unseen = [each for each in prospects if each.room.code not in shown]
    for each in _other_rooms(unseen, request, during):
        yield _alternative("approval", each.room, during, "needs_approval")
    if shown:
        return
    for each in _other_times(unseen, request, during, now):
        during_then = Interval(each.starts_at, each.ends_at)
        yield _alternative("approval", each.room, during_then, f"needs_approval+{each.detail}")


def _place(room: RoomFacts, request: RoomRequest) -> str:
    if request.building not in {None, room.building}:
        return f"other_building:{room.building}"
    if request.floor not in {None, room.floor}:
        return f"other_floor:{room.floor}"
    if request.room is not None:
        return "other_room"
    return f"larger:{room.seats}"


def _shift(during: Interval, starts_at: datetime) -> str:
    minutes = int((starts_at - during.starts_at) / timedelta(minutes=1))
    return f"earlier:{-minutes}" if minutes < 0 else f"later:{minutes}"


def _alternative(kind: str, room: str, during: Interval, detail: str) -> Alternative:
    return Alternative(
        kind=kind, room=room, starts_at=during.starts_at, ends_at=during.ends_at, detail=detail
    )
