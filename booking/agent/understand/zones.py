"""Times said in another place's clock: London time, 伦敦时间, UTC.

Only the clock is the other place's: "tomorrow" stays the speaker's own day.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from booking.agent.understand.normalise import Scan
from booking.agent.understand.types import Found

_PLACES = {
    "Europe/London": ("london", "uk", "british", "伦敦", "英国"),
    "Europe/Paris": ("paris", "巴黎", "法国", "french"),
    "Europe/Berlin": ("berlin", "munich", "frankfurt", "german", "germany", "柏林", "慕尼黑", "德国"),
    "America/New_York": ("new york", "nyc", "boston", "eastern", "纽约", "美东", "波士顿"),
    "America/Chicago": ("chicago", "central", "芝加哥"),
    "America/Los_Angeles": (
        "los angeles", "san francisco", "seattle", "california", "pacific",
        "洛杉矶", "旧金山", "西雅图", "美西", "加州", "硅谷",
    ),
    "Asia/Tokyo": ("tokyo", "japan", "japanese", "东京", "日本"),
    "Asia/Seoul": ("seoul", "korea", "首尔", "韩国"),
    "Asia/Singapore": ("singapore", "新加坡"),
    "Asia/Hong_Kong": ("hong kong", "香港"),
    "Asia/Shanghai": ("beijing", "shanghai", "china", "北京", "上海", "中国"),
    "Asia/Kolkata": ("india", "indian", "bangalore", "mumbai", "印度", "班加罗尔"),
    "Asia/Dubai": ("dubai", "迪拜"),
    "Australia/Sydney": ("sydney", "悉尼"),
    "Europe/Moscow": ("moscow", "莫斯科"),
    "UTC": ("世界标准", "协调世界", "格林尼治", "greenwich"),
}  # fmt: skip
_SHORT = {
    "utc": "UTC", "gmt": "UTC", "bst": "Europe/London", "cet": "Europe/Paris", "cest": "Europe/Paris",
    "est": "America/New_York", "edt": "America/New_York", "pst": "America/Los_Angeles",
    "pdt": "America/Los_Angeles", "jst": "Asia/Tokyo", "sgt": "Asia/Singapore", "hkt": "Asia/Hong_Kong",
}  # fmt: skip
_NAMES = {name: zone for zone, names in _PLACES.items() for name in names}
_ZONE = re.compile(
    rf"(?P<place>{'|'.join(sorted(_NAMES, key=len, reverse=True))})(?: (?:local )?time(?![a-z])|\s?(?:当地)?时间)"
    rf"|(?<![a-z])(?P<short>{'|'.join(_SHORT)})(?: time)?(?![a-z\d])"
)


def find(scan: Scan) -> Found | None:
    match = _ZONE.search(scan.text)
    if match is None:
        return None
    scan.take(match.span())
    zone = _NAMES[match["place"]] if match["place"] else _SHORT[match["short"]]
    return Found(zone, match.span(), "input_timezone.name")


def to_rooms(local: datetime, zone: str, rooms: datetime) -> datetime:
    """The wall time `local` of `zone`, as wall time in the zone of the aware `rooms`."""
    moved = local.replace(tzinfo=ZoneInfo(zone)).astimezone(rooms.tzinfo)
    return moved.replace(tzinfo=None)


def from_rooms(wall: datetime, zone: str, rooms: datetime) -> datetime:
    """The wall time `wall` in the zone of the aware `rooms`, as wall time of `zone`."""
    return wall.replace(tzinfo=rooms.tzinfo).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def minute_of(value: datetime) -> int:
    return value.hour * 60 + value.minute


def clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def midnight_plus(day: datetime, minutes: int) -> datetime:
    midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - wall time by design
    return midnight + timedelta(minutes=minutes)


def minutes(clock_text: str) -> int:
    """Minutes since midnight of a "HH:MM"."""
    return int(clock_text[:2]) * 60 + int(clock_text[3:])
