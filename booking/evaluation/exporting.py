"""A conversation that happened, as a case: what was said, the world it was said in, what came of it.

What is private is masked, the same everywhere (see `masking`), and each message is read again to see
that it still means the same. Synchronous; reads only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext as _

from agentruntime.agents import NoCase
from agentruntime.exceptions import CheckpointNotFound
from agentruntime.models import Effect, Message, Thread
from agentruntime.timetravel import history
from booking.agent import tools
from booking.agent.state import OPEN_PHASES, fresh_dialogue
from booking.agent.understand import DraftView, Lexicon, OwnBooking, titles, understand
from booking.agent.understand.names import find_people
from booking.agent.understand.normalise import fold
from booking.evaluation.house import fixture_at
from booking.evaluation.masking import Masks, TooManyPeople
from booking.evaluation.played import Played, Write
from booking.models import Booking

LONGEST_GAP_MS = 5000
_KEPT = ("date", "start_time", "duration_minutes", "capacity", "building")
_EXTRAS = {"features": "equipment", "floor": "floor", "window": "window", "room": "room",
           "recurrence": "recurrence", "input_timezone": "input_timezone"}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Told:
    """A conversation as it is stored: its messages in order, and the state it came to."""

    thread: Thread
    messages: Sequence[Message]
    slots: Mapping[str, Any]
    dialogue: Mapping[str, Any]
    result: Mapping[str, Any]

    @property
    def began(self) -> datetime:
        began: datetime = self.messages[0].created_at
        return began


def case_of(thread_id: str, labels: Mapping[int, str]) -> dict[str, Any]:
    """The case, as plain values in the cases' format. labels: classes by message that replace what
    the agent took it for.

    Raises NoCase with the reason.
    """
    told = _told(thread_id)
    owner = told.thread.owner_id
    known = tools.knowledge(owner, now=told.began)
    masks = Masks()
    _mask_titles(told, known, masks)
    people = _named(told, known.lexicon)
    try:
        fixture, persons, ids = fixture_at(
            told.began, owner=owner, zone=known.zone, days=_days(told), named=people, masks=masks
        )
    except TooManyPeople as error:
        raise NoCase(_("too many people are in it to mask them")) from error
    _check(told, known, fixture, masks)
    writes = _writes(told, ids, known.zone)
    played = Played(
        slots=dict(told.slots),
        dialogue=dict(told.dialogue),
        result=dict(told.result),
        writes=writes,
        candidates=_rooms(told.dialogue),
        alternatives=_others(told.dialogue),
    )
    return {
        "id": f"thread-{thread_id[-8:]}",
        "lang": "zh" if told.thread.language == "zh" else "en",
        "now": told.began.astimezone(known.zone).isoformat(timespec="seconds"),
        "turns": _turns(told, masks),
        "expect": _expect(told, played, labels=labels, persons=persons, ids=ids),
        "notes": "A real conversation, masked.",
        "fixture": fixture,
    }


def _told(thread_id: str) -> _Told:
    thread = Thread.objects.filter(pk=thread_id).first()
    if thread is None:
        raise NoCase(_("there is no such thread"))
    if thread.sandbox:
        raise NoCase(_("it is a copy to try things in: nobody said what is in it"))
    said = Message.objects.filter(thread=thread, role=Message.Role.USER)
    messages = list(said.filter(status=Message.Status.CONSUMED).order_by("pk"))
    if not messages:
        raise NoCase(_("nothing has been said in it"))
    if said.exclude(status=Message.Status.CONSUMED).exists():
        raise NoCase(_("some of its messages were refused, taken back or set aside"))
    try:
        values = history.values_of(thread, thread.head)
    except CheckpointNotFound as error:
        raise NoCase(_("its state was pruned away")) from error
    return _Told(
        thread=thread,
        messages=messages,
        slots=values.get("slots") or {},
        dialogue={**fresh_dialogue("en"), **(values.get("dialogue") or {})},
        result=values.get("result") or {},
    )


def _named(told: _Told, lexicon: Lexicon) -> list[int]:
    """People whose names were written."""
    found = [int(each.id) for m in told.messages for each in find_people(fold(m.text), lexicon)]
    if (behalf := told.slots.get("on_behalf_of")) is not None:
        found.append(int(behalf))
    return list(dict.fromkeys(found))


def _days(told: _Told) -> list[date]:
    """The days the state names."""
    target = told.dialogue.get("target") or {}
    found = [told.slots.get("date"), (target.get("starts_at") or "")[:10]]
    found += [str(told.result.get("start", ""))[:10]]
    return [date.fromisoformat(day) for day in found if day]


def _mask_titles(told: _Told, known: tools.Knowledge, masks: Masks) -> None:
    """Mask what was said to be a title, and take in which kinds of meetings were spoken of."""
    for message in told.messages:
        masks.spoken |= titles.concepts(fold(message.text))
        for reading in _read(message, known, known.lexicon):
            title = reading.slots.get("title")
            if title is not None and title.rule == "title.said":
                masks.title(title.value)


def _read(message: Message, known: tools.Knowledge, lexicon: Lexicon, text: str = "") -> list[Any]:
    """A message as it is understood where nothing is open, and where something is asked."""
    at = message.created_at.astimezone(known.zone)
    language = "zh" if message.thread.language == "zh" else "en"
    drafts = [DraftView(phase=phase, language=language) for phase in ("IDLE", "COLLECTING_SLOTS")]
    said = text or message.text
    return [
        understand(said, now=at, lexicon=lexicon, hours=known.hours, draft=draft)
        for draft in drafts
    ]


def _check(told: _Told, known: tools.Knowledge, fixture: Mapping[str, Any], masks: Masks) -> None:
    """See that every message means the same with the masks on. Raises NoCase."""
    titles_of = {mask: title for title, mask in masks.titles.items()}
    worn = tuple(
        OwnBooking(
            id=each["id"],
            title=each["title"],
            room=each["room"],
            starts_at=datetime.fromisoformat(each["start"]).replace(tzinfo=known.zone),
        )
        for each in fixture["bookings"]
        if each["organizer"] == fixture["user"]["id"]
    )
    bare = tuple(replace(each, title=titles_of.get(each.title, "")) for each in worn)
    people = tuple(
        replace(each, names=(masks.people.get(each.names[0], each.names[0]),))
        for each in known.lexicon.people
        if each.names
    )
    was = replace(known.lexicon, own=bare)
    now = replace(known.lexicon, own=worn, people=people)
    for number, message in enumerate(told.messages, start=1):
        if message.kind == "answer":
            continue
        before = [_meaning(each, masks) for each in _read(message, known, was)]
        masked = masks.text(message.text)
        if before != [_meaning(each, Masks()) for each in _read(message, known, now, masked)]:
            raise NoCase(
                _("message %(number)d does not mean the same with names and titles masked")
                % {"number": number}
            )


def _meaning(understood: Any, masks: Masks) -> Any:
    """What counts of an understanding, as it is with the masks on."""

    def worn(value: Any) -> Any:
        return masks.text(value) if isinstance(value, str) else value

    ref = understood.booking_ref
    return (
        understood.acts,
        {slot: worn(found.value) for slot, found in understood.slots.items()},
        [(problem.slot, problem.code) for problem in understood.problems],
        None if ref is None else (ref.booking_ids, ref.owner, ref.last, ref.everyone),
    )


def _turns(told: _Told, masks: Masks) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    last = told.began
    for message in told.messages:
        turn: dict[str, Any] = {"text": masks.text(message.text)}
        if message.kind == "answer":
            turn = {"answer": dict(message.data)}
        if message.beside is not None and turns:
            gap = int((message.created_at - last).total_seconds() * 1000)
            turn |= {"gap_ms": min(gap, LONGEST_GAP_MS), "while_running": True}
        last = message.created_at
        turns.append(turn)
    return turns


def _rooms(dialogue: Mapping[str, Any]) -> list[str]:
    return [card["room"] for card in dialogue["candidates"] if not card.get("starts_at")]


def _others(dialogue: Mapping[str, Any]) -> list[str]:
    return [
        f"{card['room']}@{card['starts_at'][11:16]}"
        for card in dialogue["candidates"]
        if card.get("kind") == "other_time"
    ]


def _expect(
    told: _Told,
    played: Played,
    *,
    labels: Mapping[int, str],
    persons: Mapping[int, str],
    ids: Mapping[int, int],
) -> dict[str, Any]:
    dialogue, slots = told.dialogue, told.slots
    is_idle = played.phase == "IDLE" and not any(slots.get(slot) is not None for slot in slots)
    question = (dialogue.get("question") or {}).get("data") or {}
    expect: dict[str, Any] = {
        "classification": [labels.get(m.pk, m.classification) for m in told.messages],
        "slots": None if is_idle else {slot: slots.get(slot) for slot in _KEPT},
        "phase": played.phase,
        "outcome": played.outcome,
        "writes": played.writes,
    }
    extras = {name: slots[slot] for slot, name in _EXTRAS.items() if slots.get(slot)}
    if (behalf := slots.get("on_behalf_of")) is not None:
        extras["on_behalf_of"] = persons[int(behalf)]
    if extras:
        expect["extras"] = extras
    if dialogue["candidates"]:
        expect |= {"candidates": played.candidates, "alternatives": played.alternatives}
    if played.phase == "COLLECTING_SLOTS":
        rule = question.get("rule")
        expect |= {"reason": rule} if rule else {"ask": question.get("missing", [])}
    if played.phase in OPEN_PHASES and dialogue["assumed"]:
        expect["assumed"] = list(dialogue["assumed"])
    return expect | _target(dialogue.get("target"), ids)


def _target(target: Mapping[str, Any] | None, ids: Mapping[int, int]) -> dict[str, Any]:
    if not target:
        return {}
    if target.get("series"):
        raise NoCase(_("it acts on a series, which a case made of a conversation cannot tell"))
    return {"target": {"booking": ids.get(target["booking"])}}


def _writes(told: _Told, ids: Mapping[int, int], zone: Any) -> list[Write]:
    """What the conversation wrote, as it is compared: a booking it made and then changed is one
    write, in its last shape.
    """
    made: dict[int, Write] = {}
    other: list[Write] = []
    for effect in Effect.objects.filter(thread=told.thread).order_by("pk"):
        result = effect.result or {}
        booking = result.get("booking_id")
        if not booking:
            raise NoCase(_("its act %(name)s cannot be told in a case") % {"name": effect.name})
        if Booking.objects.filter(pk=booking).exclude(recurrence="").exists():
            raise NoCase(_("it acts on a series, which a case made of a conversation cannot tell"))
        place = {
            "room": result["room_id"],
            "start": f"{datetime.fromisoformat(result['start']).astimezone(zone):%Y-%m-%dT%H:%M}",
            "end": f"{datetime.fromisoformat(result['end']).astimezone(zone):%Y-%m-%dT%H:%M}",
        }
        if effect.name == "book_room":
            made[booking] = {
                "op": "create", **place, "status": result["status"], "organizer": "u1",
                "headcount": effect.arguments["headcount"],
            }  # fmt: skip
        elif booking in made:
            made[booking] |= {**place, "status": result["status"]}
        else:
            other.append(_change(effect, ids.get(booking), place))
    return [*made.values(), *other]


def _change(effect: Effect, booking: int | None, place: Write) -> Write:
    ops = {"cancel_booking": "cancel", "move_booking": "move", "check_in": "check_in"}
    if effect.name not in ops or booking is None:
        raise NoCase(_("its act %(name)s cannot be told in a case") % {"name": effect.name})
    write: Write = {"op": ops[effect.name], "booking": booking}
    return {**write, **place} if effect.name == "move_booking" else write
