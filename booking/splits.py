"""One meeting spread over several rooms, for when no room seats everybody or somebody asks. Pure."""

from collections.abc import Iterable, Sequence
from itertools import combinations

from booking import ranking
from booking.alternatives import Prospect
from booking.intervals import Interval
from booking.ranking import Alternative, Part, RoomFacts, RoomRequest

MOST_ROOMS = 3
CONSIDERED = 16
"""Of the largest rooms and of those nearest to an equal share, so many are tried together."""


def split(prospects: Iterable[Prospect], request: RoomRequest) -> Alternative | None:
    """The fewest rooms free at the wanted time that seat everybody together; None without any.

    Every room has the wished features. Those that need no approval, in the wanted place, in one
    building, on one floor, with the fewest spare seats come first.
    """
    during = Interval(request.starts_at, request.ends_at)
    free = [
        each.room
        for each in prospects
        if each.is_free(during) and not ranking.missing_features(each.room, request)
    ]
    for count in range(2, MOST_ROOMS + 1):
        enough = [
            rooms
            for rooms in combinations(_considered(free, request.headcount // count), count)
            if sum(room.seats for room in rooms) >= request.headcount >= count
        ]
        if enough:
            return _alternative(min(enough, key=lambda rooms: _key(rooms, request)), request)
    return None


def _considered(free: Sequence[RoomFacts], share: int) -> list[RoomFacts]:
    largest = sorted(free, key=lambda room: (-room.seats, room.code))
    nearest = sorted(free, key=lambda room: (abs(room.seats - share), room.code))
    chosen = {room.code: room for room in [*largest[:CONSIDERED], *nearest[:CONSIDERED]]}
    return sorted(chosen.values(), key=lambda room: (-room.seats, room.code))


def _key(rooms: Sequence[RoomFacts], request: RoomRequest) -> tuple[int, int, int, int, int, str]:
    return (
        sum(room.needs_approval for room in rooms),
        sum(not ranking.is_in_place(room, request) for room in rooms),
        len({room.building for room in rooms}),
        len({(room.building, room.floor) for room in rooms}),
        sum(room.seats for room in rooms),
        " ".join(room.code for room in rooms),
    )


def _alternative(rooms: Sequence[RoomFacts], request: RoomRequest) -> Alternative:
    asks = any(room.needs_approval for room in rooms)
    return Alternative(
        kind="split",
        room=rooms[0].code,
        starts_at=request.starts_at,
        ends_at=request.ends_at,
        detail=f"split:{len(rooms)}" + ("+needs_approval" if asks else ""),
        parts=_parts(rooms, request.headcount),
    )


def _parts(rooms: Sequence[RoomFacts], headcount: int) -> tuple[Part, ...]:
    """The people in proportion to the seats, at least one and never more than a room has."""
    seats, left, parts = sum(room.seats for room in rooms), headcount, []
    for others, room in zip(range(len(rooms) - 1, -1, -1), rooms, strict=True):
        share = min(-(-left * room.seats // seats), left - others)
        parts.append(Part(room=room.code, headcount=share))
        seats, left = seats - room.seats, left - share
    return tuple(parts)
