"""The nodes that change a stored booking of the person's: find it, ask for a yes, do it.

What is asked about is kept in `dialogue.target`: the wish (`wish`) until everything is known, and
then also exactly what a yes will do. Only a target with an `intent` can be done.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import time
from functools import partial
from typing import Any

from langgraph.graph import END
from langgraph.runtime import Runtime

from agentruntime.execution.context import RunContext
from booking.agent import acts, answers, changes, offers, questions, targets, tools
from booking.agent.state import (
    OPEN_PHASES,
    BookingState,
    fresh_dialogue,
    parked,
    reset,
    resumed,
)
from booking.agent.texts import day_text, span_text, text
from booking.agent.tools import OwnUse
from booking.agent.wishes import wish_of
from booking.exceptions import (
    BookingError,
    PolicyViolation,
    RoomUnavailable,
    SeriesClash,
    VersionConflict,
)
from booking.selectors import RoomRequest, SearchResult, SeriesPlan

Context = Runtime[RunContext]
Update = dict[str, Any]
Wish = dict[str, Any]

CARDS, OTHER_ROOMS = 4, 3
"""How many cards what cannot be is answered with, and how many of them are other rooms."""


async def find_target(state: BookingState, runtime: Context) -> Update:
    """Find which of the person's own bookings is meant, and ask for a yes to the change."""
    context, said = runtime.context, state["dialogue"]
    update = await _found(state, context)
    if update["dialogue"]["target"] is not None:  # a draft waits; what was booked before is none
        return {"slots": {}, "dialogue": {**update["dialogue"], "parked": parked(state)}}
    return update if said["phase"] in OPEN_PHASES else {"slots": {}, **update}


async def _found(state: Mapping[str, Any], context: RunContext) -> Update:
    said = state["dialogue"]
    wish, language = said["wants"], said["language"]
    ref = wish.get("ref") or {}
    if ref.get("owner") or ref.get("everyone"):
        return _tell(said, {"kind": "not_yours"})
    uses = await context.read(tools.own_bookings, context.owner_id, now=context.now)
    result = state["result"]
    last = result.get("bookings") or [result.get("booking_id")]
    found = targets.fitting(wish, uses, last=last)
    named, dates = await _on_named_date(found, wish, context)
    if len(named) > 1:
        known = await context.read(tools.knowledge, context.owner_id, now=context.now)
        question = targets.which(named, known.rooms, wish["kind"], language)
        return _ask(
            said, wish, question, phase="AWAITING_SELECTION", cards=question["data"]["alternatives"]
        )
    if not named:
        return _tell(said, _none(found, wish, language))
    use = named[0]
    return await _asked(said, _settled(wish, use), use, dates, context)


def _tell(said: Mapping[str, Any], wants: Mapping[str, Any]) -> Update:
    return {"dialogue": {**said, "next": "answer", "asides": [dict(wants)]}}


def _ask(
    said: Mapping[str, Any],
    wish: Wish,
    question: questions.Question,
    *,
    phase: str = "CONFIRMING",
    asks: Sequence[str] = (),
    target: Mapping[str, Any] | None = None,
    options: Sequence[tuple[str, Any]] = (),
    cards: Sequence[Mapping[str, Any]] = (),
) -> Update:
    """Ask about a stored booking; whatever was open before is void (P14)."""
    return {
        "dialogue": {
            **fresh_dialogue(said["language"]),
            "phase": phase,
            "next": "ask",
            "preface": said["preface"],
            "asks": list(asks),
            "options": [list(each) for each in options],
            "candidates": [dict(card) for card in cards],
            "target": dict(target or {"kind": wish["kind"], "wish": wish}),
            "question": question,
        }
    }


