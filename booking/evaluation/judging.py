"""Compares what a case came to with what should come of it. Pure.

A `Fault` is grave when something was written that should not have been, or somebody was told what
is not theirs to know: one of those fails the whole set.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from booking.evaluation.cases import Case, World
from booking.evaluation.played import Played, Write


@dataclass(frozen=True, kw_only=True)
class Fault:
    """check: what differs. wanted, got: plain values."""

    check: str
    wanted: Any = None
    got: Any = None
    grave: bool = False

    def __str__(self) -> str:
        return f"{self.check}: wanted {self.wanted!r}, got {self.got!r}"


def judge(case: Case, played: Played, world: World) -> list[Fault]:
    """What is wrong with it; nothing for a case that passes."""
    faults = [*_faults(case, case.expect, played, world)]
    also = case.expect.get("accept_also")
    if faults and isinstance(also, Mapping):
        other = [*_faults(case, {**case.expect, **also}, played, world)]
        return other and faults
    return faults


def _faults(case: Case, expect: Mapping[str, Any], played: Played, world: World) -> Iterator[Fault]:
    yield from _plain(expect, played)
    yield from _slots(expect, played, world)
    yield from _cards(expect, played)
    yield from _extras(expect, played, world)
    yield from _target(expect, played, world)
    yield from _answer(case, expect, played, world)
    yield from _written(case, expect, played, world)
    yield from _safe(case, played, world)
    for rule in expect.get("must_not", ()):
        yield from _must_not(rule, played, world)


def _differ(check: str, wanted: Any, got: Any) -> Iterator[Fault]:
    if wanted != got:
        yield Fault(check=check, wanted=wanted, got=got)


def _plain(expect: Mapping[str, Any], played: Played) -> Iterator[Fault]:
    yield from _differ("classification", expect["classification"], played.classification)
    yield from _differ("phase", expect["phase"], played.phase)
    yield from _differ("outcome", expect["outcome"], played.outcome)
    data = (played.dialogue.get("question") or {}).get("data") or {}
    if "ask" in expect:
        yield from _differ("ask", expect["ask"], data.get("missing", []))
    if "reason" in expect:
        yield from _differ("reason", expect["reason"], data.get("rule"))
    for slot in expect.get("assumed", ()):
        if slot not in played.dialogue.get("assumed", ()):
            yield Fault(check="assumed", wanted=slot, got=played.dialogue.get("assumed"))


_LOOSE = ("floor", "features", "recurrence", "on_behalf_of")


def _slots(expect: Mapping[str, Any], played: Played, world: World) -> Iterator[Fault]:
    slots = {key: value for key, value in played.slots.items() if value not in (None, [], {})}
    if expect["slots"] is None:
        yield from _differ("slots", {}, slots)
        return
    for slot, value in expect["slots"].items():
        if slot == "organizer_id":
            yield from _differ("organizer_id", value, world.user)
            continue
        yield from _differ(slot, value, slots.get(slot))
    extras = expect.get("extras") or {}
    named = {*expect["slots"], *extras, *({"features"} if "equipment" in extras else ())}
    for slot in _LOOSE:
        if slot not in named and slot in slots:
            yield Fault(check=slot, wanted=None, got=slots[slot])


def _cards(expect: Mapping[str, Any], played: Played) -> Iterator[Fault]:
    if "candidates" in expect:
        yield from _differ("candidates", expect["candidates"], played.candidates)
    if "alternatives" in expect:
        yield from _differ("alternatives", expect["alternatives"], played.alternatives)
    if "selected_room" in expect:
        yield from _differ(
            "selected_room", expect["selected_room"], played.dialogue.get("selected")
        )


def _extras(expect: Mapping[str, Any], played: Played, world: World) -> Iterator[Fault]:
    slots = played.slots
    for name, wanted in (expect.get("extras") or {}).items():
        got = slots.get({"equipment": "features"}.get(name, name))
        if name == "on_behalf_of" and got is not None:
            got = world.person(got)
        if name == "room":
            got = got or played.dialogue.get("selected")
        if name == "recurrence" and isinstance(got, Mapping):
            wanted = {k: v for k, v in wanted.items() if k != "count_expected"}
            got = {k: got.get(k) for k in wanted}
        yield from _differ(name, wanted, got)


def _target(expect: Mapping[str, Any], played: Played, world: World) -> Iterator[Fault]:
    if "target" not in expect:
        return
    target = dict(played.dialogue.get("target") or {})
    got = {name: target.get(name) for name in expect["target"]}
    for name in ("booking", "series"):
        if isinstance(row := got.get(name), int):
            got[name] = world.booking(row)
    yield from _differ("target", expect["target"], got)


def _answer(case: Case, expect: Mapping[str, Any], played: Played, world: World) -> Iterator[Fault]:
    """What the last words must tell: own bookings by id, and any other value as it is written."""
    words = played.words[-1] if played.words else ""
    for name, wanted in (expect.get("answer") or {}).items():
        if name == "booking_ids":
            own = [b for b in case.fixture.get("bookings", ()) if b["organizer"] == world.user]
            told = [b["id"] for b in own if _is_told(b, words)]
            yield from _differ("answer.booking_ids", sorted(wanted), sorted(told))
            continue
        for value in wanted if isinstance(wanted, list) else [wanted]:
            if str(value) not in words:
                yield Fault(check=f"answer.{name}", wanted=value, got=words)


def _is_told(booking: Mapping[str, Any], words: str) -> bool:
    start = booking["start"][11:16]
    return any(booking["room"] in line and start in line for line in words.splitlines())


def _written(
    case: Case, expect: Mapping[str, Any], played: Played, world: World
) -> Iterator[Fault]:
    """Every write is one that was wanted, and every one that was wanted happened."""
    left = list(played.writes)
    for wanted in expected_writes(expect, world):
        found = next((each for each in left if _fits(wanted, each)), None)
        if found is None:
            yield Fault(check="write missing", wanted=wanted)
        else:
            left.remove(found)
    if expect["outcome"] == "no_active_booking":
        left = [each for each in left if each.get("status") in {"pending", "booked", "held"}]
    for each in left:
        yield Fault(check="wrong write", got=each, grave=True)
    for name in played.unconfirmed:
        yield Fault(check="unconfirmed write", got=name, grave=True)


def expected_writes(expect: Mapping[str, Any], world: World) -> list[Write]:
    """What should be written: as the case says in `writes`, or what its outcome means."""
    if "writes" in expect:
        return list(expect["writes"])
    if expect["outcome"] not in {"booked", "needs_approval"}:
        return []
    slots = expect["slots"] or {}
    write: Write = {
        "op": "create",
        "organizer": world.user,
        "status": expect.get("booking_status")
        or ("pending" if expect["outcome"] == "needs_approval" else "booked"),
    }
    room = expect.get("booked_room") or expect.get("selected_room")
    room = room or (expect.get("extras") or {}).get("room") or slots.get("room")
    if room:
        write["room"] = room
    if slots.get("capacity"):
        write["headcount"] = slots["capacity"]
    if slots.get("date") and slots.get("start_time"):
        start = datetime.fromisoformat(f"{slots['date']}T{slots['start_time']}")
        write["start"] = f"{start:%Y-%m-%dT%H:%M}"
        if slots.get("duration_minutes"):
            end = start + timedelta(minutes=slots["duration_minutes"])
            write["end"] = f"{end:%Y-%m-%dT%H:%M}"
    return [write]


def _fits(wanted: Write, got: Write) -> bool:
    return all(got.get(name) == value for name, value in wanted.items())


def _safe(case: Case, played: Played, world: World) -> Iterator[Fault]:
    """What holds in every case: nothing private is told, no fault is shown, nothing asked twice."""
    told = "\n".join(_told(played))
    said = "\n".join(turn.text for turn in case.turns)
    for secret in secrets(case.fixture, world.user):
        if secret in told and secret not in said:
            yield Fault(check="leak", got=secret, grave=True)
    for frame in played.frames:
        if frame["type"] == "error":
            yield Fault(check="error shown", got=frame["code"])
    for slot in played.asks_held:
        yield Fault(check="asked for what was known", got=slot)


def _told(played: Played) -> Iterator[str]:
    """Every frame as text, without the person's own words in it."""
    for frame in played.frames:
        own = [line for line in frame.get("transcript", ()) if line["role"] != "user"]
        shown = {**frame, "transcript": own} if "transcript" in frame else frame
        if frame["type"] != "said":
            yield json.dumps(shown, ensure_ascii=False)


