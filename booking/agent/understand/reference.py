"""Which stored booking the words mean, and what a change asks for.

Only the speaker's own bookings are known here; of others no more than that a person was named.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from booking.agent.understand import cues, names, titles, when
from booking.agent.understand.facts import Facts, gather
from booking.agent.understand.normalise import mask
from booking.agent.understand.slots import collect
from booking.agent.understand.types import (
    BookingRef,
    DraftView,
    Found,
    Lexicon,
    OpeningHours,
    OwnBooking,
    Problem,
)


@dataclass(frozen=True, slots=True)
class Change:
    """A change to a stored booking: what it is, and the slots it shall have."""

    ref: BookingRef
    slots: dict[str, Found]
    problems: tuple[Problem, ...]


def scope_of(text: str) -> str | None:
    return next((name for name, pattern in cues.SCOPE if pattern.search(text)), None)


def owner_of(folded: str, lexicon: Lexicon) -> str | None:
    return next((p.id for p in names.find_people(folded, lexicon) if p.id != lexicon.me), None)


def number_of(folded: str) -> int | None:
    """The booking number that was said (#502, booking 502, 取消502)."""
    match = cues.BOOKING_ID.search(folded)
    if match is None:
        return None
    return int(next(value for value in match.groupdict().values() if value))


def find(folded: str, slots: dict[str, Found], lexicon: Lexicon, *, last: bool) -> BookingRef:
    """The booking that title, id, day, hour, room and person describe together."""
    own = titles.named(folded, lexicon.own)
    title = own[0].title if own else None
    number = None if "room" in slots else number_of(folded)
    owner = owner_of(folded, lexicon)
    wanted: dict[str, Any] = {
        key: slots[key].value for key in ("date", "start_time", "room") if key in slots
    }
    fits = [b for b in own or lexicon.own if _fits(b, wanted)] if (own or wanted) else []
    if number is not None:
        fits = [b for b in lexicon.own if b.id == number]
    ids = tuple(b.id for b in fits if b.id is not None and b.series is None)
    if number is not None and not ids:
        ids = (number,)
    return BookingRef(
        booking_ids=() if owner else ids,
        series_ids=()
        if owner
        else tuple(dict.fromkeys(b.series for b in fits if b.series is not None)),
        title=title,
        room=wanted.get("room"),
        date=wanted.get("date"),
        start_time=wanted.get("start_time"),
        owner=owner,
        scope=scope_of(folded),
        last=last and not (own or wanted or number or owner),
        everyone=bool(cues.EVERYONE.search(folded)),
    )


def _fits(booking: OwnBooking, wanted: dict[str, Any]) -> bool:
    """A series fits any day: which of its days it has is the store's to say."""
    if "room" in wanted and wanted["room"] != booking.room:
        return False
    starts = booking.starts_at
    if starts is None:
        return True
    if "start_time" in wanted and wanted["start_time"] != f"{starts:%H:%M}":
        return False
    return booking.series is not None or wanted.get("date") in {None, starts.date().isoformat()}


def split_change(folded: str) -> tuple[str, str]:
    """The half that names the booking and the half that says what it shall become."""
    match = cues.MODIFY.search(folded)
    if match is None:
        return folded, folded
    if not match.group().isascii():
        pivot = match.start()
    else:
        steps = [m.start() for m in cues.PIVOT_EN.finditer(folded, match.end())]
        pivot = steps[-1] if steps else match.start()
    size = len(folded)
    return mask(folded, pivot, size), mask(folded, 0, pivot)


def find_change(
    folded: str,
    said: str,
    *,
    lexicon: Lexicon,
    now: datetime,
    hours: OpeningHours,
    draft: DraftView,
) -> Change:
    """Read a change to a stored booking: 把下周三的站会改到下午2点."""
    before, after = split_change(folded)
    old, _ = time_and_place(
        gather(before, said, lexicon=lexicon, now=now), said, now=now, hours=hours
    )
    new, problems = time_and_place(
        gather(after, said, lexicon=lexicon, now=now), said, now=now, hours=hours
    )
    whole = gather(folded, said, lexicon=lexicon, now=now)
    for shift in whole.moves:
        new.pop("duration_minutes", None)
        new[shift.kind] = Found(shift.minutes, shift.span, f"{shift.kind}.said")
    ref = find(before, old, lexicon, last=draft.phase == "BOOKED")
    if ref.scope is None and (scope := scope_of(folded)):
        ref = replace(ref, scope=scope)
    return Change(ref, new, problems)


def time_and_place(
    facts: Facts, said: str, *, now: datetime, hours: OpeningHours
) -> tuple[dict[str, Found], tuple[Problem, ...]]:
    """The slots of a text read on its own, without a draft and without assuming today."""
    slots, problems = when.decide(
        facts, said, now=now, opening=hours, draft=DraftView(), may_assume_today=False
    )
    more, others = collect(facts, said, DraftView())
    return {**more, **slots}, (*problems, *others)
