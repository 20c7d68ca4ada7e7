"""What the planner's tests have in common: a small house, messages read in it, plans made of words."""

from datetime import datetime
from zoneinfo import ZoneInfo

from booking.agent.planner import Heard
from booking.agent.understand import (
    BuildingEntry,
    CandidateInfo,
    DraftView,
    FeatureEntry,
    Lexicon,
    OpeningHours,
    OwnBooking,
    Person,
    RoomEntry,
)
from booking.tests.planner.model_server import Reply, planning

NOW = datetime(2026, 11, 30, 10, tzinfo=ZoneInfo("Asia/Shanghai"))
HOUSE = Lexicon(
    rooms=(
        RoomEntry(code="A301", names=("Maple", "枫叶厅"), building="A", floor=3),
        RoomEntry(code="A302", names=("Bamboo",), building="A", floor=3),
    ),
    buildings=(BuildingEntry(code="A"), BuildingEntry(code="B")),
    features=(FeatureEntry(code="projector", names=("projector", "投影仪")),),
    people=(Person(id="2", names=("王芳", "Wang Fang")),),
    own=(OwnBooking(id=7, title="Secret merger", room="A301", starts_at=NOW),),
)
CARDS = tuple(
    CandidateInfo(room=code, names=(name,), building="A", floor=3, seats=seats)
    for code, name, seats in (("A301", "Maple", 8), ("A302", "Bamboo", 6))
)
DRAFT = {"date": "2026-12-01", "start_time": "15:00", "duration_minutes": 60, "capacity": 5}


def heard(text, **draft):
    asked = draft.pop("asked", None)
    agreed = draft.pop("acts_at_once", False)
    view = DraftView(**{"phase": "IDLE", "language": "en", **draft})
    return Heard(
        text=text, now=NOW, lexicon=HOUSE, hours=OpeningHours(),
        draft=view, asked=asked, acts_at_once=agreed,
    )  # fmt: skip


def plan(action, option=None, **slots):
    quotes = [{"slot": slot, "words": words} for slot, words in slots.items()]
    return {"action": action, "slots": quotes, "option": option}


def always(made):
    return lambda body: planning(body, made)


def in_turn(*replies):
    """Each reply once: a Reply, or a plan."""
    left = list(replies)

    def answer(body):
        reply = left.pop(0)
        return reply if isinstance(reply, Reply) else planning(body, reply)

    return answer


def slots(planned):
    found = planned.proposal.understanding.slots
    return {slot: each.value for slot, each in found.items()}


REQUEST = "tomorrow at 3pm for an hour, 5 people"
GOOD = plan(
    "fill", date="tomorrow", start_time="3pm", duration_minutes="an hour", capacity="5 people"
)
