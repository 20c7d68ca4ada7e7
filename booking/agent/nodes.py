"""The graph's nodes: read, decide by the pure modules, ask or act. Every tool runs as the owner.

`ask` interrupts and has nothing before the interrupt. Nodes are asynchronous, so that a run can
be stopped; what is synchronous runs in a database thread through the context.
"""

from collections.abc import Mapping
from datetime import date, datetime, time
from functools import partial
from typing import Any

from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from agentruntime.execution.context import RunContext
from booking.agent import (
    acts,
    answers,
    dialogue,
    inquiries,
    offers,
    questions,
    repeating,
    revisions,
    together,
    tools,
)
from booking.agent.planner import Heard, choice, propose_answer
from booking.agent.state import (
    OPEN_PHASES,
    BookingState,
    acts_at_once,
    fresh_dialogue,
    reset,
    standing,
)
from booking.agent.texts import text
from booking.agent.understand import CandidateInfo, DraftView
from booking.exceptions import PolicyViolation, RoomUnavailable, SeriesClash

Context = Runtime[RunContext]
Update = dict[str, Any]

FREE_STARTS = 8
GUESSED_MINUTES = 60


def draft_view(state: Mapping[str, Any], *, is_answer: bool) -> DraftView:
    """What the conversation holds, as understanding takes it. Pure.

    is_answer: the words answer the open question; the further words of a turn answer nothing.
    """
    said = state["dialogue"]
    target = said["target"]
    return DraftView(
        phase=standing(state),
        # What is said while a change is asked about is said about the changed booking.
        slots=state["slots"] if target is None else target.get("slots") or {},
        candidates=tuple(
            CandidateInfo(
                room=card["room"],
                names=tuple(card["names"]),
                building=card["building"],
                floor=card["floor"],
                seats=card["seats"] or 0,
                features=tuple(each["code"] for each in card["features"]),
                start_time=card["starts_at"][11:16] if card.get("starts_at") else None,
            )
            for card in said["candidates"]
        ),
        missing=tuple(said["asks"]) if is_answer else (),
        assumed=tuple(said["assumed"]),
        options=tuple((slot, value) for slot, value in said["options"]),
        selected=said["selected"],
        language=said["language"],
    )


async def understand_said(state: BookingState, runtime: Context) -> Update:
    """Read the turn's messages in order; each moves the state machine on."""
    context = runtime.context
    known = await context.read(tools.knowledge, context.owner_id, now=context.now)
    plan = choice.chosen()
    current: dict[str, Any] = {**reset(context.language), **state}
    said = current["dialogue"]
    current["dialogue"] = {
        **fresh_dialogue(said["language"]), **said, "read_back": said["assumed"], "consent": None
    }  # fmt: skip
    asked = ((said["question"] or {}).get("data") or {}).get("digest")
    changes: list[tuple[str, str]] = []
    for number, message in enumerate(current["said"]["messages"]):
        now = datetime.fromisoformat(message["at"]).astimezone(known.zone)
        value = message.get("value") or {}
        words = message.get("text") or value.get("text")
        if isinstance(words, str):
            heard = Heard(
                text=words,
                now=now,
                lexicon=known.lexicon,
                hours=known.hours,
                draft=draft_view(current, is_answer=number == 0),
                asked=asked,
                acts_at_once=acts_at_once(current),
            )
            planned = await plan(heard)
            context.ensure_current()
            proposal, label = planned.proposal, planned.label
            if planned.figures:
                context.note(planner=[*context.noted.get("planner", ()), dict(planned.figures)])
        else:
            proposal = propose_answer(value, asked=asked)
            label = proposal.action
        context.classes[message["id"]] = label[:40]
        before, current = current, dialogue.advance(current, proposal, now)
        if proposal.action == "fill":
            changes += revisions.between(before, current).elements()
    context.note(**revisions.noted(changes))
    return {key: current[key] for key in ("slots", "dialogue", "result")}


async def clarify(state: BookingState, runtime: Context) -> Update:
    """Put the question for what is missing; for a part of a day, show what is free in it."""
    said, slots = state["dialogue"], state["slots"]
    question = questions.clarify(
        asks=said["asks"], slots=slots, language=said["language"], options=said["options"]
    )
    if "start_time" in said["asks"] and slots.get("window") and slots.get("date"):
        free = await _free_in_window(slots, said["language"], runtime.context)
        question["message"] = questions.lines(free, question["message"])
    return {"dialogue": {**said, "phase": "COLLECTING_SLOTS", "question": question, "next": "ask"}}


