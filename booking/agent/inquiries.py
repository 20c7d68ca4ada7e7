"""Answers to what the person asks: their bookings, who has a room, what is free, why not that one.

Reads as the owner, through the context. What a private booking is about is nobody else's: uses of
rooms come from the selectors, which mask them by the one function for every output.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from agentruntime.execution.context import RunContext
from booking.agent import answers, offers, questions, targets, tools
from booking.agent.state import REQUIRED
from booking.agent.texts import day_text, duration_text, joined, span_text, text
from booking.selectors import RoomDay, RoomRequest, RoomUse

GUESSED_MINUTES = 60
MOST_LINES = 10
MOST_STARTS = 6
MOST_DAYS = 7


@dataclass(frozen=True, kw_only=True)
class Told:
    """An answer, and what may be tapped to go on from it (words the person could have typed)."""

    words: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """A question's facts: first and last day, start and end of a time, as far as they were said."""

    slots: Mapping[str, Any]
    language: str
    known: tools.Knowledge
    context: RunContext
    draft: Mapping[str, Any]
    is_upcoming: bool = False
    unknown: str = ""

    @property
    def today(self) -> date:
        return self.now.date()

    @property
    def now(self) -> datetime:
        return self.context.now.astimezone(self.known.zone)

    @property
    def days(self) -> tuple[date, date] | None:
        """The days that were named, the first and the last."""
        if self.slots.get("period"):
            first, last = self.slots["period"]
            return date.fromisoformat(first), date.fromisoformat(last)
        if self.slots.get("date"):
            day = date.fromisoformat(self.slots["date"])
            return day, day
        has_time = self.slots.get("start_time") or self.slots.get("window")
        return (self.today, self.today) if has_time else None

    @property
    def minutes(self) -> int | None:
        said = self.slots.get("duration_minutes")
        return int(said) if said else None

    def span(self) -> tuple[datetime, datetime] | None:
        """The time that was named on the first day: a start, with a length, or a part of the day."""
        if self.days is None or self.days[0] != self.days[1]:
            return None
        if self.slots.get("start_time"):
            start = self._at(self.slots["start_time"])
            if self.slots.get("end_time"):
                return start, self._at(self.slots["end_time"])
            return start, start + timedelta(minutes=self.minutes or GUESSED_MINUTES)
        if self.slots.get("window"):
            first, last = self.slots["window"]
            return self._at(first), self._at(last)
        return None

    def _at(self, wall: str) -> datetime:
        day = self.days[0] if self.days else self.today
        return datetime.combine(day, time.fromisoformat(wall), self.known.zone)


async def answer(state: Mapping[str, Any], wants: Mapping[str, Any], context: RunContext) -> Told:
    """The answer to one question of the person's, in their language."""
    said = state["dialogue"]
    teller = _TELLERS.get(wants["kind"])
    if teller is None:
        return Told(words=answers.aside_text(wants, said["phase"], said["language"]))
    slots = {k: v for k, v in (wants.get("slots") or {}).items() if v is not None}
    asked = _Asked(
        slots=slots,
        language=said["language"],
        known=await context.read(tools.knowledge, context.owner_id, now=context.now),
        context=context,
        draft=state["slots"],
        is_upcoming=bool(wants.get("upcoming")),
        unknown=wants.get("unknown", ""),
    )
    if asked.unknown and not slots.get("room"):
        return Told(words=text("room.unknown", said["language"], room=asked.unknown))
    if wants["kind"] == "room":
        teller = {"features": _facts, "why": _why}.get(wants.get("about") or "", _room)
    return await teller(asked)


async def _mine(asked: _Asked) -> Told:
    """One's own bookings: of the days that were named, the next one, or all that are to come."""
    context, language = asked.context, asked.language
    if asked.days is None:
        uses = await context.read(tools.own_bookings, context.owner_id, now=context.now)
        span = text("span.soon", language)
    else:
        uses = await context.read(
            tools.own_uses,
            context.owner_id,
            now=context.now,
            days=asked.days,
            zone=asked.known.zone,
        )
        span = _days_text(asked, language)
    within = asked.span()
    if within is not None:
        uses = [each for each in uses if each.starts_at < within[1] and within[0] < each.ends_at]
        span = span_text(*within, language)
    if asked.is_upcoming:
        uses = [each for each in uses if each.starts_at > asked.now][:1]
        span = text("span.soon", language)
    if not uses:
        return Told(words=text("mine.none", language, span=span))
    lines = targets.listed(uses[:MOST_LINES], language, with_rhythm=asked.days is None)
    if len(uses) > MOST_LINES:
        more = text("mine.more", language, count=len(uses) - MOST_LINES)
        lines = questions.lines(lines, more)
    return Told(words=text("mine.some", language, span=span, lines=lines))


