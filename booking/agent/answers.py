"""What the agent tells: outcomes and refusals.

`room_now` reads as the owner, through the context; the rest is pure but for Django's catalogue.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import override

from agentruntime.execution.context import RunContext
from booking.agent import tools
from booking.agent.state import OPEN_PHASES
from booking.agent.texts import DATES_NAMED, day_text, joined, rhythm_text, span_text, text
from booking.exceptions import BookingError, RoomNotFound, explain
from booking.selectors import PlannedDate, Refusal

_PLAIN = {
    "already_booked": "already_booked",
    "dropped": "dropped",
    "injection": "injection",
    "kept": "kept",
    "no_booking": "no.booking",
    "not_yours": "not_yours",
    "nothing_open": "nothing_open",
    "same": "same",
    "scope": "scope",
}


_SMALL_TALK = frozenset({"greeting", "thanks", "help"})


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


def aside_text(wants: Mapping[str, Any], phase: str, language: str) -> str:
    """The words for what is no question of its own: an outcome, a refusal, a doubt."""
    kind = wants["kind"]
    if kind == "words":
        return str(wants["words"])
    if kind == "scope" and wants.get("about") == "unclear":
        kind = "unclear"
    if kind == "scope" and wants.get("about") in _SMALL_TALK:
        return text(f"small.{wants['about']}", language)
    if kind == "unclear":
        return text("unclear.open" if phase in OPEN_PHASES else "unclear", language)
    return text(_PLAIN[kind], language)


async def room_now(code: str, zone: ZoneInfo, language: str, context: RunContext) -> str:
    """Whether a room is in use, until when, and by whom as far as the person may know."""
    try:
        now = await context.read(tools.room_now, context.owner_id, code, now=context.now)
    except RoomNotFound as error:
        return error_text(error, language)
    until = f"{now.until.astimezone(zone):%H:%M}" if now.until else ""
    if not now.is_busy:
        key = "room.free_until" if until else "room.free"
        return text(key, language, room=code, until=until)
    words = text("room.busy", language, room=code, until=until)
    if now.organizer:
        words += text("room.by", language, who=now.organizer, title=now.title or "–")
    return words
