"""The questions the agent asks, as `interrupt()` values: kind, message, data. Pure."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from booking.agent.phrases import PROBLEMS
from booking.agent.texts import (
    coded_text,
    duration_text,
    joined,
    slot_text,
    span_text,
    text,
)
from booking.agent.understand.types import Problem

Question = dict[str, Any]
Row = tuple[str, str, str]
"""A line of a summary: slot, label, value."""


def lines(*parts: str) -> str:
    """Sentences as one message; empty ones fall away."""
    return "\n".join(part for part in parts if part)


def assumptions(slots: Mapping[str, Any], assumed: Sequence[str], language: str) -> str:
    """What was assumed, read back."""
    return " ".join(
        text(f"assumed.{slot}", language, value=slot_text(slot, slots[slot], language))
        for slot in assumed
        if f"assumed.{slot}" in _ASSUMED and slots.get(slot) is not None
    )


_ASSUMED = frozenset(
    f"assumed.{slot}" for slot in ("date", "start_time", "duration_minutes", "capacity", "room")
)


def problem_text(problem: Problem, language: str) -> str:
    """Why something said is not a value."""
    options = [slot_text(problem.slot, each, language) for each in problem.options]
    template = PROBLEMS[problem.code][language == "zh"]
    return template.format(text=problem.text, options=joined(options, language))


def clarify(
    *,
    asks: Sequence[str],
    slots: Mapping[str, Any],
    language: str,
    options: Sequence[Sequence[Any]] = (),
) -> Question:
    """Ask for what is missing; with nothing missing, what to change.

    options: the readings to choose from, as `[slot, value]`; each can be tapped.
    """
    if len(asks) == 1:
        ask = text(f"ask.{asks[0]}", language)
    elif asks:
        wanted = joined([text(f"slot.{slot}", language) for slot in asks], language)
        ask = text("ask.several", language, slots=wanted)
    else:
        ask = text("ask.other", language)
    facts = joined(
        [slot_text(k, slots[k], language) for k in _FACTS if slots.get(k) is not None], language
    )
    known = text("known", language, facts=facts) if facts else ""
    data: dict[str, Any] = {"missing": list(asks)}
    if options:
        data["options"] = [slot_text(slot, value, language) for slot, value in options]
    return {"kind": "clarify", "message": lines(known, ask), "data": data}


_FACTS = ("date", "start_time", "duration_minutes", "capacity", "room")


def select_room(*, ask: str, cards: Sequence[Mapping[str, Any]]) -> Question:
    """Offer rooms; a card with `starts_at` offers another time."""
    return {
        "kind": "select_room",
        "message": ask,
        "data": {
            "candidates": [dict(card) for card in cards if not card.get("starts_at")],
            "alternatives": [dict(card) for card in cards if card.get("starts_at")],
        },
    }


def reasons_text(codes: Sequence[str], language: str) -> str:
    """One line of why a room is offered: its two strongest reasons."""
    words = [word for code in codes if (word := coded_text("reason", code, language))]
    return text("comma", language).join(words[:2])


def detail_text(detail: str, features: Mapping[str, str], language: str) -> str:
    """How an alternative differs from the wish."""
    words = []
    for code in detail.split("+"):
        name, _, argument = code.partition(":")
        if name in {"earlier", "later"}:
            minutes = duration_text(int(argument), language)
            words.append(text(f"detail.{name}", language, minutes))
        elif name == "feature":
            words.append(text("detail.feature", language, features.get(argument, argument)))
        else:
            words.append(coded_text("detail", code, language))
    return text("comma", language).join(word for word in words if word)


def digest(offer: Mapping[str, Any]) -> str:
    """SHA-256 of exactly what a yes will do."""
    canonical = json.dumps(offer, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def confirm(
    *,
    ask: str,
    rows: Sequence[Row],
    offer: Mapping[str, Any],
) -> Question:
    """Ask for a yes to exactly this."""
    return {
        "kind": "confirm",
        "message": ask,
        "data": {
            "summary": [
                {"slot": slot, "label": label, "value": value} for slot, label, value in rows
            ],
            "digest": digest(offer),
        },
    }


def time_row(
    starts_at: datetime, ends_at: datetime, zone: str, language: str
) -> tuple[str, str, str]:
    """The row of a booking's time, its zone named."""
    value = f"{span_text(starts_at, ends_at, language)} ({zone})"
    return ("start_time", text("label.time", language), value)