async def _free_in_window(slots: Mapping[str, Any], language: str, context: RunContext) -> str:
    first, last = (time.fromisoformat(each) for each in slots["window"])
    starts = await context.read(
        tools.free_starts,
        context.owner_id,
        date=date.fromisoformat(slots["date"]),
        window=(first, last),
        minutes=slots.get("duration_minutes") or GUESSED_MINUTES,
        headcount=slots.get("capacity") or 1,
        building=slots.get("building"),
        floor=slots.get("floor"),
        features=tuple(slots.get("features") or ()),
        room=slots.get("room"),
        now=context.now,
    )
    if not starts:
        return text("window.full", language)
    known = await context.read(tools.knowledge, context.owner_id, now=context.now)
    shown = [
        f"{each.astimezone(known.zone):%H:%M}" for each in inquiries.spread(starts, FREE_STARTS)
    ]
    return text("window.free", language, starts=", ".join(shown))


async def search(state: BookingState, runtime: Context) -> Update:
    """Look for rooms, or look again whether the one that was taken is still free."""
    context, said = runtime.context, state["dialogue"]
    known = await context.read(tools.knowledge, context.owner_id, now=context.now)
    if together.is_together(said["selected"]):
        request = together.request_of(state["slots"], known.zone)
        result = await context.read(tools.search, context.owner_id, request, now=context.now)
        return {"dialogue": together.after_search(state, result, request)["dialogue"]}
    request = offers.request_of(state["slots"], known.zone, selected=said["selected"])
    if state["slots"].get("recurrence"):
        current = await repeating.search(state, request, known, context)
        return {"slots": current["slots"], "dialogue": current["dialogue"]}
    result = await context.read(tools.search, context.owner_id, request, now=context.now)
    refused = result.refusal
    current = offers.after_search(
        state,
        result,
        request,
        rooms=known.rooms,
        features=known.features,
        refusal_text=answers.refusal_text(refused, said["language"]) if refused else "",
    )
    return {"dialogue": current["dialogue"]}


async def ask(state: BookingState) -> Update:
    """Wait for the person."""
    said = state["dialogue"]
    question = said["question"]
    message = questions.lines(said["preface"], question["message"])
    answer = interrupt({**question, "message": message})
    return {"said": {"messages": answer["messages"]}}


async def book(state: BookingState, runtime: Context) -> Update:
    """Book exactly what was confirmed, once; a lost race goes back to the search."""
    context, said = runtime.context, state["dialogue"]
    language, offer = said["language"], said["offer"]
    if said["consent"] != questions.digest(offer):
        return {"dialogue": {**said, "next": "ask"}}
    arguments = {key: value for key, value in offer.items() if key != "intent"}
    try:
        result = await context.effect(
            "book_room",
            key=offer["intent"],
            arguments={**arguments, "digest": said["consent"]},
            call=partial(acts.book, owner_id=context.owner_id, offer=offer, now=context.now),
        )
    except (RoomUnavailable, PolicyViolation, SeriesClash) as error:
        preface = answers.error_text(error, language)
        return {
            "dialogue": {
                **said, "next": "search", "selected": None, "offer": None, "preface": preface
            }
        }  # fmt: skip
    words = questions.lines(said["preface"], answers.booked_text(result, language))
    context.say(words, kind="complete", data=result)
    done = {
        **said, "phase": "BOOKED", "next": END, "question": None, "asks": [], "offer": None,
        "consent": None,
    }  # fmt: skip
    return {"dialogue": done, "result": result}


async def answer(state: BookingState, runtime: Context) -> Update:
    """Answer what the person asked, then go on with what the turn set off, or with the open
    question (P11).
    """
    context, said = runtime.context, state["dialogue"]
    asides = said["asides"] or [{"kind": "unclear"}]
    told = [await inquiries.answer(state, each, context) for each in asides]
    words = questions.lines(*[each.words for each in told])
    done = {**said, "asides": [], "told": asides[-1]["kind"]}
    if said["next"] != "answer":
        return {"dialogue": {**done, "preface": questions.lines(words, said["preface"])}}
    done["wants"] = None
    if said["phase"] in OPEN_PHASES and said["question"] is not None:
        return {"dialogue": {**done, "preface": words, "next": "ask"}}
    options = [option for each in told for option in each.options]
    data = answers.data(state) | ({"options": options} if options else {})
    context.say(words, kind="complete", data=data)
    return {"dialogue": {**done, "next": END}}


def route(state: BookingState) -> str:
    """The node the dialogue goes on with; what the person asked is answered first."""
    said = state["dialogue"]
    return "answer" if said.get("asides") else str(said["next"])
