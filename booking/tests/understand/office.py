"""A small office for these tests: its names, hours, and a Monday morning."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

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
    Understanding,
    understand,
)

ZONE = ZoneInfo("Asia/Shanghai")
MONDAY = datetime(2027, 3, 8, 9, 20, tzinfo=ZONE)  # an ordinary Monday, 09:20
HOURS = OpeningHours()
LEXICON = Lexicon(
    rooms=(
        RoomEntry("C101", ("101", "Lotus Hall", "莲花厅"), "C", 1),
        RoomEntry("C210", ("云海会议室", "Cloud Sea"), "C", 2),
        RoomEntry("D305", ("Everest", "珠峰"), "D", 3),
        RoomEntry("D308", (), "D", 3),
    ),
    buildings=(BuildingEntry("C", ("North Wing", "北翼")), BuildingEntry("D")),
    features=tuple(
        FeatureEntry(code)
        for code in ("projector", "whiteboard", "video_conference", "tv", "microphone")
    ),
    people=(Person("p1", ("张敏",)), Person("p2", ("陈晓东", "Danny Chen"))),
    own=(
        OwnBooking(71, "产品评审", "C210", datetime(2027, 3, 9, 15, 0, tzinfo=ZONE)),
        OwnBooking(72, "Budget planning", "D305", datetime(2027, 3, 10, 10, 0, tzinfo=ZONE)),
        OwnBooking(None, "晨会", "D308", datetime(2027, 3, 10, 9, 0, tzinfo=ZONE), series=9),
    ),
    me="p1",
)
CARDS = (
    CandidateInfo("C101", ("莲花厅", "Lotus Hall"), "C", 1, 8, ("projector", "whiteboard")),
    CandidateInfo("D305", ("Everest", "珠峰"), "D", 3, 12, ("projector", "tv")),
    CandidateInfo("D308", (), "D", 3, 20, ("whiteboard",)),
)
FULL = {"date": "2027-03-09", "start_time": "14:00", "duration_minutes": 60, "capacity": 6}

IDLE = DraftView()
BOOKED = DraftView("BOOKED", FULL)
CHOOSING = DraftView("AWAITING_SELECTION", FULL, CARDS)
CONFIRMING = DraftView("CONFIRMING", FULL, CARDS, selected="C101")
UNASKED = DraftView("COLLECTING_SLOTS", {"date": "2027-03-09"})
TO_CHANGE = DraftView("CONFIRMING")
SCOPE_ASKED = DraftView("CONFIRMING", missing=("scope",))
ASKED = DraftView(
    "COLLECTING_SLOTS",
    {"date": "2027-03-09"},
    missing=("start_time", "duration_minutes", "capacity"),
)


def read(text: str, draft: DraftView = IDLE, now: datetime = MONDAY) -> Understanding:
    return understand(text, now=now, lexicon=LEXICON, hours=HOURS, draft=draft)


def values(text: str, draft: DraftView = IDLE, now: datetime = MONDAY) -> dict[str, object]:
    return {slot: found.value for slot, found in read(text, draft, now).slots.items()}


def codes(text: str, draft: DraftView = IDLE, now: datetime = MONDAY) -> dict[str, str]:
    return {problem.slot: problem.code for problem in read(text, draft, now).problems}
