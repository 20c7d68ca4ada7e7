"""What a planner is given and what it answers. Pure.

A planner only proposes; `dialogue.advance` lets happen what the phase allows, whoever proposes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from booking.agent.understand import DraftView, Lexicon, OpeningHours, Understanding

Action = Literal[
    "fill", "select", "confirm", "decline", "drop", "restart", "resume",
    "tell_mine", "tell_room", "tell_free", "cancel_booking", "move_booking", "check_in",
    "refuse_scope", "refuse_injection", "unclear",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Heard:
    """One message in words, and all that understanding it takes.

    asked: the digest of the confirmation that the message answers, if it answers one.
    acts_at_once: what the words may choose is done without another question: the same turn has
    said yes already, or the cards on the screen are bookings to check in to.
    """

    text: str
    now: datetime
    lexicon: Lexicon
    hours: OpeningHours
    draft: DraftView
    asked: str | None = None
    acts_at_once: bool = False


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """An action, and the words behind it or the card that was clicked.

    room, starts_at: the card, by the room's code and, where the card has one, its start.
    card: the card by its place among those shown, from 0.
    consent: of a yes, the digest of the confirmation it answers.
    """

    action: Action
    understanding: Understanding | None = None
    room: str | None = None
    starts_at: str | None = None
    card: int | None = None
    consent: str | None = None


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A proposal, what the message was taken to be (LABELS, joined by +), and figures for the run."""

    proposal: Proposal
    label: str
    figures: Mapping[str, Any] = field(default_factory=dict)


class Planner(Protocol):
    """Reads a message and proposes what to do. Never fails: whatever happens, it has a proposal."""

    async def __call__(self, heard: Heard) -> Planned: ...
