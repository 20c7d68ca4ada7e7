"""What the runtime and the audit app are told about the booking agent. Pure functions of state."""

from collections.abc import Mapping
from typing import Any

from agentruntime.agents import AgentSpec, Said, Step
from booking.agent.graph import build_graph
from booking.agent.planner import propose_answer
from booking.agent.state import SHOWN_SLOTS
from booking.agent.texts import slot_text, text

NAME = "booking"

STEPS = (
    Step(node="understand", labels={"en": "Reading your message", "zh": "正在理解"}),
    Step(node="search", labels={"en": "Looking for rooms", "zh": "正在查找会议室"}),
    Step(node="book", labels={"en": "Booking", "zh": "正在预订"}),
    Step(node="target", labels={"en": "Looking at your bookings", "zh": "正在查看您的预订"}),
    Step(node="change", labels={"en": "Changing the booking", "zh": "正在修改预订"}),
    Step(node="answer", labels={"en": "Answering", "zh": "正在回复"}),
)


def classify(said: Said, summary: Mapping[str, Any]) -> str:
    """What a message is, from its kind; words beside a run are read by the run that takes them."""
    if said.value is not None:
        return propose_answer(said.value).action
    return "text"


def describe(state: Mapping[str, Any]) -> dict[str, Any]:
    """Phase, filled slots, what was assumed, and a title for lists."""
    dialogue, slots = state.get("dialogue") or {}, state.get("slots") or {}
    language = dialogue.get("language", "en")
    shown = {slot: slots.get(slot) for slot in SHOWN_SLOTS}
    return {
        "phase": dialogue.get("phase", "IDLE"),
        "slots": shown,
        "assumed": [slot for slot in dialogue.get("assumed", []) if slot in SHOWN_SLOTS],
        "language": language,
        "title": _title(slots, language),
        "result": state.get("result") or {},
    }


def _title(slots: Mapping[str, Any], language: str) -> str:
    facts = ("title", "date", "start_time", "capacity", "room")
    words = [slot_text(slot, slots[slot], language) for slot in facts if slots.get(slot)]
    return " · ".join(words)


def redact(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state without what the person wrote: their words and the meeting's title."""
    shown = {key: value for key, value in state.items() if key != "said"}
    slots = dict(state.get("slots") or {})
    if slots.get("title"):
        slots["title"] = "•••"
    return {**shown, "slots": slots}


def phrase(value: Mapping[str, Any], language: str) -> str:
    """A click in words: the room's code, yes or no."""
    if isinstance(value.get("text"), str):
        return str(value["text"])
    if isinstance(value.get("room"), str):
        start = value.get("starts_at")
        return f"{value['room']} {start[11:16]}" if isinstance(start, str) else value["room"]
    if isinstance(value.get("approved"), bool):
        words = {True: ("Yes", "确认"), False: ("No", "不用了")}
        return words[value["approved"]][language == "zh"]
    return "…"


SPEC = AgentSpec(
    name=NAME,
    build_graph=build_graph,
    classify=classify,
    describe=describe,
    redact=redact,
    phrase=phrase,
    steps=STEPS,
    editable_fields=("slots", "selected"),
    point_of_no_return=frozenset({"book", "change"}),
    effect_nodes=frozenset({"book", "change"}),
    greeting={"en": text("greeting", "en"), "zh": text("greeting", "zh")},
    version=1,
)
