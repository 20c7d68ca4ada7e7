"""One meeting in several rooms: a yes to all of them or none. Pure."""

import uuid
from collections.abc import Mapping
from typing import Any

from booking.agent import offers, questions
from booking.agent.texts import text
from booking.selectors import RoomRequest, SearchResult

State = dict[str, Any]


def is_together(selected: str | None) -> bool:
    return offers.TOGETHER in (selected or "")


def after_search(state: Mapping[str, Any], result: SearchResult, request: RoomRequest) -> State:
    """Ask for a yes to the rooms that were chosen together, if they still are to be had."""
    said, slots = state["dialogue"], state["slots"]
    language = said["language"]
    other = next(
        (each for each in result.alternatives if offers.together_code(each) == said["selected"]),
        None,
    )
    if other is None:
        preface = text("taken", language, room=said["selected"])
        return {
            **state,
            "dialogue": {**said, "selected": None, "preface": preface, "next": "search"},
        }
    offer = {
        "room": offers.together_code(other),
        "parts": [{"room": part.room, "headcount": part.headcount} for part in other.parts],
        "starts_at": request.starts_at.isoformat(),
        "ends_at": request.ends_at.isoformat(),
        "headcount": request.headcount,
        "title": slots.get("title") or "",
        "intent": uuid.uuid4().hex,
    }
    shares = offers.shares_text(other.parts, language)
    zone = str(request.starts_at.tzinfo)
    rows = [
        ("room", text("label.rooms", language), shares),
        questions.time_row(request.starts_at, request.ends_at, zone, language),
        ("capacity", text("label.capacity", language), str(request.headcount)),
    ]
    if offer["title"]:
        rows.append(("title", text("label.title", language), str(offer["title"])))
    if "needs_approval" in other.detail:
        rows.append(
            ("approval", text("label.approval", language), text("value.approval", language))
        )
    return {
        **state,
        "dialogue": {
            **said,
            "phase": "CONFIRMING",
            "next": "ask",
            "asks": [],
            "offer": offer,
            "question": questions.confirm(
                ask=text("confirm.together", language), rows=rows, offer=offer
            ),
        },
    }


def request_of(slots: Mapping[str, Any], zone: Any) -> RoomRequest:
    """The wish in any rooms."""
    return offers.request_of({**slots, "may_split": True, "room": None}, zone, selected=None)