async def _on_named_date(
    found: Sequence[OwnUse], wish: Wish, context: RunContext
) -> tuple[list[OwnUse], dict[int, list[OwnUse]]]:
    """The same bookings, a series by the date that was named; and every date of a series."""
    day = targets.wanted_date(wish)
    is_from = (wish.get("ref") or {}).get("scope") == "following"
    named, dates = [], {}
    for use in found:
        if not use.is_series or (day is None and len(found) > 1):
            named.append(use)
            continue
        every = await context.read(tools.dates_of, context.owner_id, use.booking, now=context.now)
        dates[use.booking] = every
        that = targets.on_date(every, day, is_from=is_from) if day else use
        if that is not None:
            named.append(that)
    return named, dates


def _none(found: Sequence[OwnUse], wish: Wish, language: str) -> dict[str, Any]:
    """Why no booking is meant: there is none like that, or its series is not on that day."""
    day = targets.wanted_date(wish)
    if len(found) != 1 or day is None or not (wish.get("ref") or {}).get("title"):
        return {"kind": "no_booking"}
    use = found[0]
    when = span_text(use.starts_at, use.ends_at, language)
    words = text("no.date", language, title=use.title, day=day_text(day, language), when=when)
    return {"kind": "words", "words": words}


def _settled(wish: Wish, use: OwnUse) -> Wish:
    """The wish with the booking that is meant, so that what is said next is about the same."""
    occurrence = use.recurrence_date.isoformat() if use.recurrence_date else None
    return {**wish, "chosen": {"booking": use.booking, "occurrence": occurrence}}


async def _asked(
    said: Mapping[str, Any],
    wish: Wish,
    use: OwnUse,
    dates: Mapping[int, list[OwnUse]],
    context: RunContext,
) -> Update:
    """Ask for what is open, else for the yes."""
    language = said["language"]
    moves = wish["kind"] == "move_booking"
    if moves and (changes.is_empty(wish) or wish.get("asks")):
        asks = wish.get("asks") or []
        ask = questions.clarify(
            asks=asks, slots={}, language=language, options=wish.get("options") or ()
        )
        if not asks:
            ask = {**ask, "message": text("ask.change", language)}
        slots = changes.move(wish, use, None)["slots"]
        options = wish.get("options") or ()
        target = {"kind": wish["kind"], "wish": wish, "slots": slots}
        return _ask(said, wish, ask, asks=asks, options=options, target=target)
    scope = changes.scope_of(wish, use)
    if use.is_series and scope is None:
        return _ask_scope(said, wish, use)
    every = dates.get(use.booking, [])
    if use.is_series and not every:
        every = await context.read(tools.dates_of, context.owner_id, use.booking, now=context.now)
    if not moves:
        touched = _touched(every, use, scope)
        change = changes.cancellation(wish, use, scope, touched)
        days = [each.starts_at.date() for each in touched]
        ask = changes.question(change, use, language, dates=days)
        return _ask(said, wish, ask, target=change)
    if scope in {"following", "all"}:
        return await _several(said, wish, use, scope, context)
    return await _one(said, wish, use, scope, context)


def _touched(every: Sequence[OwnUse], use: OwnUse, scope: str | None) -> list[OwnUse]:
    if scope == "all":
        return list(every)
    if scope == "following":
        since = use.recurrence_date
        return [each for each in every if since and (each.recurrence_date or since) >= since]
    return [use]


def _ask_scope(said: Mapping[str, Any], wish: Wish, use: OwnUse) -> Update:
    language = said["language"]
    day = day_text(use.starts_at.date(), language)
    title = use.title or text("series.name", language)
    words = {each: text(f"scope.{each}", language, day=day) for each in changes.SCOPES}
    question = {
        "kind": "clarify",
        "message": text(f"ask.scope.{wish['kind']}", language, title=title, day=day),
        "data": {"missing": ["scope"], "options": list(words.values())},
    }
    options = [("scope", each) for each in changes.SCOPES]
    target = {
        "kind": wish["kind"],
        "series": use.booking,
        "occurrence": wish["chosen"]["occurrence"],
        "scope": None,
        "wish": wish,
    }
    return _ask(said, wish, question, asks=["scope"], options=options, target=target)


