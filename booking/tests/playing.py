"""Plays conversation cases through the runtime's inbox and a real database, and judges them.

A case: `now`, `turns[{text}]`, `expect{classification, slots, phase, outcome, candidates, ...}`.
"""

import asyncio
import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth import get_user_model

from agentruntime.access import new_thread
from agentruntime.models import Message
from agentruntime.operations.host import HostSettings
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread
from agentruntime.persistence.records import NewMessage
from agentruntime.persistence.saver import TurnSaver
from agentruntime.testing import running_host, until
from booking import demo
from booking.agent import nodes, tools
from booking.models import Booking, Occurrence, Room, Series, Source, Status, Visibility

SETTINGS = HostSettings(beat_seconds=0.2, watch_seconds=0.1, debounce_seconds=0.6)

PEOPLE = {"u1001": "lilei", "u2002": "wangfang", "u2003": "hanmei", "u2004": "zhaoqiang"}


def load_world(fixture: dict[str, Any]) -> dict[int, int]:
    """The fixture's people, rooms and bookings; our booking ids by the fixture's."""
    site = demo.load_places(years=(2026, 2027))
    demo.load_people()
    zone = site.zone
    ids = {}
    for each in fixture["bookings"]:
        booking = _booking(each)
        first, last = (
            datetime.fromisoformat(each[k]).replace(tzinfo=zone) for k in ("start", "end")
        )
        _occurrence(booking, each["room"], first, last)
        ids[each["id"]] = booking.pk
    for each in fixture["series"]:
        booking = _booking(each, recurrence=each["rrule"])
        start = datetime.fromisoformat(each["start"]).replace(tzinfo=zone)  # weekly series only
        Series.objects.create(
            booking=booking,
            room=Room.objects.get(code=each["room"]),
            zone=zone.key,
            first=start.date(),
            start=start.time(),
            minutes=each["minutes"],
        )
        until = datetime.strptime(each["rrule"].rpartition("UNTIL=")[2], "%Y%m%dT%H%M%S%z")
        for week in range(99):
            first = start + timedelta(weeks=week)
            if first > until:
                break
            last = first + timedelta(minutes=each["minutes"])
            _occurrence(booking, each["room"], first, last, recurrence_date=first.date())
        ids[each["id"]] = booking.pk
    tools.forget_house()
    return ids


def _booking(each: dict[str, Any], *, recurrence: str = "") -> Booking:
    return Booking.objects.create(
        organizer=get_user_model().objects.get(username=PEOPLE[each["organizer"]]),
        title=each.get("title", ""),
        visibility=each.get("visibility", Visibility.PUBLIC),
        headcount=each.get("headcount", 4),
        recurrence=recurrence,
        source=Source.API,
        idempotency_key=f"fixture-{each['id']}",
    )


def _occurrence(booking, room, first, last, *, recurrence_date=None):
    span = (first.astimezone(UTC), last.astimezone(UTC))
    Occurrence.objects.create(
        booking=booking,
        room=Room.objects.get(code=room),
        during=span,
        blocked=span,
        status=Status.BOOKED,
        recurrence_date=recurrence_date,
    )


@dataclass
class Played:
    """What a case came to."""

    classification: list[str] = field(default_factory=list)
    phase: str = "IDLE"
    slots: dict[str, Any] = field(default_factory=dict)
    dialogue: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    candidates: list[str] = field(default_factory=list)
    alternatives: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    booked: list[tuple[str, str, str]] = field(default_factory=list)
    outcome: str = ""


SLOW_SECONDS = 1.0


def slowed(monkeypatch) -> None:
    """Make the steps that look and act take long enough to be spoken into."""
    for name in ("search", "book"):
        node = getattr(nodes, name)

        @functools.wraps(node)
        async def slow(state, runtime, node=node):
            await asyncio.sleep(SLOW_SECONDS)
            return await node(state, runtime)

        monkeypatch.setattr(nodes, name, slow)


async def play(case: dict[str, Any]) -> Played:
    """Say every turn after the answer to the one before, or while the agent works on it if the
    case says so; the world must be loaded."""
    shift = datetime.fromisoformat(case["now"]) - datetime.now(UTC)
    owner = await in_db_thread(lambda: get_user_model().objects.get(username="lilei"))
    before = await in_db_thread(lambda: set(Booking.objects.values_list("pk", flat=True)))
    played = Played()
    async with running_host(SETTINGS, shift=shift) as host:
        thread = await in_db_thread(
            new_thread, owner, agent="booking", language="zh" if case["lang"] == "zh" else "en"
        )
        for number, turn in enumerate(case["turns"]):
            await asyncio.sleep(turn.get("gap_ms", 0) / 1000)
            view, _ = await store.snapshot(host.pool, thread.id)
            message = NewMessage(
                thread=thread.id, client_id=f"m{number}", kind="text", text=turn["text"]
            )
            await host.accept(message, seen=view)

            async def settled(turn=view.turn + 1):
                now, _ = await store.snapshot(host.pool, thread.id)
                is_read = not await store.unread(host.pool, thread.id)
                return now.turn >= turn and now.status != "running" and is_read

            following = case["turns"][number + 1 : number + 2]
            if not (following and following[0].get("while_running")):
                await until(settled)
                await _look(host, thread.id, played)
    played.booked = await in_db_thread(_booked_since, before)
    return played


