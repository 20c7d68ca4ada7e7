"""What operators see of a conversation's state, may change in a fork, and what it has to be.

Pure, but for the choices of a form, which are read when it is shown.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agentruntime.agents import Edit, Field
from booking.agent.state import OPEN_PHASES, REQUIRED, fresh_dialogue

DAY_MINUTES = 24 * 60
LARGEST_MEETING = 1000


def _rooms(language: str) -> Sequence[tuple[str, str]]:
    from booking.selectors import room_lexicon

    names = {"zh": "name_zh"}.get(language, "name_en")
    return [
        (room.code, f"{room.code} {getattr(room, names)}".strip()) for room in room_lexicon(None)
    ]


def _features(language: str) -> Sequence[tuple[str, str]]:
    from booking.selectors import feature_lexicon

    names = {"zh": "name_zh"}.get(language, "name_en")
    return [(each.code, getattr(each, names) or each.code) for each in feature_lexicon()]


def _slot(slot: str, kind: Any, en: str, zh: str, **more: Any) -> Field:
    return Field(path=f"slots.{slot}", kind=kind, labels={"en": en, "zh": zh}, **more)


FIELDS = (
    _slot("date", "date", "Date", "日期"),
    _slot("start_time", "time", "Start time", "开始时间"),
    _slot("duration_minutes", "integer", "Minutes", "时长（分钟）", minimum=5, maximum=DAY_MINUTES),
    _slot("capacity", "integer", "People", "人数", minimum=1, maximum=LARGEST_MEETING),
    _slot("room", "text", "Room", "会议室", choices=_rooms),
    _slot("features", "list", "Equipment", "设备", choices=_features),
    _slot("title", "text", "Title", "主题"),
)


WORDS = {
    "ask": {"en": "Asked", "zh": "提问"},
    "clarify": {"en": "Worded a question", "zh": "组织问题"},
    "IDLE": {"en": "Nothing open", "zh": "无进行中的事项"},
    "COLLECTING_SLOTS": {"en": "Asking for what is missing", "zh": "询问缺少的信息"},
    "AWAITING_SELECTION": {"en": "Rooms on offer", "zh": "等待选择会议室"},
    "CONFIRMING": {"en": "Waiting for a yes", "zh": "等待确认"},
    "BOOKED": {"en": "Booked", "zh": "已预订"},
    "phase": {"en": "Phase", "zh": "阶段"},
    "title": {"en": "Summary", "zh": "概要"},
    "language": {"en": "Language", "zh": "语言"},
    "assumed": {"en": "Assumed", "zh": "假定"},
    "slots.building": {"en": "Building", "zh": "楼"},
    "slots.floor": {"en": "Floor", "zh": "楼层"},
    "result.booking_id": {"en": "Booking", "zh": "预订"},
    "result.room_id": {"en": "Booked room", "zh": "所订会议室"},
    "result.status": {"en": "Booking status", "zh": "预订状态"},
    "result.start": {"en": "Booked from", "zh": "预订开始"},
    "result.end": {"en": "Booked until", "zh": "预订结束"},
    "result.simulated": {"en": "Only simulated", "zh": "仅为模拟"},
}


def edit(state: Mapping[str, Any], changes: Mapping[str, Any]) -> Edit:
    """The wish with other slots; what was offered for the old one is void (P14)."""
    slots = dict(state.get("slots") or {})
    for path, value in changes.items():
        slot = path.partition(".")[2]
        if value is None:
            slots.pop(slot, None)
        else:
            slots[slot] = value
    if "slots.start_time" in changes:
        slots.pop("window", None)
    said = state.get("dialogue") or {}
    missing = [slot for slot in REQUIRED if slots.get(slot) is None]
    dialogue = {
        **fresh_dialogue(said.get("language", "en")),
        "phase": "COLLECTING_SLOTS",
        "assumed": [
            slot
            for slot in said.get("assumed", [])
            if slot in slots and f"slots.{slot}" not in changes
        ],
        "read_back": said.get("read_back", []),
        "asks": missing,
        "next": "clarify" if missing else "search",
    }
    update = {"slots": slots, "dialogue": dialogue, "result": {}}
    return Edit(update=update, after="understand")


def validate(state: Mapping[str, Any]) -> list[str]:
    """What this version of the agent could not go on from."""
    dialogue = state.get("dialogue")
    if dialogue is None:
        return []  # nothing was understood yet
    wrong = [
        f"dialogue.{key} is missing"
        for key in fresh_dialogue("en")
        if key not in dialogue and key not in _LATER
    ]
    phase = dialogue.get("phase")
    if phase not in {"IDLE", "BOOKED", *OPEN_PHASES}:
        wrong.append(f"dialogue.phase {phase!r} is unknown")
    if phase == "CONFIRMING" and not (dialogue.get("offer") or dialogue.get("target")):
        wrong.append("dialogue.phase is CONFIRMING and there is nothing to confirm")
    return wrong


# Keys that came later than the first state that was stored; their readers do without.
_LATER = frozenset({"read_back", "asides", "consent", "parked"})


def simulate(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What booking, moving or cancelling would answer; `booking_id` of a new one is None."""
    status = {"cancel_booking": "cancelled", "check_in": "checked_in"}.get(name, "booked")
    return {
        "booking_id": arguments.get("booking"),
        "room_id": arguments.get("room", ""),
        "status": status,
        "start": arguments.get("starts_at", ""),
        "end": arguments.get("ends_at", ""),
        "simulated": True,
    }


# The key of a wish is made by chance; the digest of an offer, and the consent to it, are over it.
VOLATILE = frozenset({"intent", "digest", "consent"})