async def _one(
    said: Mapping[str, Any], wish: Wish, use: OwnUse, scope: str | None, context: RunContext
) -> Update:
    """Ask for a yes to the change of one booking or one date; if it cannot be, offer what can."""
    language, slots = said["language"], wish.get("slots") or {}
    change = changes.move(wish, use, scope)
    request = changes.request_of(change, slots)
    if slots.get("size") and not slots.get("room"):
        request = await _of_size(request, use, slots["size"], context)
    result = await context.read(tools.search, context.owner_id, request, now=context.now)
    fits = [each for each in result.candidates if changes.is_wanted(each, use, request, slots)]
    if fits:
        change["room"] = change["slots"]["room"] = fits[0].room
        if not changes.differs(change, use):
            return _tell(said, {"kind": "same"})
        ask = changes.question(change, use, language)
        return _ask(said, wish, ask, target=change)
    return await _instead(said, wish, change, result, context)


async def _of_size(
    request: RoomRequest, use: OwnUse, size: str, context: RunContext
) -> RoomRequest:
    """The wish for another room than the one there is: a larger one seats more than that one."""
    day = request.starts_at.date()
    found = await context.read(
        tools.day_grid, context.owner_id, day=day, now=context.now, room=use.room
    )
    seats = found[0].facts.seats if found else request.headcount
    least = max(seats + 1, request.headcount) if size == "larger" else request.headcount
    return replace(request, room=None, headcount=least)


async def _instead(
    said: Mapping[str, Any],
    wish: Wish,
    change: changes.Change,
    result: SearchResult,
    context: RunContext,
) -> Update:
    """Say why the change cannot be, and offer the nearest that can."""
    language = said["language"]
    known = await context.read(tools.knowledge, context.owner_id, now=context.now)
    request = changes.request_of(change, wish.get("slots") or {})
    why = text("taken.then", language, room=change["room"])
    if result.refusal is not None:
        why = answers.refusal_text(result.refusal, language)
        why = questions.lines(why, offers.nearest_text(result.refusal, known.zone, language))
    others = [
        offers.alternative_card(each, known.rooms, known.features, request, language)
        for each in result.alternatives
    ]
    cards = [*await _free_then(wish, request, result, known, context, language), *others][:CARDS]
    target = {key: change[key] for key in ("kind", "slots", "wish")}
    if not cards:
        refusal = result.refusal
        asks = [offers.ASKS[refusal.rule]] if refusal and refusal.rule in offers.ASKS else []
        ask = questions.clarify(asks=asks, slots={}, language=language)
        message = questions.lines(why, ask["message"])
        data = {**ask["data"], "rule": refusal.rule if refusal else "none_free"}
        return _ask(said, wish, {**ask, "message": message, "data": data}, asks=asks, target=target)
    message = questions.lines(why, text("choose.instead", language))
    question = questions.select_room(ask=message, cards=cards)
    return _ask(said, wish, question, phase="AWAITING_SELECTION", target=target, cards=cards)


async def _free_then(
    wish: Wish,
    request: RoomRequest,
    result: SearchResult,
    known: tools.Knowledge,
    context: RunContext,
    language: str,
) -> list[dict[str, Any]]:
    """Other rooms that can be had at once at the time that was asked for, of the same building first.

    A room that nobody named in this change is less of a wish than its time.
    """
    room = known.rooms.get(request.room or "")
    if result.refusal is not None or room is None or (wish.get("slots") or {}).get("room"):
        return []
    for building in (room.building, None):
        anywhere = replace(request, room=None, building=building)
        found = await context.read(tools.search, context.owner_id, anywhere, now=context.now)
        at_once = [each for each in found.candidates if not each.needs_approval]
        if at_once:
            chosen = at_once[:OTHER_ROOMS]
            return [offers.card_of(each, known.features, language) for each in chosen]
    return []


