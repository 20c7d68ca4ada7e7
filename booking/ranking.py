"""In which order free rooms are offered, and why each one: deterministic and explained.

Pure. The order is that of "Ranking of rooms" in interpretation.md: hard filters, the oversize
guard, then approval last, named or home building, fewest spare seats, fewest unasked features, code.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

OFFERED = 3
"""How many rooms, and how many alternatives, one answer shows."""


@dataclass(frozen=True, kw_only=True)
class RoomRequest:
    """What somebody wants: a time, a number of people, wishes. `ignore_booking` is being moved.

    `may_split`: they asked for several rooms. More people than any room seats mean it too.
    """

    starts_at: datetime
    ends_at: datetime
    headcount: int
    building: str | None = None
    floor: int | None = None
    features: tuple[str, ...] = ()
    room: str | None = None
    ignore_booking: int | None = None
    may_split: bool = False


@dataclass(frozen=True, kw_only=True)
class RoomFacts:
    """What of a room the ranking looks at."""

    code: str
    name_en: str
    name_zh: str
    building: str
    floor: int
    seats: int
    features: frozenset[str]
    needs_approval: bool
    is_home: bool = False


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A room on offer. `reasons` are codes, the first the strongest; texts are made elsewhere.

    Codes: named_room, named_building, home_building, exact_fit, fewest_spare_seats:N,
    spare_seats:N, larger_than_needed:N (seats; only when nothing smaller is free),
    has_features:a+b, no_unasked_features, needs_approval.
    """

    room: str
    name: dict[str, str]
    building: str
    floor: int
    seats: int
    features: tuple[str, ...]
    needs_approval: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A room of a meeting in several rooms, and how many of the people it takes."""

    room: str
    headcount: int


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """What could be had instead. `kind`: other_time, other_room, without_wish, approval, split.

    `detail`: earlier:MIN / later:MIN, other_building:B / other_floor:N / other_room /
    larger:SEATS, feature:CODE, needs_approval (with the shift after a "+", if there is one),
    split:ROOMS (with needs_approval after a "+", if one of the rooms does).
    `parts`: the rooms of a split, largest first; `room` is then the first of them.
    """

    kind: str
    room: str
    starts_at: datetime
    ends_at: datetime
    detail: str
    parts: tuple[Part, ...] = ()


def is_oversize(seats: int, headcount: int) -> bool:
    """Whether the guard hides a room: over four times the people and twenty seats to spare."""
    return seats > 4 * headcount and seats >= headcount + 20


def is_in_place(room: RoomFacts, request: RoomRequest) -> bool:
    """Whether it is the named room, and in the named building and on the named floor."""
    return (
        request.room in {None, room.code}
        and request.building in {None, room.building}
        and request.floor in {None, room.floor}
    )


def missing_features(room: RoomFacts, request: RoomRequest) -> list[str]:
    return [code for code in request.features if code not in room.features]


def is_wished(room: RoomFacts, request: RoomRequest) -> bool:
    """Whether it seats everybody and meets every wish."""
    return (
        room.seats >= request.headcount
        and is_in_place(room, request)
        and not missing_features(room, request)
    )


def sort_key(room: RoomFacts, request: RoomRequest) -> tuple[bool, bool, int, int, str]:
    named = request.building is not None
    is_near = room.building == request.building if named else room.is_home
    unasked = len(room.features.difference(request.features))
    return (room.needs_approval, not is_near, room.seats, unasked, room.code)


def guarded(rooms: Iterable[RoomFacts], request: RoomRequest) -> list[RoomFacts]:
    """The rooms without the oversized, unless nothing else is left or one is named."""
    everything = list(rooms)
    if request.room is not None:
        return everything
    fitting = [room for room in everything if not is_oversize(room.seats, request.headcount)]
    return fitting or everything


def ordered(rooms: Iterable[RoomFacts], request: RoomRequest) -> list[RoomFacts]:
    return sorted(rooms, key=lambda room: sort_key(room, request))


def candidates(free: Iterable[RoomFacts], request: RoomRequest) -> tuple[Candidate, ...]:
    """The best few of the free rooms that meet every wish, in order, each with its reasons."""
    shown = ordered(guarded((room for room in free if is_wished(room, request)), request), request)
    return tuple(candidate(room, request, shown) for room in shown[:OFFERED])


def candidate(room: RoomFacts, request: RoomRequest, among: Collection[RoomFacts]) -> Candidate:
    return Candidate(
        room=room.code,
        name={"en": room.name_en, "zh": room.name_zh},
        building=room.building,
        floor=room.floor,
        seats=room.seats,
        features=tuple(sorted(room.features)),
        needs_approval=room.needs_approval,
        reasons=reasons(room, request, among),
    )


def reasons(room: RoomFacts, request: RoomRequest, among: Collection[RoomFacts]) -> tuple[str, ...]:
    """Why this room stands where it stands among those on offer."""
    codes = [_place_reason(room, request), _size_reason(room, request, among)]
    if request.features:
        codes.append("has_features:" + "+".join(request.features))
    if not room.features.difference(request.features):
        codes.append("no_unasked_features")
    if room.needs_approval:
        codes.append("needs_approval")
    return tuple(code for code in codes if code)


def _place_reason(room: RoomFacts, request: RoomRequest) -> str:
    if request.room == room.code:
        return "named_room"
    if request.building == room.building:
        return "named_building"
    return "home_building" if room.is_home else ""


def _size_reason(room: RoomFacts, request: RoomRequest, among: Collection[RoomFacts]) -> str:
    spare = room.seats - request.headcount
    if spare == 0:
        return "exact_fit"
    if is_oversize(room.seats, request.headcount):
        return f"larger_than_needed:{room.seats}"
    is_least = all(room.seats <= other.seats for other in among)
    return f"fewest_spare_seats:{spare}" if is_least else f"spare_seats:{spare}"