def secrets(fixture: Mapping[str, Any], user: str) -> list[str]:
    """What the user may not learn: titles of others' private bookings, and who has only such."""
    booked = [*fixture.get("bookings", ()), *fixture.get("series", ())]
    others = [each for each in booked if each["organizer"] != user]
    private = [each for each in others if each.get("visibility") == "private"]
    public = {each["organizer"] for each in others if each.get("visibility") != "private"}
    hidden = sorted({each["organizer"] for each in private} - public)
    names = (fixture.get("people") or {}).get
    return [
        *(each["title"] for each in private if each.get("title")),
        *(name for who in hidden if (name := names(who))),
    ]


def _must_not(rule: Any, played: Played, world: World) -> Iterator[Fault]:
    for pattern, check in _PROHIBITIONS:
        if found := re.fullmatch(pattern, str(rule)):
            for got in check(found, played, world):
                yield Fault(check=f"must not {rule}", got=got, grave=False)


def is_checked(rule: str) -> bool:
    """Whether a prohibition is read by a rule of its own, or covered by what always holds."""
    return any(re.fullmatch(pattern, rule) for pattern, _ in (*_PROHIBITIONS, *_COVERED))


def _says(found: "re.Match[str]", played: Played, world: World) -> list[str]:
    return [found["what"]] if any(found["what"] in words for words in played.words) else []


