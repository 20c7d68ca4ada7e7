"""The node that checks the person in. Their words are the yes: it writes only that they are there.

With one booking due there is nothing to choose and nothing to lose, so no confirmation stands
between "I'm here" and the check-in; with several, which one is asked. The effect's key is the
message: said twice, or read twice after a crash, it is done once.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from langgraph.graph import END
from langgraph.runtime import Runtime

from agentruntime.execution.context import RunContext
from booking.agent import acts, answers, questions, targets, tools
from booking.agent.state import OPEN_PHASES, BookingState, fresh_dialogue
from booking.agent.texts import span_text, text
from booking.agent.tools import Attendance, OwnUse
from booking.exceptions import BookingError

Update = dict[str, Any]


async def check_in(state: BookingState, runtime: Runtime[RunContext]) -> Update:
    """Check in to the booking that is due, ask which of several, or say what is in the way."""
    context, said = runtime.context, state["dialogue"]
    wish, language = said["wants"], said["language"]
    there = await context.read(tools.attendance, context.owner_id, now=context.now)
    due = _meant(wish, there.due)
    if len(due) > 1:
        known = await context.read(tools.knowledge, context.owner_id, now=context.now)
        question = targets.which(due, known.rooms, "check_in", language)
        return {
            "dialogue": {
                **fresh_dialogue(language),
                "phase": "AWAITING_SELECTION",
                "next": "ask",
                "candidates": question["data"]["alternatives"],
                "target": {"kind": "check_in", "wish": wish},
                "question": question,
            }
        }
    if not due:
        return _said(said, context, why_not(_those(wish, there), language), {})
    use = due[0]
    try:
        result = await context.effect(
            "check_in",
            key=f"check_in-{context.messages[-1].id}",
            arguments={"booking": use.booking, "occurrence": _date(use), "room": use.room},
            call=partial(acts.check_in, owner_id=context.owner_id, use=use, now=context.now),
        )
    except BookingError as error:
        return _said(said, context, answers.error_text(error, language), {})
    words = text("checked_in", language, room=use.room, when=_when(use, language))
    return _said(said, context, words, result)


def _said(
    said: Mapping[str, Any], context: RunContext, words: str, result: Mapping[str, Any]
) -> Update:
    """Say it and go on with the draft, which stays as it was (P11)."""
    done = {**said, "wants": None, "told": "checked_in" if result else "check_in"}
    words = questions.lines(said["preface"], words)
    if said["phase"] in OPEN_PHASES and said["question"] is not None:
        return {"dialogue": {**done, "preface": words, "next": "ask"}}
    context.say(words, kind="complete", data=result)
    return {"dialogue": {**done, "preface": "", "next": END}}


def _meant(wish: Mapping[str, Any], due: Sequence[OwnUse]) -> list[OwnUse]:
    """Those that the words allow; all if they name none."""
    if wish.get("chosen"):
        return [use for use in due if use.booking == wish["chosen"]["booking"]]
    return targets.named(wish, due) if targets.is_named(wish) else list(due)


def _those(wish: Mapping[str, Any], there: Attendance) -> Attendance:
    """The attendance at what the words name, if it is something the person has."""
    if not targets.is_named(wish):
        return there
    return Attendance(
        due=(),
        here=tuple(targets.named(wish, there.here)),
        late=tuple(each for each in there.late if targets.named(wish, [each[0]])),
        ahead=tuple(each for each in there.ahead if targets.named(wish, [each[0]])) or there.ahead,
    )


def why_not(there: Attendance, language: str) -> str:
    """Already there, too late, too early, not approved, or nothing to come."""
    if there.here:
        use = there.here[0]
        return text("check_in.again", language, room=use.room, when=_when(use, language))
    if there.late:
        use, closed = there.late[-1]
        zone = use.starts_at.tzinfo
        until = f"{closed.astimezone(zone):%H:%M}"
        when = _when(use, language)
        return text("check_in.late", language, room=use.room, when=when, until=until)
    if not there.ahead:
        return text("check_in.none", language)
    use, opens = there.ahead[0]
    key = "check_in.pending" if use.status == "pending" else "check_in.early"
    when, since = _when(use, language), opens.astimezone(use.starts_at.tzinfo)
    day = "" if since.date() == use.starts_at.date() else f"{since:%Y-%m-%d} "
    return text(key, language, room=use.room, when=when, since=f"{day}{since:%H:%M}")


def _when(use: OwnUse, language: str) -> str:
    return span_text(use.starts_at, use.ends_at, language)


def _date(use: OwnUse) -> str | None:
    return use.recurrence_date.isoformat() if use.recurrence_date else None
