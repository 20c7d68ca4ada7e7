"""From what people say to the figures: a correction is counted by slot, an assumption as overturned."""

import json
from datetime import timedelta

from django.utils import timezone

from agentruntime.persistence.pools import in_db_thread
from audit.figures import Period, figures
from booking.evaluation.cases import read
from booking.evaluation.playing import playing

CASE = {
    "id": "one",
    "lang": "en",
    "now": "2027-03-01T09:00:00+08:00",
    "turns": [
        {"text": "B201 at 2pm for an hour, 7 people"},
        {"text": "tomorrow"},
        {"text": "make it 3pm"},
        {"text": "8 people"},
        {"text": "yes"},
    ],
    "expect": {"classification": [""] * 5, "slots": {}, "phase": "BOOKED", "outcome": "booked"},
}


async def test_a_conversation_is_told_in_figures(transactional_db):
    async with playing() as player:
        played, _ = await player.play(read(json.dumps(CASE), fixture={}))
    now = timezone.now()
    period = Period(since=now - timedelta(minutes=5), until=now + timedelta(minutes=5))

    found = await in_db_thread(figures, period)

    assert played.phase == "BOOKED"
    (reached,) = found.reached
    assert (reached.phase, reached.language, reached.turns) == ("BOOKED", "en", 5)
    changed = {each.slot: (each.assumed, each.overturned, each.revised) for each in found.revised}
    assert changed == {"date": (1, 1, 1), "start_time": (0, 0, 1), "capacity": (0, 0, 1)}


async def test_what_is_called_off_is_counted_where_it_stood(transactional_db):
    turns = [{"text": "tomorrow at 3pm, one hour, 5 people"}, {"text": "never mind, forget it"}]
    case = {**CASE, "turns": turns, "expect": {**CASE["expect"], "classification": ["", ""]}}
    async with playing() as player:
        await player.play(read(json.dumps(case), fixture={}))
    now = timezone.now()
    period = Period(since=now - timedelta(minutes=5), until=now + timedelta(minutes=5))

    (ended,) = (await in_db_thread(figures, period)).ended

    assert (ended.phase, ended.cancelled, ended.total) == ("AWAITING_SELECTION", 1, 1)
