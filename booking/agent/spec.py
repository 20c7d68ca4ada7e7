"""What the runtime and the audit app are told about the booking agent. Pure functions of state."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from agentruntime.agents import AgentSpec, Said, Step
from booking.agent import edits, labels, masking, tools
from booking.agent.planner import LABELS
from booking.agent.state import OPEN_PHASES, SHOWN_SLOTS
from booking.agent.texts import slot_text, text
from booking.agent.understand import DraftView, Understanding, apply, understand

if TYPE_CHECKING:
    from langgraph.graph import StateGraph

NAME = "booking"

STEPS = tuple(Step(node=node, labels=words) for node, words in labels.NODES.items())


def build_graph() -> "StateGraph[Any, Any, Any, Any]":
    """The graph, loaded when a process is to run it: it brings LangGraph along."""
    from booking.agent import graph
    from booking.agent.planner import choice

    choice.get_ready()
    return graph.build_graph()


def _as_of(moment: datetime) -> AbstractContextManager[None]:
    from booking.agent.asof import as_of

    return as_of(moment)


# What an act of understanding is beside a run.
_CLASSES = {
    "correction": "correction",
    "provide_slots": "supplement",
    "supplement": "supplement",
    "cancel_flow": "cancel",
    "cancel_booking": "cancel",
    "decline": "cancel",
    "restart": "restart",
    "confirm": "answer",
    "select": "answer",
}


def classify(said: Said, summary: Mapping[str, Any], before: Sequence[Said]) -> str:
    """What words beside a run are, given the draft and what was said before them."""
    understood = _Beside(before, summary)(said)
    return _CLASSES.get(understood.acts[0] if understood.acts else "", "new_intent")


def is_settled(said: Sequence[Said], summary: Mapping[str, Any]) -> bool:
    """Whether the words make a whole: a request without gaps, or no request at all.

    Few words that leave something open are often followed by the rest of the sentence.
    """
    read = _Beside(said[:-1], summary)
    understood = read(said[-1])
    if not set(understood.acts) & _REQUESTS:
        return True
    fold = apply(read.slots, understood, now=read.now(said[-1]))
    return not fold.missing or bool(fold.problems)


_REQUESTS = {"new_request", "provide_slots", "supplement", "correction"}


class _Beside:
    """Reads words in the draft as it will be once what was said before them is read."""

    def __init__(self, before: Sequence[Said], summary: Mapping[str, Any]) -> None:
        self.known = tools.remembered()
        phase = summary.get("phase", "IDLE")
        held = summary.get("slots") if phase in OPEN_PHASES else {}
        self.slots = {key: value for key, value in (held or {}).items() if value is not None}
        self.phase = phase if phase in OPEN_PHASES else "IDLE"
        self.language = str(summary.get("language", "en"))
        for said in before:
            understood = self(said)
            self.slots = apply(self.slots, understood, now=self.now(said)).slots
            if self.phase == "IDLE" and set(understood.acts) & _REQUESTS:
                self.phase = "COLLECTING_SLOTS"

    def now(self, said: Said) -> datetime:
        return datetime.fromisoformat(said.at).astimezone(self.known.zone)

    def __call__(self, said: Said) -> Understanding:
        return understand(
            said.text,
            now=self.now(said),
            lexicon=self.known.lexicon,
            hours=self.known.hours,
            draft=DraftView(phase=self.phase, slots=self.slots, language=self.language),
        )


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


def outcome(state: Mapping[str, Any]) -> str:
    """How an attempt ends: called off by the person, or done (booked, changed, answered)."""
    return "cancelled" if (state.get("dialogue") or {}).get("told") == "dropped" else "success"


def _title(slots: Mapping[str, Any], language: str) -> str:
    facts = ("title", "date", "start_time", "capacity", "room")
    words = [slot_text(slot, slots[slot], language) for slot in facts if slots.get(slot)]
    return " · ".join(words)


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
    is_settled=is_settled,
    describe=describe,
    redact=masking.masked,
    outcome=outcome,
    phrase=phrase,
    steps=STEPS,
    editable_fields=edits.FIELDS,
    words=labels.WORDS,
    edit=edits.edit,
    simulate=edits.simulate,
    volatile=edits.VOLATILE,
    as_of=_as_of,
    labels=LABELS,
    personal=frozenset({"title"}),
    validate=edits.validate,
    # What its nodes do is in our own database: the ledger knows when it is too late to stop them.
    point_of_no_return=frozenset(),
    effect_nodes=frozenset({"book", "change", "check_in"}),
    greeting={"en": text("greeting", "en"), "zh": text("greeting", "zh")},
    version=1,
)
