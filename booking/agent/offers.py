"""From what a search found to what is asked next: cards, a confirmation, or what to change. Pure."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from booking.agent import questions
from booking.agent.texts import duration_text, joined, slot_text, span_text, text
from booking.selectors import (
    Alternative,
    Candidate,
    Part,
    Refusal,
    RoomEntry,
    RoomRequest,
    SearchResult,
)

State = dict[str, Any]
Names = Mapping[str, Mapping[str, str]]
Rooms = Mapping[str, RoomEntry]

# Which slot to ask for when a rule says no.
ASKS = {
    "past": "start_time",
    "opening_hours": "start_time",
    "grid": "start_time",
    "holiday": "date",
    "horizon": "date",
    "min_duration": "duration_minutes",
    "max_duration": "duration_minutes",
    "capacity": "capacity",
    "unknown_room": "room",
    "unknown_building": "building",
}


def request_of(slots: Mapping[str, Any], zone: ZoneInfo, *, selected: str | None) -> RoomRequest:
    """The wish as the selectors take it; a card that was taken names the room."""
    starts_at = datetime.fromisoformat(f"{slots['date']}T{slots['start_time']}").replace(
        tzinfo=zone
    )
    minutes = timedelta(minutes=slots["duration_minutes"])
    return RoomRequest(
        starts_at=starts_at,
        ends_at=(starts_at.astimezone(ZoneInfo("UTC")) + minutes).astimezone(zone),
        headcount=slots["capacity"],
        building=None if selected else slots.get("building"),
        floor=None if selected else slots.get("floor"),
        features=() if selected else tuple(slots.get("features") or ()),
        room=selected or slots.get("room"),
        may_split=bool(slots.get("may_split")),
    )


def after_search(
    state: Mapping[str, Any],
    result: SearchResult,
    request: RoomRequest,
    *,
    rooms: Rooms,
    features: Names,
    refusal_text: str,
) -> State:
    """The state that asks the next question; `dialogue.next` is `ask`, or `search` again."""
    dialogue = state["dialogue"]
    language = dialogue["language"]
    if dialogue["selected"] and not result.candidates:
        preface = text("taken", language, room=dialogue["selected"])
        return _with(state, selected=None, preface=preface, next="search")
    if request.room and result.candidates:
        return confirm(state, result.candidates[0], request, features)
    cards = [card_of(each, features, language) for each in result.candidates]
    others = [
        alternative_card(each, rooms, features, request, language) for each in result.alternatives
    ]
    if cards or others:
        return offer(state, cards, others, refusal_text)
    return refused(state, result.refusal, refusal_text, request)


def _with(state: Mapping[str, Any], **changes: Any) -> State:
    return {**state, "dialogue": {**state["dialogue"], **changes}}


def offer(
    state: Mapping[str, Any],
    cards: Sequence[dict[str, Any]],
    others: Sequence[dict[str, Any]],
    refusal_text: str,
) -> State:
    """Cards to choose from: rooms for the wish, and what else could be had."""
    language = state["dialogue"]["language"]
    at_once = [card for card in cards if not card["needs_approval"]]
    if len(at_once) == 1 and len(cards) == 1:
        ask = text("choose.one", language, room=at_once[0]["room"])
    elif at_once:
        ask = text("choose", language)
    elif cards:
        ask = text("choose.approval", language)
    else:
        ask = text("choose.instead" if refusal_text else "choose.alternatives", language)
    shown = [*cards, *others]
    return _with(
        state,
        phase="AWAITING_SELECTION",
        next="ask",
        asks=[],
        selected=None,
        candidates=shown,
        question=questions.select_room(ask=questions.lines(refusal_text, ask), cards=shown),
    )


def refused(
    state: Mapping[str, Any],
    refusal: Refusal | None,
    refusal_text: str,
    request: RoomRequest,
    *,
    asks: list[str] | None = None,
) -> State:
    """A rule says no: say which, name the nearest slot, ask for what would help.

    asks: what to ask for where the rule alone does not tell; then no slot is named.
    """
    dialogue = state["dialogue"]
    language = dialogue["language"]
    nearest = nearest_text(refusal, request.starts_at.tzinfo, language) if asks is None else ""
    if asks is None:
        asks = [ASKS[refusal.rule]] if refusal is not None and refusal.rule in ASKS else []
    ask = questions.clarify(asks=asks, slots={}, language=language)
    message = refusal_text or text("choose.none", language)
    question = {
        **ask,
        "message": questions.lines(message, nearest, ask["message"]),
        "data": {**ask["data"], "rule": refusal.rule if refusal else "none_free"},
    }
    return _with(
        state, phase="COLLECTING_SLOTS", next="ask", asks=asks, selected=None, candidates=[],
        question=question,
    )  # fmt: skip


def nearest_text(refusal: Refusal | None, zone: tzinfo | None, language: str) -> str:
    """The nearest slot that the rule which says no allows; "" for none."""
    if refusal is None or refusal.nearest is None:
        return ""
    first, last = (each.astimezone(zone) for each in refusal.nearest)
    return text("nearest", language, when=span_text(first, last, language))


def confirm(
    state: Mapping[str, Any], room: Candidate, request: RoomRequest, features: Names
) -> State:
    """Ask for a yes to exactly this room and time; the offer carries the intent a yes acts on."""
    slots, language = state["slots"], state["dialogue"]["language"]
    offer = {
        "room": room.room,
        "starts_at": request.starts_at.isoformat(),
        "ends_at": request.ends_at.isoformat(),
        "headcount": request.headcount,
        "title": slots.get("title") or "",
        "intent": uuid.uuid4().hex,
    }
    rows = rows_of(room, request, slots, features, language)
    return confirming(state, room, features, offer, rows, text("confirm", language))


def rows_of(
    room: Candidate,
    request: RoomRequest,
    slots: Mapping[str, Any],
    features: Names,
    language: str,
) -> list[questions.Row]:
    """The summary of a booking to be: room, time, people, and what else was wished or is needed."""
    name = room.name.get(language) or ""
    minutes = duration_text(slots["duration_minutes"], language)
    time_row = questions.time_row(
        request.starts_at, request.ends_at, str(request.starts_at.tzinfo), language
    )
    rows = [
        ("room", text("label.room", language), f"{room.room} {name}".strip()),
        (time_row[0], time_row[1], f"{time_row[2]}, {minutes}"),
        ("capacity", text("label.capacity", language), str(request.headcount)),
    ]
    if slots.get("features"):
        wished = [features.get(code, {}).get(language, code) for code in slots["features"]]
        rows.append(("features", text("label.features", language), joined(wished, language)))
    if slots.get("title"):
        rows.append(("title", text("label.title", language), str(slots["title"])))
    if room.needs_approval:
        rows.append(
            ("approval", text("label.approval", language), text("value.approval", language))
        )
    return rows


def confirming(
    state: Mapping[str, Any],
    room: Candidate,
    features: Names,
    offer: Mapping[str, Any],
    rows: Sequence[questions.Row],
    ask: str,
) -> State:
    """The state that waits for a yes to exactly this offer."""
    dialogue = state["dialogue"]
    return _with(
        state,
        phase="CONFIRMING",
        next="ask",
        asks=[],
        offer=dict(offer),
        selected=room.room,
        candidates=dialogue["candidates"] or [card_of(room, features, dialogue["language"])],
        question=questions.confirm(ask=ask, rows=rows, offer=offer),
    )


def card_of(room: Candidate, features: Names, language: str) -> dict[str, Any]:
    """A room on offer as a card."""
    return {
        "room": room.room,
        "name": room.name.get(language) or "",
        "names": [name for name in room.name.values() if name],
        "building": room.building,
        "floor": room.floor,
        "seats": room.seats,
        "features": [
            {"code": code, "label": features.get(code, {}).get(language, code)}
            for code in room.features
        ],
        "reason": questions.reasons_text(room.reasons, language),
        "needs_approval": room.needs_approval,
    }


def alternative_card(
    other: Alternative, rooms: Rooms, features: Names, request: RoomRequest, language: str
) -> dict[str, Any]:
    """Another possibility as a card; its time is local to the room."""
    zone = request.starts_at.tzinfo
    starts_at, ends_at = other.starts_at.astimezone(zone), other.ends_at.astimezone(zone)
    labels = {code: names.get(language, code) for code, names in features.items()}
    detail = questions.detail_text(other.detail, labels, language)
    when = span_text(starts_at, ends_at, language)
    room = None if other.parts else rooms.get(other.room)
    names = {"en": room.name_en, "zh": room.name_zh} if room else {}
    words = [when, detail, shares_text(other.parts, language) if other.parts else ""]
    return {
        "room": together_code(other) or other.room,
        "name": names.get(language, ""),
        "names": [name for name in names.values() if name],
        "building": room.building if room else "",
        "floor": room.floor if room else None,
        "seats": None,
        "features": [],
        "reason": text("comma", language).join(each for each in words if each),
        "needs_approval": other.kind == "approval" or "needs_approval" in other.detail,
        "kind": other.kind,
        "starts_at": starts_at.isoformat(),
        "ends_at": ends_at.isoformat(),
    }


def together_code(other: Alternative) -> str:
    """What stands for the code of a room where several are taken together; "" for one room."""
    return TOGETHER.join(part.room for part in other.parts)


TOGETHER = "+"


def shares_text(parts: Sequence[Part], language: str) -> str:
    """Which room takes how many."""
    shares = [
        text(
            "part", language, room=each.room, people=slot_text("capacity", each.headcount, language)
        )
        for each in parts
    ]
    return joined(shares, language)
