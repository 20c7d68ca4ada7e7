"""What the agent tells: outcomes, refusals, and answers to questions of the person's.

`answer` reads as the owner, through the context; the rest is pure but for Django's catalogue.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from django.utils.translation import override

from agentruntime.execution.context import RunContext
from booking.agent import targets, tools
from booking.agent.questions import lines
from booking.agent.state import OPEN_PHASES
from booking.agent.texts import day_text, span_text, text
from booking.exceptions import RoomNotFound, explain
from booking.selectors import Refusal

_PLAIN = {
    "already_booked": "already_booked",
    "check_in": "check_in",
    "cannot_move": "taken",
    "dropped": "dropped",
    "free": "free.need",
    "injection": "injection",
    "kept": "kept",
    "no_booking": "no.booking",
    "not_yours": "not_yours",
    "nothing_open": "nothing_open",
    "scope": "scope",
    "series": "series",
}


def refusal_text(refusal: Refusal, language: str) -> str:
    """Why a rule says no."""
    with override("zh-hans" if language == "zh" else "en"):
        return explain(refusal)


def booked_text(result: Mapping[str, Any], language: str) -> str:
    """What was booked, or asked for."""
    key = "pending" if result["status"] == "pending" else "booked"
    return text(key, language, room=result["room_id"], when=_when(result, language))


def changed_text(kind: str, result: Mapping[str, Any], language: str) -> str:
    """What was cancelled or moved."""
    key = "cancelled" if kind == "cancel_booking" else "moved"
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
    if kind == "which_booking":
        return text("which.booking", language, lines=wants["lines"])
    if kind == "unclear":
        return text("unclear.open" if said["phase"] in OPEN_PHASES else "unclear", language)
    if kind == "cannot_move" and wants["why"]:
        return lines(wants["why"])
    return text(_PLAIN[kind], language, room=wants.get("room", ""))


async def _mine(wants: Mapping[str, Any], language: str, context: RunContext) -> str:
    known = await context.read(tools.knowledge, context.owner_id, now=context.now)
    wished = (wants.get("slots") or {}).get("date")
    today = context.now.astimezone(known.zone).date()
    day = date.fromisoformat(wished) if wished else None
    uses = await context.read(
        tools.own_uses, context.owner_id, now=context.now, day=day, zone=known.zone
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
