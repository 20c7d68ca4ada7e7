"""Which stored booking the words mean, and what a change asks for.

Only the speaker's own bookings are known here; of others no more than that a person was named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from booking.agent.understand import cues, names, titles, when
from booking.agent.understand import scope as scopes
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


def owner_of(folded: str, lexicon: Lexicon) -> str | None:
    return next((p.id for p in names.find_people(folded, lexicon) if p.id != lexicon.me), None)


def number_of(folded: str) -> int | None:
    """The booking number that was said (#502, booking 502, 取消502)."""
    match = cues.BOOKING_ID.search(folded)
    if match is None:
        return None
    return int(next(value for value in match.groupdict().values() if value))


_ASSUMED = {"date.today", "date.first_of_series", "room.same_as"}


def find(
    folded: str, facts: Facts, slots: Mapping[str, Found], lexicon: Lexicon, *, last: bool
) -> BookingRef:
    """The booking that title, id, day, hour, room and person describe together."""
    own = titles.named(folded, lexicon.own)
    title = own[0].title if own else None
    number = None if "room" in slots else number_of(folded)
    owner = owner_of(folded, lexicon)
    wanted: dict[str, Any] = {
        key: slots[key].value
        for key in ("date", "start_time", "room")
        if key in slots and slots[key].rule not in _ASSUMED
    }
    since = scopes.starts_on(facts, folded)
    if since is not None:
        wanted["date"] = since
    fits = [b for b in own or lexicon.own if _fits(b, wanted)] if (own or wanted) else []
    if number is not None:
        fits = [b for b in lexicon.own if b.id == number]
    ids = tuple(b.id for b in fits if b.id is not None and b.series is None)
    if number is not None and not ids:
        ids = (number,)
    series = tuple(dict.fromkeys(b.series for b in fits if b.series is not None))
    return BookingRef(
        booking_ids=() if owner else ids,
        series_ids=() if owner else series,
        title=title,
        room=wanted.get("room"),
        date=wanted.get("date"),
        start_time=wanted.get("start_time"),
        owner=owner,
        scope=_scope(folded, facts, since, wanted) if series else scopes.scope_of(folded),
        upcoming=bool(cues.UPCOMING.search(folded)),
        last=last and not (own or wanted or number or owner),
        everyone=bool(cues.EVERYONE.search(folded)),
    )


def _scope(folded: str, facts: Facts, since: str | None, wanted: Mapping[str, Any]) -> str | None:
    """What the words say; a repetition means all, a day from which on the following, a day itself."""
    if since is not None:
        return "following"
    if (said := scopes.scope_of(folded)) is not None:
        return said
    if facts.repeat is not None:
        return "all"
    return "this" if "date" in wanted else None


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


_LED_BY = re.compile(r"\s*(?:请|麻烦|帮我|帮忙|给我|我想|我要|能不能|可以|能)*\s*$")
_TO_ZH = re.compile(r"(?<![直用开])[到至成为]")


def split_change(folded: str, facts: Facts) -> tuple[str, str]:
    """The half that names the booking and the half that says what it shall become."""
    match = cues.MODIFY.search(folded)
    if match is None:
        return folded, folded
    pivot = _pivot(folded, facts, match)
    for moved, held in (("to ", "at "), ("到", "在")):  # "to 10" is an end but for what moves to it
        if folded.startswith(moved, pivot):
            folded = folded[:pivot] + held + folded[pivot + len(moved) :]
    size = len(folded)
    return mask(folded, pivot, size), mask(folded, 0, pivot)


def _pivot(folded: str, facts: Facts, verb: re.Match[str]) -> int:
    """Where the new values begin: at the Chinese verb or, when it leads, at what follows the name."""
    if verb.group().isascii():
        steps = [m.start() for m in cues.PIVOT_EN.finditer(folded, verb.end())]
        return steps[-1] if steps else _amount(facts, verb.end(), verb.start())
    if (
        not _LED_BY.match(folded, 0, verb.start())
        or _LED_BY.fullmatch(folded[: verb.start()]) is None
    ):
        return verb.start()
    step = _TO_ZH.search(folded, verb.end() - 1)
    return step.start() if step else _amount(facts, verb.end(), verb.start())


def _amount(facts: Facts, begin: int, default: int) -> int:
    """Where the amount of a change stands, when it comes last: 延长明天的评审半小时."""
    starts = [shift.span[0] for shift in facts.moves if shift.span[0] >= begin]
    if facts.repeat is not None and facts.repeat.span[0] >= begin:
        starts.append(facts.repeat.span[0])
    return starts[-1] if starts else default


def find_change(
    folded: str,
    said: str,
    whole: Facts,
    *,
    lexicon: Lexicon,
    now: datetime,
    hours: OpeningHours,
    draft: DraftView,
) -> Change:
    """Read a change to a stored booking, whose facts as a whole are `whole`: 把下周三的站会改到下午2点."""
    before, after = split_change(folded, whole)
    named = gather(before, said, lexicon=lexicon, now=now)
    old, _ = time_and_place(named, said, now=now, hours=hours)
    new, problems = time_and_place(
        gather(after, said, lexicon=lexicon, now=now), said, now=now, hours=hours
    )
    _keep_days(new, whole)
    if "start_time" in new and cues.LENGTHEN.search(folded):
        new["end_time"] = new.pop("start_time")
    for shift in whole.moves:
        new.pop("duration_minutes", None)
        if "start_time" in new and new["start_time"].rule == "start.later":
            del new["start_time"], new["date"]
        new[shift.kind] = Found(shift.minutes, shift.span, f"{shift.kind}.said")
    ref = find(before, named, old, lexicon, last=draft.phase == "BOOKED")
    if _is_named_behind(before, after, lexicon):
        ref = find(folded, whole, new, lexicon, last=False)
        new = {key: found for key, found in new.items() if key not in _NAMING}
    said_scope = "all" if whole.repeat is not None else scopes.scope_of(folded)
    if said_scope is not None and ref.scope in {None, "this"}:
        ref = replace(ref, scope=said_scope)
    return Change(ref, new, problems)


_NAMING = ("date", "start_time", "room", "title", "window")


def _is_named_behind(before: str, after: str, lexicon: Lexicon) -> bool:
    """Whether the verb leads and what follows says which booking, not what becomes of it: 改一下明天的会."""
    noun = cues.BOOKING_NOUN
    if noun.search(before) or titles.named(before, lexicon.own):
        return False
    return bool(noun.search(after) or titles.named(after, lexicon.own))


def _keep_days(new: dict[str, Found], whole: Facts) -> None:
    """A change of a series keeps its days where none are said: every other week, 每周都改到10点."""
    repeat = whole.repeat
    if repeat is None or "recurrence" not in new:
        return
    if new["date"].rule == "date.first_of_series":
        del new["date"]
    rule = new["recurrence"]
    if not repeat.byday:
        new["recurrence"] = replace(rule, value={**rule.value, "byday": []})
    if not repeat.byday and repeat.freq == "WEEKLY" and repeat.interval == 1:
        del new["recurrence"]


def time_and_place(
    facts: Facts, said: str, *, now: datetime, hours: OpeningHours
) -> tuple[dict[str, Found], tuple[Problem, ...]]:
    """The slots of a text read on its own, without a draft and without assuming today."""
    slots, problems = when.decide(
        facts, said, now=now, opening=hours, draft=DraftView(), may_assume_today=False
    )
    more, others = collect(facts, said, DraftView())
    return {**more, **slots}, (*problems, *others)
