"""How the agent puts things: phrases with their places filled, dates, lengths, rules. Pure."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from booking.agent.phrases import TEXTS

WEEKDAYS = {
    "en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    "zh": ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
}
MONTHS = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip


def text(key: str, language: str, *places: Any, **values: Any) -> str:
    """The words for a key in `en` or `zh`, its places filled."""
    return TEXTS[key][language == "zh"].format(*places, **values)


def day_text(day: date, language: str) -> str:
    """Tue 1 Dec / 12月1日 周二."""
    weekday = WEEKDAYS[language][day.weekday()]
    if language == "zh":
        return f"{day.month}月{day.day}日 {weekday}"
    return f"{weekday} {day.day} {MONTHS[day.month - 1]}"


def span_text(starts_at: datetime, ends_at: datetime, language: str) -> str:
    """A booking's time in the zone of its instants: day, start and end."""
    day = day_text(starts_at.date(), language)
    return f"{day} {starts_at:%H:%M}–{ends_at:%H:%M}"


DATES_NAMED = 5


def dates_text(days: Sequence[date], language: str) -> str:
    """How many dates, and which: each of a few, the first and last of many."""
    named = [day_text(day, language) for day in days]
    if len(named) <= DATES_NAMED:
        return text("dates.some", language, count=len(named), days=joined(named, language))
    return text("dates.many", language, count=len(named), first=named[0], last=named[-1])


def rhythm_text(rule: str, language: str) -> str:
    """FREQ=WEEKLY;BYDAY=MO,TH as every Mon and Thu / 每周一和周四; a rarer rule as it is."""
    parts = dict(part.split("=", 1) for part in rule.split(";"))
    count = int(parts.get("INTERVAL", 1))
    if parts["FREQ"] == "DAILY" and "BYDAY" not in parts:
        return text("every.day" if count == 1 else "every.days", language, n=count)
    codes = [code for code in parts.get("BYDAY", "").split(",") if code]
    if parts["FREQ"] != "WEEKLY" or not codes or not set(codes) <= set(_BYDAY):
        return text("every.other", language, rule=rule)
    days = joined([WEEKDAYS[language][_BYDAY.index(code)] for code in codes], language)
    return text("every.week" if count == 1 else "every.weeks", language, n=count, days=days)


_BYDAY = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def duration_text(minutes: int, language: str) -> str:
    """90 as 1 h 30 min / 1小时30分钟."""
    hours, rest = divmod(int(minutes), 60)
    units = ("小时", "分钟") if language == "zh" else (" h", " min")
    parts = [f"{count}{unit}" for count, unit in ((hours, units[0]), (rest, units[1])) if count]
    return ("" if language == "zh" else " ").join(parts) or f"0{units[1]}"


def joined(items: Sequence[str], language: str) -> str:
    """a, b and c."""
    if len(items) < 2:
        return "".join(items)
    head = text("comma", language).join(items[:-1])
    return f"{head}{text('and', language)}{items[-1]}"


def slot_text(slot: str, value: Any, language: str) -> str:
    """A slot's value in words."""
    if slot == "date":
        return day_text(date.fromisoformat(value), language)
    if slot == "duration_minutes":
        return duration_text(value, language)
    if slot == "capacity":
        return text("value.person" if value == 1 else "value.people", language, n=value)
    return str(value)


def coded_text(prefix: str, code: str, language: str) -> str:
    """The words for a code such as `spare_seats:2`; "" for one without words."""
    name, _, argument = code.partition(":")
    key = f"{prefix}.{name}"
    return text(key, language, argument) if key in TEXTS else ""
