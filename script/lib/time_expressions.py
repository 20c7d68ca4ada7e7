"""What understanding reads in a text, as time values of the kind public test sets are written in.

    f = make(); f("tomorrow 3 to 5", now, "en") -> [{"d", "t", "d2", "t2", "m", "alts"}]

Nothing is decided here: the values are the slots that a first message of a conversation would
fill. Where the product asks instead, the readings that it offers stand in its question's order. The
hours are those of a place that never closes and takes any minute, since such texts know no office.
"""

import sys
from datetime import date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from booking.agent.understand import DraftView, Lexicon, OpeningHours
from booking.agent.understand.facts import gather
from booking.agent.understand.normalise import normalise
from booking.agent.understand.spelling import corrected
from booking.agent.understand.when import decide

ALWAYS = OpeningHours(time(0), time(0), 1)
ZONE = ZoneInfo("UTC")


def make():
    """The reader of one text."""
    return read


def read(text: str, now: datetime, language: str) -> list[dict]:
    message = corrected(normalise(text), None)
    now = now.replace(tzinfo=ZONE)
    facts = gather(message.folded, message.text, lexicon=Lexicon(), now=now)
    slots, problems = decide(
        facts, message.text, now=now, opening=ALWAYS, draft=DraftView(), may_assume_today=False
    )
    values = {slot: found.value for slot, found in slots.items()}
    asked = {problem.slot: problem.options for problem in reversed(problems)}
    first = _first(values, asked, slots)
    if first is None and facts.lengths:
        first = _value(m=round(facts.lengths[0].minutes))
    return [first] if first else []


def _first(values, asked, slots) -> dict | None:
    if "period" in values and "start_time" not in values:
        low, high = values["period"]
        return _value(d=_day(low), d2=_day(high))
    day = _day(values.get("date") or next(iter(asked.get("date", ())), None))
    if "duration_minutes" in slots and slots["duration_minutes"].rule == "duration.all_day":
        return _value(m=values["duration_minutes"])
    starts = [values["start_time"]] if "start_time" in values else asked.get("start_time", ())
    if starts:
        return _from(day, starts, values.get("duration_minutes"))
    if "window" in values:
        low, high = values["window"]
        return _value(d=day, t=_time(low), d2=day, t2=_time(high))
    if "end_time" in values:
        return _value(d=day, t=_time(values["end_time"]))
    return _value(d=day) if day else None


def _from(day, starts, minutes) -> dict:
    times = [_time(start) for start in starts]
    if minutes is None:
        return _value(d=day, t=times[0], alts=times)
    start = datetime.combine(day or date(2000, 1, 1), times[0])
    end = start + timedelta(minutes=minutes)
    return _value(d=day, t=times[0], d2=end.date() if day else None, t2=end.time(), alts=times)


def _value(**known) -> dict:
    return {"d": None, "t": None, "d2": None, "t2": None, "m": None, "alts": [], **known}


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _time(text: str) -> time:
    return time(int(text[:2]) % 24, int(text[3:]))
