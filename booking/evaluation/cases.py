"""Conversation cases: one JSON object a line, with the world they start from beside them. Pure.

A line has `id`, `lang`, `now`, `turns` and `expect`; docs/understanding.md lists every key. The
world is the file's `fixture.json`, or the case's own `fixture`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

LANGUAGES = ("zh", "en", "mix")
PHASES = ("IDLE", "COLLECTING_SLOTS", "AWAITING_SELECTION", "CONFIRMING", "BOOKED")
_EXPECTED = ("classification", "slots", "phase", "outcome")


class BadCase(Exception):
    """A case or its world cannot be read; says where."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message: words, or an answer to a card (`answer`: what a click sends). gap_ms: silence before it. while_running: said while the run that the turn
    before started is still at work. world: what somebody else does before it.
    """

    text: str = ""
    answer: Mapping[str, Any] | None = None
    gap_ms: int = 0
    while_running: bool = False
    world: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """A conversation and what should come of it. fixture: the world it starts from."""

    id: str
    lang: str
    now: datetime
    turns: Sequence[Turn]
    expect: Mapping[str, Any]
    family: str
    fixture: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class World:
    """Which rows a fixture became, by its ids. user: who speaks. bookings: single ones and series."""

    zone: ZoneInfo
    user: str
    people: dict[str, int] = field(default_factory=dict)
    bookings: dict[int, int] = field(default_factory=dict)
    seats: dict[str, int] = field(default_factory=dict)

    @property
    def owner(self) -> int:
        """The speaker's primary key."""
        return self.people[self.user]

    def person(self, pk: int | str) -> str:
        """The fixture's id of a person."""
        return next((each for each, row in self.people.items() if row == int(pk)), f"?{pk}")

    def booking(self, pk: int) -> int | None:
        """The fixture's id of a booking; None for one that is not the fixture's."""
        return next((each for each, row in self.bookings.items() if row == pk), None)


def load(path: Path) -> list[Case]:
    """The cases of a file. Raises BadCase with the line's number."""
    fixture = _fixture_beside(path)
    found: dict[str, Case] = {}
    for number, line in enumerate(_read(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            case = read(line, fixture=fixture)
            if case.id in found:
                raise BadCase(f"the id {case.id} is taken")
        except BadCase as error:
            raise BadCase(f"{path}, line {number}: {error}") from error
        found[case.id] = case
    return list(found.values())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadCase(f"{path} cannot be read: {error}") from error


def _fixture_beside(path: Path) -> Mapping[str, Any]:
    beside = path.with_name("fixture.json")
    if not beside.exists():
        return {}
    try:
        found = json.loads(_read(beside))
    except ValueError as error:
        raise BadCase(f"{beside} is no JSON: {error}") from error
    return _object(found, f"{beside}")


def read(line: str, *, fixture: Mapping[str, Any]) -> Case:
    """One line. Raises BadCase."""
    try:
        raw = _object(json.loads(line), "the case")
    except ValueError as error:
        raise BadCase(f"no JSON: {error}") from error
    expect = _object(raw.get("expect"), "expect")
    for key in _EXPECTED:
        if key not in expect:
            raise BadCase(f"expect has no {key}")
    turns = [_turn(each, number) for number, each in enumerate(_list(raw.get("turns"), "turns"))]
    if not turns:
        raise BadCase("turns is empty")
    if len(_list(expect["classification"], "classification")) != len(turns):
        raise BadCase("expect.classification has not one class a turn")
    if expect["phase"] not in PHASES:
        raise BadCase(f"expect.phase is none of {', '.join(PHASES)}")
    return Case(
        id=_text(raw.get("id"), "id"),
        lang=_one_of(raw.get("lang"), LANGUAGES, "lang"),
        now=_instant(raw.get("now")),
        turns=turns,
        expect=expect,
        family=raw.get("family") or family_of(turns, expect),
        fixture=_object(raw.get("fixture", fixture), "fixture"),
    )


def _turn(raw: Any, number: int) -> Turn:
    turn = _object(raw, f"turn {number + 1}")
    gap = turn.get("gap_ms", 0)
    if not isinstance(gap, int) or gap < 0:
        raise BadCase(f"turn {number + 1}: gap_ms is a number of milliseconds")
    is_beside = bool(turn.get("while_running"))
    if is_beside and number == 0:
        raise BadCase("turn 1 cannot be said while a run is at work")
    world = turn.get("world")
    answer = turn.get("answer")
    if answer is None:
        _text(turn.get("text"), f"turn {number + 1}: text")
    return Turn(
        text=turn.get("text", ""),
        answer=None if answer is None else _object(answer, f"turn {number + 1}: answer"),
        gap_ms=gap,
        while_running=is_beside,
        world=None if world is None else _object(world, f"turn {number + 1}: world"),
    )


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadCase(f"{name} is no object")
    return value


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadCase(f"{name} is no list")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadCase(f"{name} is no text")
    return value


def _one_of(value: Any, choices: Sequence[str], name: str) -> str:
    if value not in choices:
        raise BadCase(f"{name} is none of {', '.join(choices)}")
    return str(value)


def _instant(value: Any) -> datetime:
    try:
        instant = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise BadCase("now is no instant (ISO 8601)") from error
    if instant.tzinfo is None:
        raise BadCase("now has no zone")
    return instant


_CHANGES = frozenset({"modify_booking", "cancel_booking", "check_in"})
_QUESTIONS = frozenset({"query_mine", "query_room", "query_availability"})
_REVISIONS = frozenset({"correction", "supplement", "restart", "decline", "cancel_flow", "resume"})


def family_of(turns: Sequence[Turn], expect: Mapping[str, Any]) -> str:
    """What a case is mostly about, the rarest trait first; a case may name its own `family`."""
    acts = {act for label in expect["classification"] for act in str(label).split("+")}
    outcome = str(expect["outcome"])
    traits = (
        ("interruptions", any(turn.while_running for turn in turns)),
        ("injection", "injection" in acts),
        ("changes of bookings", bool(acts & _CHANGES)),
        ("questions", bool(acts & _QUESTIONS)),
        ("refusals", outcome.startswith("refused")),
        ("series", "recurrence" in (expect.get("extras") or {})),
        ("booked", outcome in {"booked", "needs_approval"}),
        ("revisions", bool(acts & _REVISIONS)),
        ("clarifying", outcome == "asked"),
        ("over several turns", len(turns) > 1),
    )
    return next((name for name, has in traits if has), "in one message")
