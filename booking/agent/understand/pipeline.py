"""One message in, one Understanding out. Pure: `now`, the office's names and the draft are arguments."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from booking.agent.understand import acts, assigned, cues, injection, reference, spelling, when
from booking.agent.understand.facts import Facts, gather
from booking.agent.understand.heard import Act, Heard
from booking.agent.understand.normalise import Normalised, language_of, normalise
from booking.agent.understand.scope import all_alone, scope_answer
from booking.agent.understand.selection import choose_option, size_of
from booking.agent.understand.slots import collect, lone_number
from booking.agent.understand.titles import explicit_span
from booking.agent.understand.types import (
    DraftView,
    Found,
    Lexicon,
    OpeningHours,
    Problem,
    Span,
    Understanding,
)

_COMMANDS = frozenset(
    {
        "cancel_booking",
        "modify_booking",
        "cancel_flow",
        "confirm",
        "check_in",
        "out_of_domain",
        "decline",
        "select",
    }
)


def understand(
    text: str,
    *,
    now: datetime,
    lexicon: Lexicon,
    hours: OpeningHours,
    draft: DraftView,
    act: str = "",
) -> Understanding:
    """Read one message as said in the state of `draft`. `now` is aware, in the rooms' zone.

    act: what the message does, where something else decided so (see `assigned`).
    """
    message, attacks = _cleaned(text)
    folded = injection.without(message.folded, attacks)
    if act == "restart" or cues.RESTART.search(folded):
        draft = DraftView(language=draft.language)
    facts = gather(folded, message.text, lexicon=lexicon, now=now)
    slots, problems = _slots(facts, folded, message, now=now, hours=hours, draft=draft)
    heard = Heard(folded, facts, slots, tuple(problems), draft, lexicon)
    done = assigned.act_of(heard, act) if act else acts.decide(heard)
    if attacks and done.name in _COMMANDS:
        done = Act("injection")
    result = Understanding(
        text=message.text,
        language=language_of(message.text, draft.language),
        acts=_names(done, attacked=bool(attacks)),
        slots=slots if done.name not in {"injection", "out_of_domain"} else {},
        problems=(*message.problems, *_relevant(problems, done)),
        selection=done.selection,
        booking_ref=done.ref,
        wants=done.wants,
    )
    if done.name == "modify_booking" and done.ref is None:
        change = reference.find_change(
            folded, message.text, facts, lexicon=lexicon, now=now, hours=hours, draft=draft
        )
        size = {key: slots[key] for key in ("size",) if key in slots}  # of no half of the sentence
        return replace(
            result,
            slots={**change.slots, **size},
            problems=change.problems,
            booking_ref=change.ref,
        )
    return result


def _cleaned(text: str) -> tuple[Normalised, tuple[Span, ...]]:
    """The message with slips mended, and the sentences of it that are orders to the machine."""
    message = normalise(text)
    message = spelling.corrected(message, explicit_span(message.folded))
    title = explicit_span(message.folded)
    return message, injection.find(injection.without(message.folded, (title,) if title else ()))


def place_of(words: str, text: str) -> Span | None:
    """Where a message says these words, in its text as `understand` gives it; None where it does
    not, or only inside an order to the machine.
    """
    message, attacks = _cleaned(text)
    wanted = normalise(words)
    readable = injection.without(message.folded, attacks)
    for form in (wanted, spelling.corrected(wanted, None)):
        start = readable.find(form.folded) if form.folded else -1
        if start >= 0:
            return start, start + len(form.folded)
    return None


def _names(act: Act, *, attacked: bool) -> tuple[str, ...]:
    if attacked and act.name != "injection":
        return (act.name, "injection")
    return (act.name,)


def _relevant(problems: list[Problem], act: Act) -> list[Problem]:
    if act.wants == "unclear":
        return [Problem("not_understood", "", (0, 0))]
    if act.name.startswith("query"):
        return [problem for problem in problems if problem.code != "vague_date"]
    return problems if act.name in acts.SPEAKING else []


def _slots(
    facts: Facts,
    folded: str,
    message: Normalised,
    *,
    now: datetime,
    hours: OpeningHours,
    draft: DraftView,
) -> tuple[dict[str, Found], list[Problem]]:
    """Every slot of the message, the answers to an open question included."""
    timed, problems = when.decide(
        facts, message.text, now=now, opening=hours, draft=draft, may_assume_today=True
    )
    others, more = collect(facts, message.text, draft)
    slots = {**others, **timed}
    if (answer := lone_number(folded, draft)) is not None and answer[0] not in slots:
        slots[answer[0]] = answer[1]
    if (option := choose_option(folded, facts, slots, draft)) is not None:
        slots[option[0]] = option[1]
        slots.pop("window", None) if option[0] == "start_time" else None
    if "scope" in draft.missing and (scope := scope_answer(folded, facts)):
        slots["scope"] = Found(scope, (0, len(folded)), "scope.answer")
    if draft.is_open and (skip := cues.SKIP_DATE.search(folded)):
        slots["on_clash"] = Found("skip", skip.span(), "on_clash.skip")
    if draft.is_open and not slots and all_alone(folded):
        slots["scope"] = Found("all", (0, len(folded)), "scope.alone")
    if (together := cues.TOGETHER.search(folded)) is not None:
        slots["may_split"] = Found(value=True, span=together.span(), rule="split.said")
    if draft.phase == "BOOKED" and (size := size_of(folded)):
        slots["size"] = size
    return slots, problems + more
