"""What a model may answer with, phase by phase: an action of the phase, and quoted words. Pure."""

from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, create_model

from booking.agent.dialogue import ALLOWED
from booking.agent.planner.proposals import Action

MOST_QUOTES = 16
LONGEST_QUOTE = 120

QuotedSlot = Literal[
    "date", "start_time", "end_time", "duration_minutes", "capacity", "building", "floor",
    "features", "room", "title",
]  # fmt: skip

# What acts at once is the person's alone: a yes and an arrival are read by the rules.
NEVER: frozenset[Action] = frozenset({"confirm", "check_in", "refuse_injection"})


class BadPlan(ValueError):
    """An answer is no plan of its phase; says where, in words without the answer's own."""


def _not_too_long(words: str) -> str:
    if not 0 < len(words) <= LONGEST_QUOTE:
        raise ValueError("quote 1 to 120 characters")
    return words


def _not_too_many(quotes: "list[Quote]") -> "list[Quote]":
    if len(quotes) > MOST_QUOTES:
        raise ValueError("too many slots")
    return quotes


class Quote(BaseModel):
    """The very words of the message that give a slot."""

    model_config = ConfigDict(extra="forbid", strict=True)

    slot: QuotedSlot
    words: Annotated[str, AfterValidator(_not_too_long)]


class Plan(BaseModel):
    """An action of the phase; `option` counts the cards shown, from 1."""

    model_config = ConfigDict(extra="forbid", strict=True)

    action: str
    slots: Annotated[list[Quote], AfterValidator(_not_too_many)]
    option: int | None


def actions(phase: str) -> tuple[Action, ...]:
    """What a model may propose in a phase."""
    return tuple(sorted(ALLOWED[phase] - NEVER))


@lru_cache(maxsize=64)
def plan_type(phase: str) -> type[Plan]:
    """The type of a phase's plans. Every field is required: some providers take no defaults."""
    named: Any = Literal[actions(phase)]
    return create_model("Plan", __base__=Plan, action=(named, ...))


@lru_cache(maxsize=64)
def schema(phase: str) -> dict[str, Any]:
    """The JSON schema of a phase's plans."""
    return plan_type(phase).model_json_schema()


def checked(answer: Any, *, phase: str, cards: int) -> Plan:
    """A decoded answer as a plan. Raises BadPlan."""
    try:
        plan = plan_type(phase).model_validate(answer)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "answer"
        raise BadPlan(f"{place}: {first['type']}") from None
    if plan.option is not None and not 1 <= plan.option <= cards:
        raise BadPlan("option: no such card")
    return plan