def _days_text(asked: _Asked, language: str) -> str:
    first, last = asked.days or (asked.today, asked.today)
    if first == last == asked.today:
        return text("span.today", language)
    if first == last:
        return text("span.day", language, day=day_text(first, language))
    return text(
        "span.days", language, first=day_text(first, language), last=day_text(last, language)
    )


async def _room(asked: _Asked) -> Told:
    """Who has a room: now, at the time that was named, or on that day."""
    code, language = asked.slots.get("room"), asked.language
    if not code:
        return Told(words=text("ask.room", language))
    span = asked.span()
    is_now = span is not None and span[0] <= asked.now < span[1] and "window" not in asked.slots
    if asked.days is None or is_now:
        return Told(words=await answers.room_now(code, asked.known.zone, language, asked.context))
    first, last = asked.days
    days = [first + timedelta(days=n) for n in range(min((last - first).days + 1, MOST_DAYS))]
    parts = [await _room_on(asked, code, day, span) for day in days]
    return Told(words="\n".join(parts))


async def _room_on(
    asked: _Asked, code: str, day: date, span: tuple[datetime, datetime] | None
) -> str:
    language = asked.language
    found = await _grid(asked, day, room=code)
    if not found:
        return text("room.unknown", language, room=code)
    [shown] = found
    first, last = span or (shown.day.starts_at, shown.day.ends_at)
    uses = [each for each in shown.uses if each.starts_at < last and first < each.ends_at]
    when = span_text(*span, language) if span else day_text(day, language)
    if not shown.hours:
        return text("room.closed", language, room=code, when=when)
    if not uses:
        return text("room.free_then", language, room=code, when=when)
    lines = [_use_text(each, asked, language) for each in uses]
    free = _gaps_text(shown, asked, language)
    return questions.lines(text("room.uses", language, room=code, when=when), *lines, free)


def _use_text(use: RoomUse, asked: _Asked, language: str) -> str:
    """One use of a room, as far as the person may know."""
    zone = asked.known.zone
    times = f"{use.starts_at.astimezone(zone):%H:%M}–{use.ends_at.astimezone(zone):%H:%M}"
    if use.kind == "blackout":
        return text("room.shut", language, times=times, why=use.title or "")
    if use.organizer is None:
        return text("room.taken", language, times=times)
    title = f" · {use.title}" if use.title else ""
    return text("room.use", language, times=times, who=use.organizer, title=title)


def _gaps_text(shown: RoomDay, asked: _Asked, language: str) -> str:
    zone = asked.known.zone
    gaps = [
        f"{max(each.starts_at, asked.now).astimezone(zone):%H:%M}–{each.ends_at.astimezone(zone):%H:%M}"
        for each in shown.free
        if each.ends_at > asked.now
    ]
    if not gaps:
        return ""
    return text("room.gaps", language, times=joined(gaps, language))


async def _grid(asked: _Asked, day: date, **wish: Any) -> list[RoomDay]:
    context = asked.context
    return await context.read(tools.day_grid, context.owner_id, day=day, now=context.now, **wish)


async def _facts(asked: _Asked) -> Told:
    """What a room has, and whether that is what was asked about."""
    code, language = asked.slots.get("room"), asked.language
    found = await _grid(asked, asked.today, room=code) if code else []
    if not found:
        return Told(words=text("room.unknown" if code else "ask.room", language, room=code))
    facts = found[0].facts
    named = {each: _feature(asked, each) for each in (*facts.features, *_wished(asked))}
    lines = [
        text("room.has" if each in facts.features else "room.has_not", language,
             room=code, feature=named[each])
        for each in _wished(asked)
    ]  # fmt: skip
    has = joined(sorted(named[each] for each in facts.features), language)
    key = "room.facts" if has else "room.seats"
    lines.append(text(key, language, room=code, seats=facts.seats, features=has))
    if facts.needs_approval:
        lines.append(text("room.approval", language, room=code))
    return Told(words=questions.lines(*lines))


def _wished(asked: _Asked) -> Sequence[str]:
    return asked.slots.get("features") or ()


def _feature(asked: _Asked, code: str) -> str:
    return asked.known.features.get(code, {}).get(asked.language, code)


async def _why(asked: _Asked) -> Told:
    """Why a room is not on offer for the wish that is open: the rule, or who has it then."""
    code, language = asked.slots.get("room") or asked.draft.get("room"), asked.language
    if not code:
        return Told(words=text("ask.room", language))
    guessed = {"duration_minutes": GUESSED_MINUTES, "capacity": 1}
    wish = {**guessed, **asked.draft, **asked.slots, "room": code}
    if any(wish.get(slot) is None for slot in REQUIRED):
        return await _facts(asked)
    request = offers.request_of(wish, asked.known.zone, selected=None)
    context = asked.context
    result = await context.read(tools.search, context.owner_id, request, now=context.now)
    if result.refusal is not None:
        why = answers.refusal_text(result.refusal, language)
        nearest = offers.nearest_text(result.refusal, asked.known.zone, language)
        return Told(words=questions.lines(why, nearest))
    if result.candidates:
        found = result.candidates[0]
        key = "why.approval" if found.needs_approval else "why.fits"
        return Told(
            words=text(key, language, room=code, why=_spare(found.seats, request, language))
        )
    on_day = await _room_on(
        asked, code, request.starts_at.date(), (request.starts_at, request.ends_at)
    )
    other_times = [each for each in result.alternatives if each.room == code][:1]
    lines = [
        text("nearest", language, when=span_text(
            each.starts_at.astimezone(asked.known.zone),
            each.ends_at.astimezone(asked.known.zone), language))
        for each in other_times
    ]  # fmt: skip
    return Told(words=questions.lines(on_day, *lines))


