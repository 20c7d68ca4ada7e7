"""What understanding takes and gives: plain frozen values, so that a turn can be replayed exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any

Span = tuple[int, int]

REQUIRED = ("date", "start_time", "duration_minutes", "capacity")
SLOTS = (
    *REQUIRED,
    "end_time",
    "building",
    "floor",
    "features",
    "room",
    "title",
    "recurrence",
    "window",
    "on_behalf_of",
    "input_timezone",
)


@dataclass(frozen=True, slots=True)
class Found:
    """A value, where it stands in the normalised text, and which rule read it.

    `assumed` means that a rule filled in what the words left open; the reply reads it back.
    """

    value: Any
    span: Span
    rule: str
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """Something said that gives no value: it is asked about, never guessed.

    `code` is one of PROBLEMS, `slot` the slot it leaves open, `text` the words, `options` the
    readings to offer (slot values, in the order to show them).
    """

    code: str
    slot: str
    span: Span
    text: str = ""
    options: tuple[Any, ...] = ()


PROBLEMS = {
    "impossible_time": "no such time of day (25:00)",
    "impossible_date": "no such day (30 February)",
    "impossible_duration": "zero, negative or over a day",
    "impossible_capacity": "zero, negative, a fraction or absurdly many",
    "ambiguous_time": "two times fit, or the night hours 1-5 were called evening",
    "ambiguous_date": "two dates fit",
    "ambiguous_duration": "two durations were said",
    "ambiguous_capacity": "two headcounts were said",
    "vague_date": "a week or a month, no day; options are its first and last day",
    "range_against_duration": "the range and the duration differ; options are both, in minutes",
    "weekday_against_date": "the weekday and the date differ; options are both dates",
    "past_time": "today, but already over, and no date was said",
    "past_date": "a day before today",
    "unknown_room": "no such room code",
    "unknown_building": "no such building",
    "too_long": "text beyond the cap was not read",
    "too_many_times": "more than six times in one clause; none was read",
    "not_understood": "no rule applies to the message",
}


@dataclass(frozen=True, slots=True)
class RoomEntry:
    code: str
    names: tuple[str, ...] = ()
    building: str = ""
    floor: int | None = None


@dataclass(frozen=True, slots=True)
class BuildingEntry:
    code: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FeatureEntry:
    code: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Person:
    id: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnBooking:
    """A booking of the speaker's own, so that words can refer to it; never anybody else's."""

    id: int | None
    title: str
    room: str
    starts_at: datetime | None = None
    series: int | None = None


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The names of this office. `names` of a room hold its names in both languages and aliases."""

    rooms: tuple[RoomEntry, ...] = ()
    buildings: tuple[BuildingEntry, ...] = ()
    features: tuple[FeatureEntry, ...] = ()
    people: tuple[Person, ...] = ()
    own: tuple[OwnBooking, ...] = ()
    me: str = ""


@dataclass(frozen=True, slots=True)
class OpeningHours:
    opens: time = time(8)
    closes: time = time(21)
    grid_minutes: int = 15


@dataclass(frozen=True, slots=True)
class CandidateInfo:
    """A card on the screen. `start_time` ("HH:MM") only where the card offers another time."""

    room: str
    names: tuple[str, ...] = ()
    building: str = ""
    floor: int | None = None
    seats: int = 0
    features: tuple[str, ...] = ()
    start_time: str | None = None


@dataclass(frozen=True, slots=True)
class DraftView:
    """What the conversation holds when the message is read.

    `missing` are the slots the open question asks for: empty when nothing was asked yet (a message
    of the same turn). `options` are the readings that question offers, as (slot, value). `selected`
    is the room an open confirmation names.
    """

    phase: str = "IDLE"
    slots: Mapping[str, Any] = field(default_factory=dict)
    candidates: tuple[CandidateInfo, ...] = ()
    missing: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    selected: str | None = None
    language: str = "zh"

    @property
    def is_open(self) -> bool:
        if self.phase in {"COLLECTING_SLOTS", "AWAITING_SELECTION", "CONFIRMING"}:
            return True
        return self.phase == "IDLE" and any(self.get(key) is not None for key in SLOTS)

    def get(self, slot: str) -> Any:
        """The slot's value; an empty list or text counts as nothing."""
        value = self.slots.get(slot)
        return None if value in ("", [], ()) else value


@dataclass(frozen=True, slots=True)
class Selection:
    """Which card was meant. `room` is None when several fit; `matches` then lists them."""

    room: str | None
    index: int | None
    start_time: str | None
    matches: tuple[str, ...]
    span: Span
    rule: str


@dataclass(frozen=True, slots=True)
class BookingRef:
    """Which stored booking was meant, by its own words; whoever acts on it checks who may.

    `booking_ids` and `series_ids` are the speaker's own that fit the words. `owner` is another
    person who was named. `last` is the booking just made in this conversation, `upcoming` the next
    one of the speaker's. Of a series, `scope` says which occurrences: "this" (the one on `date`),
    "following" (from `date` on) or "all"; None when the words leave it open.
    """

    booking_ids: tuple[int, ...] = ()
    series_ids: tuple[int, ...] = ()
    title: str | None = None
    room: str | None = None
    date: str | None = None
    start_time: str | None = None
    owner: str | None = None
    scope: str | None = None
    last: bool = False
    everyone: bool = False
    upcoming: bool = False


@dataclass(frozen=True, slots=True)
class Understanding:
    """One message, understood against the state it was said in.

    `slots` hold Found values of SLOTS and of the changes `duration_change`, `start_change` (signed
    minutes), `capacity_change`, `without` (feature codes), `scope` and `size` ("larger" or "smaller"
    than the room just booked, or "other"), `on_clash` ("skip": leave out what cannot be had),
    `may_split` (several rooms will do), and `period` ([first, last] day of a span that was named: for
    questions; a booking asks for a day of it). A value of None drops a wish. For `modify_booking` they describe the new state; what is to change is `booking_ref`.
    """

    text: str
    language: str
    acts: tuple[str, ...]
    slots: Mapping[str, Found] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    selection: Selection | None = None
    booking_ref: BookingRef | None = None
    wants: str = ""

    @property
    def classification(self) -> str:
        return "+".join(self.acts)
