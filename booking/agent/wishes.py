"""What words ask of a stored booking, and what a question is about, as plain JSON. Pure."""

from collections.abc import Mapping
from typing import Any

from booking.agent.understand import cues
from booking.agent.understand.types import Problem, Understanding


def _words(understanding: Understanding | None) -> dict[str, Any]:
    """A reference to a stored booking and the new values, as plain JSON."""
    if understanding is None:
        return {}
    ref = understanding.booking_ref
    return {
        "slots": {
            key: found.value
            for key, found in understanding.slots.items()
            if found.rule != "date.today"  # nobody said that day
        },
        "ref": None
        if ref is None
        else {
            "booking_ids": list(ref.booking_ids),
            "series_ids": list(ref.series_ids),
            "title": ref.title,
            "room": ref.room,
            "date": ref.date,
            "start_time": ref.start_time,
            "owner": ref.owner,
            "scope": ref.scope,
            "everyone": ref.everyone,
            "last": ref.last,
            "upcoming": ref.upcoming,
        },
    }


def wish(action: str, understanding: Understanding | None) -> dict[str, Any]:
    """What is to become of which stored booking; `asks` and `options` are what the words left open.

    The other words of a cancellation or a check-in say which booking it is about.
    """
    words = _words(understanding)
    if action != "move_booking":
        words["slots"] = {}
    problems = understanding.problems if understanding is not None else ()
    asks = [problem.slot for problem in problems if problem.slot]
    return {"kind": action, **words, "asks": asks, "options": options(problems)}


def wish_of(target: Mapping[str, Any]) -> dict[str, Any]:
    """What is wished of the booking that is asked about; states of old know only which it is."""
    of_old = {"kind": target["kind"], "slots": {}, "chosen": {"booking": target.get("booking")}}
    return dict(target.get("wish") or of_old)


def on_day(wish: Mapping[str, Any], day: str) -> dict[str, Any]:
    """The same booking, on that date of its series."""
    chosen = wish.get("chosen") or {}
    return {**wish, "chosen": {**chosen, "occurrence": day}} if chosen else dict(wish)


def question(kind: str, understanding: Understanding | None) -> dict[str, Any]:
    """What the person asks; `about` says which kind of question about a room, `upcoming` that the
    next booking is meant, `unknown` the room that there is not.
    """
    if understanding is None:
        return {"kind": kind}
    upcoming = bool(cues.UPCOMING.search(understanding.text.casefold()))
    unknown = next((p.text for p in understanding.problems if p.code == "unknown_room"), "")
    facts = {"about": understanding.wants, "upcoming": upcoming, "unknown": unknown}
    said = {key: value for key, value in facts.items() if value}
    return {"kind": kind, **_words(understanding), **said}


def options(problems: tuple[Problem, ...]) -> list[list[Any]]:
    """The readings that a question about these problems offers."""
    return [[each.slot, option] for each in problems for option in each.options]
