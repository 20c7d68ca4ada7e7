"""How the agent understands people: a pure pipeline in Chinese and English.

It imports no Django, reads no clock, database or network. `understand` reads a message against the
state it is said in, `fold.apply` merges the result into the draft.
"""

from booking.agent.understand.fold import Fold, apply
from booking.agent.understand.pipeline import place_of, understand
from booking.agent.understand.types import (
    PROBLEMS,
    REQUIRED,
    SLOTS,
    BookingRef,
    BuildingEntry,
    CandidateInfo,
    DraftView,
    FeatureEntry,
    Found,
    Lexicon,
    OpeningHours,
    OwnBooking,
    Person,
    Problem,
    RoomEntry,
    Selection,
    Understanding,
)

__all__ = [
    "PROBLEMS",
    "REQUIRED",
    "SLOTS",
    "BookingRef",
    "BuildingEntry",
    "CandidateInfo",
    "DraftView",
    "FeatureEntry",
    "Fold",
    "Found",
    "Lexicon",
    "OpeningHours",
    "OwnBooking",
    "Person",
    "Problem",
    "RoomEntry",
    "Selection",
    "Understanding",
    "apply",
    "place_of",
    "understand",
]
