"""Whether each date of a series could be had. Reads only; the same for a preview and a booking."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from booking import closures, policies
from booking.exceptions import explain
from booking.intervals import Interval, is_free
from booking.models import Blackout, Occurrence, Room
from booking.policies import Refusal, Rules
from booking.recurrence import Slot

SKIPPABLE = frozenset({"holiday", "opening_hours", "blackout"})
"""The rules that are about one date, so that a series may do without it."""


@dataclass(frozen=True, kw_only=True)
class PlannedDate:
    """One date of a series to be: when it would be, and what stands against it."""

    date: date
    starts_at: datetime
    ends_at: datetime
    is_shifted: bool
    refusal: Refusal | None = None
    is_taken: bool = False

    @property
    def is_possible(self) -> bool:
        return self.refusal is None and not self.is_taken

    @property
    def is_skippable(self) -> bool:
        """Whether the series could be had without it."""
        return self.refusal is None or self.refusal.rule in SKIPPABLE

    @property
    def code(self) -> str:
        """`taken`, or the rule that refuses it."""
        return "taken" if self.refusal is None else self.refusal.rule

    def as_clash(self) -> dict[str, Any]:
        """{date, code, text}, the text in the active language; None for a mere clash."""
        text = None if self.refusal is None else explain(self.refusal)
        return {"date": self.date.isoformat(), "code": self.code, "text": text}


def plan(
    slots: Iterable[Slot],
    *,
    room: Room,
    rules: Rules,
    ignore: Collection[int] = (),
    now: datetime,
) -> tuple[PlannedDate, ...]:
    """The slots in a room, of which there are some, in order (two queries).

    `ignore`: the occurrences that are about to be moved, by primary key.
    """
    slots = sorted(slots, key=lambda each: each.during)
    around = rules.blocked(Interval(slots[0].during.starts_at, slots[-1].during.ends_at))
    busy = _busy(room, around, ignore=ignore, now=now)
    shut = closures.blackouts_of(room, around)
    return tuple(_planned(each, rules, busy, shut, now=now) for each in slots)


def _planned(
    slot: Slot,
    rules: Rules,
    busy: Collection[Interval],
    shut: Collection[Blackout],
    *,
    now: datetime,
) -> PlannedDate:
    during = slot.during
    refusal = policies.check(rules, starts_at=during.starts_at, ends_at=during.ends_at, now=now)
    for each in shut:
        if refusal is None and closures.interval_of(each).overlaps(rules.blocked(during)):
            refusal = closures.refusal_of(each, rules.zone)
    return PlannedDate(
        date=slot.date,
        starts_at=during.starts_at,
        ends_at=during.ends_at,
        is_shifted=slot.is_shifted,
        refusal=refusal,
        is_taken=not is_free(rules.blocked(during), busy),
    )


def _busy(
    room: Room, around: Interval, *, ignore: Collection[int], now: datetime
) -> list[Interval]:
    found = (
        Occurrence.objects.blocking(now)
        .filter(room=room, blocked__overlap=(around.starts_at, around.ends_at))
        .exclude(pk__in=ignore)
        .values_list("blocked", flat=True)
    )
    return [Interval(each.lower, each.upper) for each in found]