async def _look(host, thread_id, played) -> None:
    _, messages = await store.snapshot(host.pool, thread_id)
    head = await TurnSaver(host.pool).aget_tuple({"configurable": {"thread_id": thread_id}})
    values = head.checkpoint["channel_values"]
    played.slots, played.dialogue = values["slots"], values["dialogue"]
    played.result, played.phase = values["result"], values["dialogue"]["phase"]
    if played.dialogue["candidates"]:
        cards = played.dialogue["candidates"]
        played.candidates = [card["room"] for card in cards if not card.get("starts_at")]
        played.alternatives = [
            f"{card['room']}@{card['starts_at'][11:16]}"
            for card in cards
            if card.get("kind") == "other_time"
        ]
    elif played.phase == "COLLECTING_SLOTS":
        played.candidates = []
    played.words.append(messages[-1].text)
    played.classification = await in_db_thread(
        lambda: list(
            Message.objects.filter(thread_id=thread_id, role="user")
            .order_by("pk")
            .values_list("classification", flat=True)
        )
    )
    played.outcome = _outcome(played)


_TOLD = {
    "dropped": "flow_cancelled",
    "mine": "listed",
    "room": "answered",
    "check_in": "answered",
    "checked_in": "checked_in",
    "scope": "refused_scope",
    "injection": "refused_injection",
    "not_yours": "refused_permission",
}


def _outcome(played: Played) -> str:
    dialogue = played.dialogue
    if played.phase == "BOOKED":
        return "needs_approval" if played.result["status"] == "pending" else "booked"
    if played.phase == "CONFIRMING":
        return "confirm_requested" if dialogue["question"]["kind"] == "confirm" else "asked"
    if played.phase == "AWAITING_SELECTION":
        at_once = [
            c for c in dialogue["candidates"] if not c["needs_approval"] and not c.get("starts_at")
        ]
        return (
            "candidates_offered" if at_once or not played.alternatives else "alternatives_offered"
        )
    if played.phase == "COLLECTING_SLOTS":
        if played.slots.get("on_behalf_of"):
            return "refused_permission"
        rule = dialogue["question"]["data"].get("rule")
        return "refused_policy" if rule else "asked"
    if dialogue["told"] == "dropped" and dialogue["selected"]:
        return "no_active_booking"
    return _TOLD.get(dialogue["told"], dialogue["told"])


def _booked_since(before: set[int]) -> list[tuple[str, str, str]]:
    found = Booking.objects.exclude(pk__in=before)
    return [
        (
            each.room.code,
            each.starts_at.astimezone(ZoneInfo("Asia/Shanghai")).isoformat(),
            str(each.status),
        )
        for each in found
    ]


def judge(case: dict[str, Any], played: Played, ids: Mapping[int, int]) -> list[str]:
    """What differs from the expectation; `ids`: our bookings by the fixture's."""
    expect, wrong = case["expect"], []

    def check(name: str, wanted: Any, got: Any) -> None:
        if wanted != got:
            wrong.append(f"{name}: wanted {wanted!r}, got {got!r}")

    check("classification", expect["classification"], played.classification)
    check("phase", expect["phase"], played.phase)
    check("outcome", expect["outcome"], played.outcome)
    for slot, value in (expect["slots"] or {}).items():
        if slot != "organizer_id":
            check(slot, value, played.slots.get(slot))
    if "candidates" in expect:
        check("candidates", expect["candidates"], played.candidates)
    if "alternatives" in expect:
        check("alternatives", expect["alternatives"], played.alternatives)
    if "ask" in expect:
        asked = (
            played.dialogue["question"]["data"].get("missing")
            if played.dialogue["question"]
            else []
        )
        check("ask", expect["ask"], asked)
    if "booked_room" in expect:
        check("booked_room", [expect["booked_room"]], [room for room, *_ in played.booked])
    elif expect["phase"] != "BOOKED":
        check("writes", [], played.booked)
    target = played.dialogue["target"] or {}
    for key, value in expect.get("target", {}).items():
        check(f"target {key}", ids[value] if key == "series" else value, target.get(key))
    for slot in expect.get("assumed", ()):
        check(f"assumed {slot}", True, slot in played.dialogue["assumed"])
    return wrong


def load(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]
