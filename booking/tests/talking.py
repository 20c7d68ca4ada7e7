"""Conversations in tests: what is said over the socket in a world of the test's own."""

from datetime import datetime
from zoneinfo import ZoneInfo

from django.contrib.auth import get_user_model

from agentruntime.persistence.pools import in_db_thread
from booking.evaluation.cases import Turn, World
from booking.evaluation.playing import playing
from booking.evaluation.world import Stage

NOW = datetime(2027, 3, 1, 9, tzinfo=ZoneInfo("Asia/Shanghai"))
SPEAKERS = ("u1001", "lilei")


def load_world(fixture):
    """The fixture's people, rooms and bookings; our booking ids by the fixture's."""
    return Stage().set(fixture, now=NOW).bookings


async def play(case):
    """Say the turns of `now`, `lang` and `turns`, as Li Lei, in the world that is there."""
    async with playing() as player:
        return await player.talk(
            [Turn(**turn) for turn in case["turns"]],
            await in_db_thread(_world),
            now=datetime.fromisoformat(case["now"]),
            language="en" if case["lang"] == "en" else "zh",
        )


def _world():
    speaker = get_user_model().objects.get(username__in=SPEAKERS)
    people = {speaker.username: speaker.pk}
    return World(zone=NOW.tzinfo, user=speaker.username, people=people)
