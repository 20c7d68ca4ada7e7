"""Booking a series: rooms date by date, and a yes to exactly the dates that will be."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from agentruntime.execution.context import RunContext
from booking.agent import answers, offers, questions, tools
from booking.agent.texts import dates_text, day_text, joined, rhythm_text, text
from booking.selectors import RoomRequest, SeriesOffer, SeriesPlan

State = dict[str, Any]


def rule_of(recurrence: Mapping[str, Any]) -> str:
    """A recurrence as understanding gives it, as an RFC 5545 rule."""
    parts = {
        "FREQ": recurrence["freq"],
        "INTERVAL": recurrence.get("interval"),
        "COUNT": recurrence.get("count"),
        "UNTIL": (recurrence.get("until") or "").replace("-", ""),
        "BYDAY": ",".join(recurrence.get("byday") or ()),
        "BYMONTHDAY": ",".join(map(str, recurrence.get("bymonthday") or ())),
    }
    if parts["COUNT"] and parts["UNTIL"]:
        parts["COUNT"] = None
    return ";".join(f"{name}={value}" for name, value in parts.items() if value)


async def search(
    state: Mapping[str, Any], request: RoomRequest, known: tools.Knowledge, context: RunContext
) -> State:
    """The state that offers rooms for every date, or asks for the yes to one of them."""
    state = await _ended(state, context)
    language = state["dialogue"]["language"]
    rule = rule_of(state["slots"]["recurrence"])
    found = await context.read(
        tools.search_series, context.owner_id, request, rule=rule, now=context.now
    )
    if found.offers and request.room:
        return _confirm(state, found.offers[0], request, known)
    if found.offers:
        cards = [_card(each, known, language) for each in found.offers]
        return offers.offer(state, cards, (), "")
    if found.refusal is not None:
        words = answers.refusal_text(found.refusal, language)
        is_end = found.refusal.rule == "horizon" and state["slots"]["recurrence"].get("until")
        asks = ["until"] if is_end else None
        return offers.refused(state, found.refusal, words, request, asks=asks)
    result = await context.read(tools.search, context.owner_id, request, now=context.now)
    words = text("series.none", language)
    if result.refusal is not None:
        words = answers.refusal_text(result.refusal, language)
    return offers.after_search(
        state,
        replace(result, candidates=()),
        request,
        rooms=known.rooms,
        features=known.features,
        refusal_text=words,
    )


async def _ended(state: Mapping[str, Any], context: RunContext) -> State:
    """A series that nobody gave an end goes on as far as can be booked, which is read back."""
    recurrence, said = state["slots"]["recurrence"], state["dialogue"]
    if recurrence.get("count") or recurrence.get("until"):
        return dict(state)
    last = await context.read(tools.last_bookable_day, context.owner_id, now=context.now)
    first = date.fromisoformat(state["slots"]["date"])
    until = max(last or first, first)
    words = text("assumed.until", said["language"], day=day_text(until, said["language"]))
    slots = {**state["slots"], "recurrence": {**recurrence, "until": until.isoformat()}}
    dialogue = {
        **said,
        "assumed": sorted({*said["assumed"], "recurrence"}),
        "preface": questions.lines(said["preface"], words),
    }
    return {**state, "slots": slots, "dialogue": dialogue}


def _card(offer: SeriesOffer, known: tools.Knowledge, language: str) -> dict[str, Any]:
    card = offers.card_of(offer.room, known.features, language)
    words = [_free_on(offer.plan, language), card["reason"]]
    return {**card, "reason": text("comma", language).join(each for each in words if each)}


def _free_on(plan: SeriesPlan, language: str) -> str:
    """Free on all dates, or on how many of them and not on which."""
    count, total = len(plan.possible), len(plan.dates)
    if not plan.clashes:
        return text("series.free", language, count=total)
    missing = joined([day_text(each.date, language) for each in plan.clashes[:MISSING]], language)
    more = len(plan.clashes) - MISSING
    if more > 0:
        missing = text("series.more", language, days=missing, more=more)
    return text("series.partly", language, count=count, total=total, days=missing)


MISSING = 3


def _confirm(
    state: State, offer: SeriesOffer, request: RoomRequest, known: tools.Knowledge
) -> State:
    """Ask for a yes to these dates in this room; the dates that cannot be had are named."""
    dialogue, slots, plan = state["dialogue"], state["slots"], offer.plan
    language, zone = dialogue["language"], request.starts_at.tzinfo
    first = plan.possible[0]
    starts_at, ends_at = (each.astimezone(zone) for each in (first.starts_at, first.ends_at))
    what = {
        "room": offer.room.room,
        "first": slots["date"],
        "start": slots["start_time"],
        "minutes": slots["duration_minutes"],
        "recurrence": plan.rule,
        "on_clash": "skip" if plan.clashes else "refuse",
        "dates": len(plan.possible),
        "starts_at": starts_at.isoformat(),
        "ends_at": ends_at.isoformat(),
        "headcount": request.headcount,
        "title": slots.get("title") or "",
        "intent": uuid.uuid4().hex,
    }
    days = [each.date for each in plan.possible]
    rows = offers.rows_of(offer.room, request, slots, known.features, language)
    span = f"{rhythm_text(plan.rule, language)} {starts_at:%H:%M}–{ends_at:%H:%M} ({zone})"
    rows[1] = ("start_time", text("label.time", language), span)
    rows.insert(2, ("dates", text("label.dates", language), dates_text(days, language)))
    ask = text("confirm", language)
    if plan.clashes:
        lost = answers.left_out_text(plan.clashes, language)
        rows.insert(3, ("left_out", text("label.left_out", language), lost))
        ask = text("confirm.without", language, count=len(days))
    return offers.confirming(state, offer.room, known.features, what, rows, ask)
