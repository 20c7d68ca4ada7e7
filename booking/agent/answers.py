"""What the agent tells: outcomes, refusals, and answers to questions of the person's.

`answer` reads as the owner, through the context; the rest is pure but for Django's catalogue.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from django.utils.translation import override

from agentruntime.execution.context import RunContext
from booking.agent import targets, tools
from booking.agent.state import OPEN_PHASES
from booking.agent.texts import DATES_NAMED, day_text, joined, rhythm_text, span_text, text
from booking.exceptions import BookingError, RoomNotFound, explain
from booking.selectors import PlannedDate, Refusal

_PLAIN = {
    "already_booked": "already_booked",
    "dropped": "dropped",
    "free": "free.need",
    "injection": "injection",
    "kept": "kept",
    "no_booking": "no.booking",
    "not_yours": "not_yours",
    "nothing_open": "nothing_open",
    "same": "same",
    "scope": "scope",
}


def refusal_text(refusal: Refusal, language: str) -> str:
    """Why a rule says no."""
    with override("zh-hans" if language == "zh" else "en"):
        return explain(refusal)


def booked_text(result: Mapping[str, Any], language: str) -> str:
    """What was booked, or asked for."""
    key = "pending" if result["status"] == "pending" else "booked"
    if result.get("rule"):
        first, last = (datetime.fromisoformat(result[each]) for each in ("start", "end"))
        return text(
            f"{key}.series",
            language,
            room=result["room_id"],
            rhythm=rhythm_text(result["rule"], language),
            time=f"{first:%H:%M}–{last:%H:%M}",
            count=result["dates"],
            first=day_text(first.date(), language),
        )
    return text(key, language, room=result["room_id"], when=_when(result, language))


def error_text(error: BookingError, language: str) -> str:
    """What a service could not do."""
    return error.message("zh-hans" if language == "zh" else "en")


def clash_text(planned: PlannedDate, language: str) -> str:
    """A date of a series that cannot be had, and why."""
    day = day_text(planned.date, language)
    if planned.refusal is None:
        return text("left_out.taken", language, day=day)
    return text("left_out.why", language, day=day, why=refusal_text(planned.refusal, language))


def left_out_text(clashes: Sequence[PlannedDate], language: str) -> str:
    """The dates that cannot be had, by reason: each of a few, the first and last of many."""
    by_reason: dict[str, list[PlannedDate]] = {}
    for each in clashes:
        why = refusal_text(each.refusal, language) if each.refusal else text("taken.why", language)
        by_reason.setdefault(why, []).append(each)
    lines = []
    for why, those in by_reason.items():
        days = [day_text(each.date, language) for each in those]
        named = joined(days, language)
        if len(days) > DATES_NAMED:
            named = text("dates.many", language, count=len(days), first=days[0], last=days[-1])
        lines.append(text("left_out.why", language, day=named, why=why))
    return "; ".join(lines)


def changed_text(target: Mapping[str, Any], result: Mapping[str, Any], language: str) -> str:
    """What was cancelled or changed; of a series, how many dates."""
    key = "cancelled" if target["kind"] == "cancel_booking" else "moved"
    if target.get("scope") in {"following", "all"}:
        count = result["dates"]
        return text(f"{key}.dates", language, count=count, room=result["room_id"])
    if result["status"] == "pending":
        key = "pending"
    return text(key, language, room=result["room_id"], when=_when(result, language))


def _when(result: Mapping[str, Any], language: str) -> str:
    first, last = (datetime.fromisoformat(result[key]) for key in ("start", "end"))
    return span_text(first, last, language)


def data(state: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome again where a yes came twice, else nothing."""
    kinds = {each["kind"] for each in state["dialogue"]["asides"]}
    return dict(state["result"]) if "already_booked" in kinds else {}


async def answer(state: Mapping[str, Any], wants: Mapping[str, Any], context: RunContext) -> str:
    """The words for one question of the person's, in their language."""
    said = state["dialogue"]
    language, kind = said["language"], wants["kind"]
    if kind == "mine":
        return await _mine(wants, language, context)
    if kind == "room":
        return await _room(wants, language, context)
    if kind == "words":
        return str(wants["words"])
    if kind == "unclear":
        return text("unclear.open" if said["phase"] in OPEN_PHASES else "unclear", language)
    return text(_PLAIN[kind], language)


async def _mine(wants: Mapping[str, Any], language: str, context: RunContext) -> str:
    known = await context.read(tools.knowledge, context.owner_id, now=context.now)
    wished = (wants.get("slots") or {}).get("date")
    today = context.now.astimezone(known.zone).date()
    day = date.fromisoformat(wished) if wished else None
    days = (day, day) if day else None
    uses = await context.read(
        tools.own_uses, context.owner_id, now=context.now, days=days, zone=known.zone
    )
    span = text("span.soon", language)
    if day is not None:
        span = day_text(day, language)
        span = (
            text("span.today", language) if day == today else text("span.day", language, day=span)
        )
    if not uses:
        return text("mine.none", language, span=span)
    return text("mine.some", language, span=span, lines=targets.listed(uses, language))


async def _room(wants: Mapping[str, Any], language: str, context: RunContext) -> str:
    code = (wants.get("slots") or {}).get("room")
    if not code:
        return text("ask.room", language)
    known = await context.read(tools.knowledge, context.owner_id, now=context.now)
    try:
        now = await context.read(tools.room_now, context.owner_id, code, now=context.now)
    except RoomNotFound as error:
        return error.message("zh-hans" if language == "zh" else "en")
    until = f"{now.until.astimezone(known.zone):%H:%M}" if now.until else ""
    if not now.is_busy:
        key = "room.free_until" if until else "room.free"
        return text(key, language, room=code, until=until)
    words = text("room.busy", language, room=code, until=until)
    if now.organizer:
        words += text("room.by", language, who=now.organizer, title=now.title or "–")
    return words
