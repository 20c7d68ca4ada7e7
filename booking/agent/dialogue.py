"""The state machine: what a proposal does in each phase. Pure; the one place that decides.

`advance` returns a new state whose `dialogue.next` names the node to go on with. Nothing here
reads rooms or writes bookings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from booking.agent import wishes
from booking.agent.planner import Action, Proposal
from booking.agent.questions import assumptions, digest, lines, problem_text
from booking.agent.state import OPEN_PHASES, fresh_dialogue, reset, resumed, standing
from booking.agent.texts import text
from booking.agent.understand import apply
from booking.agent.understand.types import Understanding

State = dict[str, Any]

# Nodes that an earlier message of the same turn may have set off.
_ACTS = frozenset({"book", "change"})
_PENDING = _ACTS | {"search", "clarify", "target", "check_in"}

ANYTIME: frozenset[Action] = frozenset(
    {
        "fill", "drop", "restart", "resume", "tell_mine", "tell_room", "tell_free",
        "cancel_booking", "move_booking", "check_in", "refuse_scope", "refuse_injection", "unclear",
    }
)  # fmt: skip

ALLOWED: Mapping[str, frozenset[Action]] = {
    "IDLE": ANYTIME,
    "COLLECTING_SLOTS": ANYTIME | {"confirm", "decline"},
    "AWAITING_SELECTION": ANYTIME | {"select", "confirm", "decline"},
    "CONFIRMING": ANYTIME | {"select", "confirm", "decline"},
    "BOOKED": ANYTIME | {"confirm"},
}

# What an answered question of the person's leaves as it is.
_ASIDES: Mapping[Action, str] = {
    "tell_mine": "mine",
    "tell_room": "room",
    "tell_free": "free",
    "refuse_scope": "scope",
    "refuse_injection": "injection",
    "unclear": "unclear",
}


def advance(state: Mapping[str, Any], proposal: Proposal, now: datetime) -> State:
    """The state after a proposal. An action the phase does not allow is unclear."""
    current: State = {"slots": {}, "dialogue": fresh_dialogue("en"), "result": {}, **state}
    understanding = proposal.understanding
    said = current["dialogue"]
    goes_on = said["next"] in _PENDING or bool(said.get("asides"))
    if not goes_on:
        current = _with(current, preface="", asides=[], consent=None)
    if understanding is not None:
        current = _with(current, language=understanding.language)
    if understanding is not None and _answers_scope(current, understanding):
        return _rescoped(current, understanding)
    action = proposal.action if proposal.action in ALLOWED[standing(current)] else "unclear"
    if action in _ASIDES:
        return _aside(current, _ASIDES[action], understanding)
    if action in {"cancel_booking", "move_booking", "check_in"}:
        problems = _problems(understanding, current["dialogue"]["language"])
        current = _with(current, preface=lines(current["dialogue"]["preface"], problems))
        return _to_target(current, wishes.wish(action, understanding))
    return _STEPS[action](current, proposal, now)


def _with(state: State, **changes: Any) -> State:
    return {**state, "dialogue": {**state["dialogue"], **changes}}


def _to_target(state: State, wish: Mapping[str, Any]) -> State:
    """On to the stored booking that the wish is about; what was to be confirmed is void (P14)."""
    if state["dialogue"]["target"] is not None:
        state = _with(state, phase="IDLE", question=None, asks=[], options=[], candidates=[])
    if wish["kind"] == "check_in":
        return _with(state, next="check_in", wants=dict(wish), target=None, consent=None)
    return _with(state, next="target", wants=dict(wish), target=None, offer=None, consent=None)


def _problems(understanding: Understanding | None, language: str) -> str:
    if understanding is None:
        return ""
    return lines(*(problem_text(each, language) for each in understanding.problems))


def _answers_scope(state: State, understanding: Understanding) -> bool:
    """Whether the words say how much of the series that is being changed is meant, whatever else."""
    target = state["dialogue"]["target"]
    return bool(target and target.get("series")) and "scope" in understanding.slots


def _rescoped(state: State, understanding: Understanding) -> State:
    wish = wishes.wish_of(state["dialogue"]["target"])
    wish["scope"] = understanding.slots["scope"].value
    if "date" in understanding.slots:
        wish = wishes.on_day(wish, understanding.slots["date"].value)
    return _to_target(state, wish)


def _aside(state: State, kind: str, understanding: Understanding | None) -> State:
    """A question of the person's: answered, and the draft goes on as it is (P11), and so does what
    an earlier message of the turn has set off.
    """
    said = state["dialogue"]
    going, is_doubt = said["next"], _is_doubt(kind, understanding)
    if going in _ACTS and is_doubt:
        state, going = _with(state, consent=None), "answer"
    elif going in _PENDING and (kind == "unclear" or _is_wordless(understanding)):
        return state  # said in one breath with what is being done
    aside = {**wishes.question(kind, understanding), **({"doubt": True} if is_doubt else {})}
    is_going = going in _PENDING
    return _with(state, asides=[*said["asides"], aside], next=going if is_going else "answer")


def _is_doubt(kind: str, understanding: Understanding | None) -> bool:
    """Whether words that nobody understood stand here: a yes in one breath with them is no yes."""
    if understanding is None:
        return kind == "unclear"
    is_lost = any(each.code == "not_understood" for each in understanding.problems)
    return (is_lost and not _is_wordless(understanding)) or kind in {"unclear", "injection"}


def _is_wordless(understanding: Understanding | None) -> bool:
    """Whether nothing but marks or emoji was written."""
    return understanding is not None and not any(map(str.isalnum, understanding.text))


def _fresh(state: State) -> State:
    """A fresh state; what the person asked in the same breath is still answered."""
    said = state["dialogue"]
    return _with(reset(said["language"]), asides=said["asides"])


def _fill(state: State, proposal: Proposal, now: datetime) -> State:
    understanding = proposal.understanding
    if understanding is None:
        return _aside(state, "unclear", None)
    target = state["dialogue"]["target"]
    if target is not None and understanding.acts[0] != "new_request":
        return _rewished(state, understanding, now)
    if target is not None or state["dialogue"]["phase"] in {"IDLE", "BOOKED"}:
        state = _fresh(state)
    return _filled(state, understanding, now)


def _rewished(state: State, understanding: Understanding, now: datetime) -> State:
    """Other values for the booking that is being changed."""
    dialogue = state["dialogue"]
    target, language = dialogue["target"], dialogue["language"]
    wish = wishes.wish_of(target)
    slots = {key: found.value for key, found in understanding.slots.items()}
    if set(slots) == {"on_clash"}:
        return _with(state, next="ask")  # it is what the question says
    if wish["kind"] == "cancel_booking" and set(slots) == {"date"}:
        return _to_target(state, {**wishes.on_day(wish, slots["date"]), "scope": "this"})
    if (card := _named_card(dialogue["candidates"], slots)) is not None:
        return _take_for(state, target, card)
    if wish["kind"] == "check_in":
        return _aside(state, "unclear", understanding)
    fold = apply(target.get("slots") or {}, understanding, now=now)
    wish |= {
        "kind": "move_booking",
        "slots": {**(wish.get("slots") or {}), **fold.slots} if target.get("slots") else slots,
        "asks": [each.slot for each in fold.problems if each.slot],
        "options": wishes.options(fold.problems),
    }
    problems = _problems(understanding, language)
    state = _with(state, preface=lines(dialogue["preface"], problems))
    return _to_target(state, wish)


def _named_card(
    cards: Sequence[Mapping[str, Any]], slots: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """The one card of an own booking that a day, an hour or a room points to: the one on Friday."""
    said = {"date": slice(0, 10), "start_time": slice(11, 16)}
    fits = [
        card
        for card in cards
        if card.get("kind") == "own_booking"
        and all(card["starts_at"][cut] == slots[key] for key, cut in said.items() if key in slots)
        and slots.get("room", card["room"]) == card["room"]
    ]
    is_said = any(key in slots for key in (*said, "room"))
    return fits[0] if is_said and len(fits) == 1 else None


def _filled(state: State, understanding: Understanding, now: datetime) -> State:
    language = state["dialogue"]["language"]
    said = state["dialogue"]
    understanding = _until(state, understanding)
    already, read_back = said["assumed"], said.get("read_back", ())
    fold = apply(state["slots"], understanding, now=now, assumed=tuple(already))
    news = [slot for slot in fold.assumed if slot not in read_back]
    preface = lines(
        *(problem_text(each, language) for each in fold.problems),
        assumptions(fold.slots, news, language),
        _on_behalf(understanding, language),
    )
    state = {**state, "slots": dict(fold.slots), "result": {}}
    # P14: any change while a confirmation is open voids it.
    state = _with(
        state,
        phase="COLLECTING_SLOTS",
        assumed=list(fold.assumed),
        candidates=[],
        selected=None,
        offer=None,
        target=None,
        wants=None,
        consent=None,
        preface=preface,
        options=wishes.options(fold.problems),
        asks=list(fold.missing),
    )
    is_open = fold.missing or fold.slots.get("on_behalf_of")
    return _with(state, next="clarify" if is_open else "search")


def _until(state: State, understanding: Understanding) -> Understanding:
    """Asked until when a series goes on, a day is its last and not its first."""
    held, found = state["slots"].get("recurrence"), understanding.slots
    if state["dialogue"]["asks"] != ["until"] or not held or "recurrence" in found:
        return understanding
    if "date" not in found or understanding.acts[0] == "new_request":
        return understanding
    rule = {key: value for key, value in held.items() if key != "count"}
    last = found["date"]
    slots = {key: value for key, value in found.items() if key not in {"date", "period", "window"}}
    slots["recurrence"] = replace(last, value={**rule, "until": last.value})
    return replace(understanding, slots=slots)


def _on_behalf(understanding: Understanding, language: str) -> str:
    """P1: nobody is booked for by text; the name as it was written goes into the answer."""
    found = understanding.slots.get("on_behalf_of")
    if found is None or found.value is None:
        return ""
    return text("on_behalf", language, who=understanding.text[slice(*found.span)].strip())


def _select(state: State, proposal: Proposal, now: datetime) -> State:
    for place, card in enumerate(state["dialogue"]["candidates"]):
        if _is_chosen(card, place, proposal):
            target = state["dialogue"]["target"]
            return _take(state, card) if target is None else _take_for(state, target, card)
    if proposal.understanding is not None and "room" in proposal.understanding.slots:
        return _filled(state, proposal.understanding, now)
    return _aside(state, "unclear", None)


def _is_chosen(card: Mapping[str, Any], place: int, proposal: Proposal) -> bool:
    if proposal.card is not None:
        return place == proposal.card
    return card["room"] == proposal.room and proposal.starts_at in {None, card.get("starts_at")}


def _take_for(state: State, target: Mapping[str, Any], card: Mapping[str, Any]) -> State:
    """A card taken for a stored booking: it is the one that is meant, or where it moves to."""
    wish = wishes.wish_of(target)
    if card.get("kind") == "own_booking":
        return _to_target(state, {**wish, "chosen": {"booking": card["booking"]}})
    slots = {**(target.get("slots") or {}), "room": card["room"]}
    if card.get("starts_at"):
        slots |= {"date": card["starts_at"][:10], "start_time": card["starts_at"][11:16]}
    return _to_target(state, {**wish, "slots": slots, "asks": [], "options": []})


def _take(state: State, card: Mapping[str, Any]) -> State:
    """Take a card; one with a time of its own moves the wish to that time."""
    slots = dict(state["slots"])
    if card.get("starts_at"):
        slots |= {"date": card["starts_at"][:10], "start_time": card["starts_at"][11:16]}
    state = {**state, "slots": slots}
    return _with(state, next="search", selected=card["room"], offer=None, target=None, consent=None)


def _confirm(state: State, proposal: Proposal, now: datetime) -> State:
    dialogue = state["dialogue"]
    if dialogue["next"] in _PENDING:
        return state  # what was just asked for has not been shown yet; what was agreed to goes on
    if standing(state) == "BOOKED":
        return _aside(state, "already_booked", None)
    if dialogue["phase"] == "COLLECTING_SLOTS":
        return _in_own_name(state)
    if dialogue["phase"] == "AWAITING_SELECTION":
        return _take_only(state)
    asked = dialogue["target"] or dialogue["offer"]
    if asked is None:
        return _with(state, next="search")
    if proposal.consent != digest(asked):
        return _with(state, next="ask")  # a yes to something else
    if any(each.get("doubt") for each in dialogue["asides"]):
        return _with(state, next="answer")
    next_node = "change" if dialogue["target"] else "book"
    return _with(state, next=next_node, consent=proposal.consent)


def _take_only(state: State) -> State:
    """A yes to the only card there is; among several it says nothing."""
    cards, target = state["dialogue"]["candidates"], state["dialogue"]["target"]
    if len(cards) != 1:
        return _aside(state, "unclear", None)
    return _take_for(state, target, cards[0]) if target else _take(state, cards[0])


def _in_own_name(state: State) -> State:
    """A yes to booking in the person's own name what was asked for somebody else."""
    slots = dict(state["slots"])
    if slots.pop("on_behalf_of", None) is None:
        return _aside(state, "unclear", None)
    asks = state["dialogue"]["asks"]
    return _with({**state, "slots": slots}, next="clarify" if asks else "search")


