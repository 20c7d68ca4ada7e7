"""Rules of series (RFC 5545) as the local dates and wall times they give. Pure.

A rule here has no hours and an end (COUNT or UNTIL): the wall time and the zone belong to the
series. No Django, no clock, no database.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

from booking.intervals import Interval
from booking.policies import FARTHEST_DAYS, instant_of

MAX_DATES = 200
"""The most dates one series may have: every working day of three quarters of a year."""

RULE_LENGTH = 200

_PARTS = {
    "FREQ": r"DAILY|WEEKLY|MONTHLY|YEARLY",
    "INTERVAL": r"[1-9]\d{0,2}",
    "COUNT": r"[1-9]\d{0,2}",
    "UNTIL": r"\d{8}(T\d{6}Z?)?",
    "WKST": r"MO|TU|WE|TH|FR|SA|SU",
    "BYDAY": r"(?:[+-]?[1-9]\d?)?(?:MO|TU|WE|TH|FR|SA|SU)(?:,(?:[+-]?[1-9]\d?)?(?:MO|TU|WE|TH|FR|SA|SU))*",
    "BYMONTHDAY": r"-?[1-9]\d?(?:,-?[1-9]\d?)*",
    "BYMONTH": r"(?:[1-9]|1[0-2])(?:,(?:[1-9]|1[0-2]))*",
    "BYSETPOS": r"-?[1-9]\d{0,2}(?:,-?[1-9]\d{0,2})*",
}
"""What may stand in a rule, in the order it is written."""


class BadRule(ValueError):
    """The text is no rule this system can have; says why."""


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One date of a series: the local day the rule gave, and when that is.

    `is_shifted`: the clocks skip its wall time that day, and it starts that much later.
    """

    date: date
    during: Interval
    is_shifted: bool


def normalised(text: str, *, zone: ZoneInfo) -> str:
    """The rule as it is kept: known parts in one order, UNTIL as the last local day.

    Raises BadRule.
    """
    if len(text) > RULE_LENGTH:
        raise BadRule("too long")
    found: dict[str, str] = {}
    for part in text.strip().upper().removeprefix("RRULE:").split(";"):
        name, _equals, value = part.partition("=")
        if name in found or not re.fullmatch(_PARTS.get(name, r"(?!)"), value):
            raise BadRule(part)
        found[name] = value
    if "FREQ" not in found:
        raise BadRule("no frequency")
    if ("COUNT" in found) == ("UNTIL" in found):
        raise BadRule("ends by COUNT or by UNTIL")
    if int(found.get("COUNT", 1)) > MAX_DATES:
        raise BadRule("too many dates")
    if "UNTIL" in found:
        found["UNTIL"] = f"{_last_day(found['UNTIL'], zone):%Y%m%d}"
    rule = ";".join(f"{name}={found[name]}" for name in _PARTS if name in found)
    dates(rule, date(2000, 1, 1))
    return rule


def dates(rule: str, first: date) -> tuple[date, ...]:
    """The local days a normalised rule gives from `first` on, at most MAX_DATES + 1 of them.

    None more than three years after `first`: no policy reaches farther. Raises BadRule.
    """
    parts = dict(part.split("=") for part in rule.split(";"))
    count = int(parts.pop("COUNT", MAX_DATES + 1))
    last = min(_date(parts.pop("UNTIL", "99991231")[:8]), first + timedelta(days=FARTHEST_DAYS))
    bounded = ";".join(f"{name}={value}" for name, value in parts.items())
    midnight = datetime.combine(first, time(0))
    try:
        found = rrulestr(f"{bounded};UNTIL={last:%Y%m%d}", dtstart=midnight)
    except ValueError as error:
        raise BadRule(rule) from error
    return tuple(each.date() for each in islice(found, count))


def slot(zone: ZoneInfo, day: date, start: time, minutes: int) -> Slot:
    """When a date of a series is; a wall time that is skipped is taken at the offset before."""
    instant = instant_of(zone, day, start)
    starts_at = instant or datetime.combine(day, start, zone).astimezone(UTC)
    during = Interval(starts_at, starts_at + timedelta(minutes=minutes))
    return Slot(date=day, during=during, is_shifted=instant is None)


def ended_before(rule: str, first: date, day: date) -> str:
    """The rule as far as its dates before `day` go."""
    return _counted(rule, sum(each < day for each in dates(rule, first)))


def going_on_from(rule: str, first: date, day: date) -> str:
    """The rule for its dates from `day` on, which is one of them."""
    if "COUNT=" not in rule:
        return rule
    return _counted(rule, sum(each >= day for each in dates(rule, first)))


def _counted(rule: str, count: int) -> str:
    parts = [part for part in rule.split(";") if not part.startswith(("COUNT=", "UNTIL="))]
    ordered = sorted(
        [*parts, f"COUNT={count}"], key=lambda part: list(_PARTS).index(part.split("=")[0])
    )
    return ";".join(ordered)


def _last_day(until: str, zone: ZoneInfo) -> date:
    if not until.endswith("Z"):
        return _date(until[:8])
    try:
        return datetime.strptime(until, "%Y%m%dT%H%M%S%z").astimezone(zone).date()
    except (ValueError, OverflowError) as error:
        raise BadRule(until) from error


def _date(text: str) -> date:
    try:
        return date(int(text[:4]), int(text[4:6]), int(text[6:]))
    except ValueError as error:
        raise BadRule(text) from error