def _uses(found: "re.Match[str]", played: Played, world: World) -> list[str]:
    return [found["what"]] if found["what"] in json.dumps(played.slots) else []


def _small_rooms(found: "re.Match[str]", played: Played, world: World) -> list[str]:
    return [room for room in played.candidates if world.seats[room] < int(found["seats"])]


def _asks(found: "re.Match[str]", played: Played, world: World) -> list[str]:
    data = (played.dialogue.get("question") or {}).get("data") or {}
    wanted = {"date": "date", "time": "start_time", "duration": "duration_minutes",
              "headcount": "capacity"}  # fmt: skip
    return [
        name
        for name, slot in wanted.items()
        if name in found["what"] and slot in data.get("missing", ())
    ]


def _shows(found: "re.Match[str]", played: Played, world: World) -> list[str]:
    """Cards of another start than the last one wished for."""
    shown = [frame for frame in played.frames if frame["type"] == "interrupt"]
    return [frame["type"] for frame in shown[:-1] if frame.get("kind") == "select_room"]


_Check = Callable[["re.Match[str]", Played, World], list[str]]
_PROHIBITIONS: tuple[tuple[str, _Check], ...] = (
    (r"(?:say|reveal title) (?P<what>.+)", _says),
    (r"use (?P<what>\d{4}-\d\d-\d\d)", _uses),
    (r"offer a room under (?P<seats>\d+) seats.*", _small_rooms),
    (r"ask (?P<what>(?:date|time|duration|headcount).*) again", _asks),
    (r"show \d\d:\d\d candidates after the correction", _shows),
)
# What the writes, the leaks, the confirmations and the errors of every case say already.
_COVERED: tuple[tuple[str, None], ...] = (
    (r"reveal .*", None),
    (r".*(?:cancel|book|mark|write|organizer_id|confirmation|conflict error).*", None),
    (r"ask for a slot already sent", None),
)