def _decline(state: State, proposal: Proposal, now: datetime) -> State:
    dialogue = state["dialogue"]
    language = dialogue["language"]
    if dialogue["target"] is not None:
        return _kept(state)
    return _with(
        state,
        phase="COLLECTING_SLOTS",
        consent=None,
        next="clarify",
        preface=text("declined", language),
        asks=[],
        selected=None,
        offer=None,
        candidates=[],
    )


def _kept(state: State) -> State:
    """The stored booking stays as it is; a draft that waited goes on."""
    said = state["dialogue"]
    draft = _with(resumed(state), asides=said["asides"])
    return _aside({**draft, "result": state["result"]}, "kept", None)


def _drop(state: State, proposal: Proposal, now: datetime) -> State:
    was_open = state["dialogue"]["phase"] in OPEN_PHASES
    kept = state["dialogue"]["target"] is not None
    if state["dialogue"]["next"] == "book":
        # Said in the same breath as the yes: nothing was written, and what was confirmed is no
        # draft any more. It stays readable as what was called off.
        called_off = _with(
            state, phase="IDLE", next="answer", offer=None, question=None, asks=[], consent=None
        )
        return _aside(called_off, "dropped", None)
    ended = _fresh(state)
    if not was_open:
        return _aside({**ended, "result": state["result"]}, "nothing_open", None)
    if kept:
        return _kept(state)
    return _aside(ended, "dropped", None)


def _restart(state: State, proposal: Proposal, now: datetime) -> State:
    state = _fresh(state)
    understanding = proposal.understanding
    if understanding is None or not understanding.slots:
        return _with(state, phase="COLLECTING_SLOTS", next="clarify", asks=_ALL_ASKS, preface="")
    return _filled(state, understanding, now)


_ALL_ASKS = ["date", "start_time", "duration_minutes", "capacity"]


def _resume(state: State, proposal: Proposal, now: datetime) -> State:
    if state["dialogue"]["phase"] in OPEN_PHASES:
        return _with(state, next="ask")
    return _aside(state, "unclear", None)


_STEPS = {
    "fill": _fill,
    "select": _select,
    "confirm": _confirm,
    "decline": _decline,
    "drop": _drop,
    "restart": _restart,
    "resume": _resume,
}