async def _several(
    said: Mapping[str, Any], wish: Wish, use: OwnUse, scope: str, context: RunContext
) -> Update:
    """Ask for a yes to the change of several dates, those that cannot be had named."""
    language, slots = said["language"], wish.get("slots") or {}
    is_weekly = changes.is_weekly(use)
    if slots.get("date") and not slots.get("recurrence") and not is_weekly:
        return _tell(said, {"kind": "words", "words": text("series.days", language)})
    change = changes.move(wish, use, scope)
    rule = changes.rule_of(slots, use, is_weekly=is_weekly)
    try:
        plan = await context.read(
            tools.preview_change,
            context.owner_id,
            use.booking,
            since=None if scope == "all" else use.recurrence_date,
            start=time.fromisoformat(change["new_start"]),
            minutes=change["duration_minutes"],
            room=change["room"],
            rule=rule,
            now=context.now,
        )
    except BookingError as error:
        return _tell(said, {"kind": "words", "words": answers.error_text(error, language)})
    refusal = next((each.refusal for each in plan.dates if not each.is_skippable), None)
    if refusal is not None or not plan.possible:
        return _impossible(said, wish, change, plan, language)
    change = changes.of_dates(change, plan, rule)
    days = [each.date for each in plan.possible]
    left_out = answers.left_out_text(plan.clashes, language)
    ask = changes.question(change, use, language, dates=days, left_out=left_out)
    return _ask(said, wish, ask, target=change)


def _impossible(
    said: Mapping[str, Any], wish: Wish, change: changes.Change, plan: SeriesPlan, language: str
) -> Update:
    """No date, or not by that rule: say why, and ask for something else."""
    worst = next((each for each in plan.dates if not each.is_skippable), plan.dates[0])
    why = answers.clash_text(worst, language)
    asks = [offers.ASKS[worst.code]] if worst.code in offers.ASKS else []
    ask = questions.clarify(asks=asks, slots={}, language=language)
    question = {
        **ask,
        "message": questions.lines(why, ask["message"]),
        "data": {**ask["data"], "rule": worst.code},
    }
    target = {key: change[key] for key in ("kind", "slots", "wish")}
    return _ask(said, wish, question, asks=asks, target=target)


# What goes back to the search, so that the person hears what could be had instead.
_LOST = (RoomUnavailable, PolicyViolation, SeriesClash, VersionConflict)


async def change(state: BookingState, runtime: Context) -> Update:
    """Cancel or change exactly what was confirmed; what cannot be done any more is asked again."""
    context, said = runtime.context, state["dialogue"]
    language, target = said["language"], said["target"]
    if said["consent"] != questions.digest(target):
        return {"dialogue": {**said, "next": "ask"}}
    kept = {k: v for k, v in target.items() if k not in {"intent", "wish", "slots"}}
    try:
        result = await context.effect(
            target["kind"],
            key=target["intent"],
            arguments={**kept, "digest": said["consent"]},
            call=partial(acts.change, owner_id=context.owner_id, target=target, now=context.now),
        )
    except _LOST as error:
        words = answers.error_text(error, language)
        return {"dialogue": {**said, "next": "target", "wants": wish_of(target), "preface": words}}
    except BookingError as error:
        words = questions.lines(said["preface"], answers.error_text(error, language))
        context.say(words, kind="complete", data={})
        return {**reset(language), "dialogue": {**fresh_dialogue(language), "next": END}}
    words = questions.lines(said["preface"], answers.changed_text(target, result, language))
    if said.get("parked"):
        draft = resumed(state)
        return {**draft, "dialogue": {**draft["dialogue"], "preface": words}}
    context.say(words, kind="complete", data=result)
    dialogue = {**fresh_dialogue(language), "next": END}
    return {**reset(language), "dialogue": dialogue, "result": result}
