"""What of a model's plan counts: its action, and slots whose words the person said. Pure.

The model points at words; the pipeline reads them. What the pipeline reads by itself, and what it
has to ask about, stays: a model can hide neither a value nor a contradiction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from booking.agent.planner.proposals import Action, Heard, Planned, Proposal
from booking.agent.planner.rules import read
from booking.agent.planner.schema import Plan, Quote
from booking.agent.understand import Found, Understanding, place_of
from booking.agent.understand.acts import ANSWERS
from booking.agent.understand.differences import difference
from booking.agent.understand.types import Span

# What the pipeline is to take a message for.
ACTS: Mapping[Action, str] = {
    "fill": "fill",
    "select": "select",
    "decline": "decline",
    "drop": "cancel_flow",
    "restart": "restart",
    "resume": "resume",
    "tell_mine": "query_mine",
    "tell_room": "query_room",
    "tell_free": "query_availability",
    "cancel_booking": "cancel_booking",
    "move_booking": "modify_booking",
    "refuse_scope": "out_of_domain",
}
_SLOTTED: frozenset[str] = frozenset(
    {"fill", "restart", "move_booking", "tell_mine", "tell_room", "tell_free"}
)
_TITLE_LIMIT = 80


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """A plan with what it proves. dropped: the slots whose words were not said or say no value."""

    planned: Planned
    dropped: tuple[str, ...]


def weigh(plan: Plan, heard: Heard) -> Weighed:
    """The plan as a proposal, with nothing in it that the person did not say."""
    action: Action = plan.action  # type: ignore[assignment]
    if action == "unclear":
        return Weighed(planned=Planned(proposal=Proposal(action="unclear"), label=""), dropped=())
    base = read(heard, act=ACTS[action])
    understood = base
    dropped: tuple[str, ...] = ()
    if action in _SLOTTED:
        understood, dropped = _with_quotes(plan, heard, base)
    proposal = Proposal(action=action, understanding=understood)
    if action == "select":
        proposal = _selecting(plan, heard, base)
    return Weighed(
        planned=Planned(proposal=proposal, label=understood.classification), dropped=dropped
    )


def _selecting(plan: Plan, heard: Heard, base: Understanding) -> Proposal:
    """The card the person's words name; the model's own count only where they name none."""
    chosen = base.selection.index if base.selection else None
    if chosen is None and plan.option is not None and plan.option <= len(heard.draft.candidates):
        chosen = plan.option - 1
    return Proposal(action="select", understanding=base, card=chosen)


def _with_quotes(
    plan: Plan, heard: Heard, base: Understanding
) -> tuple[Understanding, tuple[str, ...]]:
    """What the pipeline read, and what it reads in the words that the model points at."""
    slots, dropped = dict(base.slots), []
    for quote in plan.slots:
        span = place_of(quote.words, heard.text)
        if span is None:
            if not _is_known(quote, heard):
                dropped.append(quote.slot)
            continue
        if _is_read(quote.slot, span, base.slots):
            continue  # in its context, which the quoted words alone have lost
        found = _title(base.text, span) if quote.slot == "title" else _value(quote, heard)
        if found is None:
            dropped.append(quote.slot)
            continue
        slots[quote.slot] = replace(found, span=span)
    understood = replace(base, slots=slots)
    if plan.action == "fill" and slots != base.slots:
        understood = replace(understood, acts=(_filling(understood, heard), *base.acts[1:]))
    return understood, tuple(dropped)


def _is_read(slot: str, span: Span, slots: Mapping[str, Found]) -> bool:
    """Whether the pipeline has made a value of some of these words; a title may hold any."""
    values = [found for name, found in slots.items() if slot != "title" or name == "title"]
    return any(found.span[0] < span[1] and span[0] < found.span[1] for found in values)


def _is_known(quote: Quote, heard: Heard) -> bool:
    """Whether a quote repeats what the draft holds already."""
    held = heard.draft.get(quote.slot)
    return held is not None and str(held) == quote.words


def _title(text: str, span: tuple[int, int]) -> Found:
    return Found(text[slice(*span)][:_TITLE_LIMIT], span, "title.quoted")


def _value(quote: Quote, heard: Heard) -> Found | None:
    """The slot's value by the pipeline, in the quoted words alone."""
    asking = replace(heard.draft, phase="COLLECTING_SLOTS", missing=(quote.slot,), options=())
    return read(replace(heard, text=quote.words, draft=asking), act="fill").slots.get(quote.slot)


def _filling(understood: Understanding, heard: Heard) -> str:
    """Which of the acts that fill a draft the slots make it (see `understand.acts`)."""
    if not heard.draft.is_open or understood.acts[0] == "new_request":
        return "new_request"
    new, changed = difference(understood.slots, understood.problems, heard.draft)
    if changed:
        return "correction"
    asked = {ANSWERS.get(slot, slot) for slot in new} & set(heard.draft.missing)
    return "provide_slots" if asked else "supplement"