def _spare(seats: int, request: RoomRequest, language: str) -> str:
    spare = seats - request.headcount
    return (
        text("reason.spare_seats", language, spare) if spare else text("reason.exact_fit", language)
    )


async def _free(asked: _Asked) -> Told:
    """What is free: rooms at a time, or the times at which a room that fits can start."""
    if asked.slots.get("room"):
        return await _room(asked)
    if asked.days is None:
        return Told(words=text("free.need", asked.language))
    if asked.slots.get("start_time"):
        return await _free_rooms(asked)
    return await _free_starts(asked)


async def _free_rooms(asked: _Asked) -> Told:
    """The rooms that are free for a whole span of time, with words that book each."""
    language = asked.language
    span = asked.span()
    if span is None:
        return Told(words=text("free.need", language))
    first, last = span
    when = span_text(first, last, language)
    found = await _grid(asked, first.date(), building=asked.slots.get("building"),
                        seats=asked.slots.get("capacity") or 1, features=_wished(asked))  # fmt: skip
    floor = asked.slots.get("floor")
    free = [
        each
        for each in found
        if (floor is None or each.facts.floor == floor)
        and each.can_be_had
        and any(gap.starts_at <= first and last <= gap.ends_at for gap in each.free)
    ]
    if not free or last <= asked.now:
        return Told(words=text("free.none", language, when=when))
    free.sort(key=lambda each: (each.facts.needs_approval, each.facts.seats, each.facts.code))
    lines = [
        text("free.room.approval" if each.facts.needs_approval else "free.room", language,
             room=each.facts.code, seats=each.facts.seats)
        for each in free[:MOST_LINES]
    ]  # fmt: skip
    guessed = ""
    if not asked.minutes and not asked.slots.get("end_time"):
        guessed = text("free.guessed", language, minutes=duration_text(GUESSED_MINUTES, language))
    words = text("free.rooms", language, when=when, lines="\n".join(lines))
    options = tuple(
        text("say.book", language, room=each.facts.code, when=_spoken(first, last, language))
        for each in free[: targets.MOST_CARDS // 2]
    )
    return Told(words=questions.lines(words, guessed), options=options)


def _spoken(first: datetime, last: datetime, language: str) -> str:
    """A time as a person would type it."""
    if language == "zh":
        return f"{first.month}月{first.day}日{first:%H:%M}-{last:%H:%M}"
    return f"{first:%B} {first.day} {first:%H:%M}-{last:%H:%M}"


async def _free_starts(asked: _Asked) -> Told:
    language, context = asked.language, asked.context
    first, last = asked.days or (asked.today, asked.today)
    window = asked.slots.get("window") or ("00:00", "00:00")
    lines = []
    for number in range(min((last - first).days + 1, MOST_DAYS)):
        day = first + timedelta(days=number)
        starts = await context.read(
            tools.free_starts,
            context.owner_id,
            date=day,
            window=(time.fromisoformat(window[0]), time.fromisoformat(window[1])),
            minutes=asked.minutes or GUESSED_MINUTES,
            headcount=asked.slots.get("capacity") or 1,
            building=asked.slots.get("building"),
            floor=asked.slots.get("floor"),
            features=tuple(_wished(asked)),
            now=context.now,
        )
        if starts:
            shown = [
                f"{each.astimezone(asked.known.zone):%H:%M}" for each in spread(starts, MOST_STARTS)
            ]
            times = text("comma", language).join(shown)
            lines.append(text("free.day", language, day=day_text(day, language), starts=times))
    if not lines:
        return Told(words=text("free.none", language, when=_days_text(asked, language)))
    minutes = duration_text(asked.minutes or GUESSED_MINUTES, language)
    ask = text("free.when" if asked.slots.get("capacity") else "free.ask", language)
    return Told(
        words=text("free.starts", language, minutes=minutes, lines="\n".join(lines), ask=ask)
    )


def spread(starts: Sequence[datetime], most: int) -> list[datetime]:
    """At most `most` of them, evenly; full hours first where there are enough."""
    hours = [each for each in starts if each.minute == 0]
    chosen = hours if len(hours) >= most // 2 else list(starts)
    step = max(1, -(-len(chosen) // most))
    return chosen[::step]


_TELLERS = {"mine": _mine, "room": _room, "free": _free}
