"""Whole conversations in a test's own database, and what came of them."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth import get_user_model

from agentruntime.persistence.pools import in_db_thread
from booking.evaluation.cases import Case, Turn, World
from booking.evaluation.played import Played
from booking.evaluation.playing import playing
from booking.models import Occurrence, Status

ZONE = ZoneInfo("Asia/Shanghai")


async def talk(*texts: str, now: str, fixture: Mapping[str, Any]) -> tuple[Played, World]:
    """Say these one after the other in the fixture's world, each after the answer to the last."""
    case = Case(
        id="a conversation",
        lang="en" if texts[0].isascii() else "zh",
        now=datetime.fromisoformat(now),
        turns=[Turn(text=each) for each in texts],
        expect={},
        family="",
        fixture=fixture,
    )
    async with playing() as player:
        return await player.play(case)


def talker(fixture: Mapping[str, Any], *, now: str) -> Callable[..., Awaitable[Played]]:
    """To say texts in that world from that moment on."""

    async def say(*texts: str) -> Played:
        played, _world = await talk(*texts, now=now, fixture=fixture)
        return played

    return say


async def play(case: Mapping[str, Any]) -> Played:
    """Say the turns of `now`, `lang` and `turns` as Li Lei, in the world that is there."""
    async with playing() as player:
        return await player.talk(
            [Turn(**turn) for turn in case["turns"]],
            await in_db_thread(_world),
            now=datetime.fromisoformat(case["now"]),
            language="en" if case["lang"] == "en" else "zh",
        )


def _world() -> World:
    speaker = get_user_model().objects.get(username="lilei")
    return World(zone=ZONE, user="lilei", people={"lilei": speaker.pk})


def outcome(played: Played) -> str:
    return played.outcome


async def stands(booking: int, *statuses: str) -> list[tuple[Any, ...]]:
    """(date, room, start) of what a booking holds (or of these statuses), in order."""

    def read() -> list[tuple[Any, ...]]:
        wanted = statuses or (Status.BOOKED,)
        found = Occurrence.objects.filter(booking=booking, status__in=wanted)
        return [
            (start.date(), each.room.code, start.time())
            for each in found.select_related("room").order_by("during")
            for start in [each.starts_at.astimezone(ZONE)]
        ]

    return await in_db_thread(read)


def rows(played: Played) -> dict[str, str]:
    """The open confirmation's summary, by slot."""
    return {row["slot"]: row["value"] for row in played.dialogue["question"]["data"]["summary"]}
