"""What operators read of a conversation: words for nodes, keys of the state, and codes in it. Pure.

A code stands under its key, as in `phase:BOOKED`; what a message was taken to be under `class`,
an effect under `effect` (`AgentSpec.words`).
"""

from collections.abc import Mapping

Words = Mapping[str, str]


def _words(en: str, zh: str) -> Words:
    return {"en": en, "zh": zh}


NODES = {
    "understand": _words("Thinking", "正在处理"),
    "search": _words("Looking for rooms", "正在查找会议室"),
    "book": _words("Booking", "正在预订"),
    "target": _words("Looking at your bookings", "正在查看您的预订"),
    "change": _words("Changing the booking", "正在修改预订"),
    "check_in": _words("Checking in", "正在签到"),
    "answer": _words("Answering", "正在回复"),
}

_UNSTEPPED = {
    "ask": _words("Asked", "提问"),
    "clarify": _words("Worded a question", "组织问题"),
}

SLOTS = {
    "date": _words("Date", "日期"),
    "start_time": _words("Start time", "开始时间"),
    "duration_minutes": _words("Minutes", "时长（分钟）"),
    "capacity": _words("People", "人数"),
    "building": _words("Building", "楼"),
    "floor": _words("Floor", "楼层"),
    "features": _words("Equipment", "设备"),
    "room": _words("Room", "会议室"),
    "title": _words("Title", "主题"),
    "window": _words("Time window", "时间范围"),
    "recurrence": _words("Repeats", "重复"),
}

_PHASES = {
    "IDLE": _words("Nothing open", "无进行中的事项"),
    "COLLECTING_SLOTS": _words("Asking for what is missing", "询问缺少的信息"),
    "AWAITING_SELECTION": _words("Rooms on offer", "等待选择会议室"),
    "CONFIRMING": _words("Waiting for a yes", "等待确认"),
    "BOOKED": _words("Booked", "已预订"),
}

_DIALOGUE = {
    "phase": _words("Phase", "阶段"),
    "language": _words("Language", "语言"),
    "next": _words("Next step", "下一步"),
    "asks": _words("Asks for", "询问"),
    "options": _words("Readings on offer", "可选的理解"),
    "assumed": _words("Assumed", "假定"),
    "read_back": _words("Assumptions told", "已告知的假定"),
    "candidates": _words("Rooms on offer", "候选会议室"),
    "selected": _words("Room chosen", "已选会议室"),
    "question": _words("Question", "问题"),
    "offer": _words("What a yes will book", "确认后将预订"),
    "target": _words("Booking to change", "要修改的预订"),
    "preface": _words("Words before the question", "提问前的话"),
    "wants": _words("Change wished for", "希望的修改"),
    "told": _words("Answered last", "最近回答"),
    "parked": _words("Wish that waits", "暂存的需求"),
    "asides": _words("Questions beside it", "附带的问题"),
    "consent": _words("Digest the yes was given to", "已确认内容的摘要值"),
}

_RESULT = {
    "booking_id": _words("Booking", "预订"),
    "room_id": _words("Booked room", "所订会议室"),
    "status": _words("Booking status", "预订状态"),
    "start": _words("Booked from", "预订开始"),
    "end": _words("Booked until", "预订结束"),
    "simulated": _words("Only simulated", "仅为模拟"),
}

_STATUSES = {
    "held": _words("held", "已保留"),
    "pending": _words("waiting for approval", "待审批"),
    "booked": _words("booked", "已预订"),
    "checked_in": _words("checked in", "已签到"),
    "completed": _words("completed", "已完成"),
    "cancelled": _words("cancelled", "已取消"),
    "rejected": _words("rejected", "已拒绝"),
    "expired": _words("expired", "已过期"),
    "released": _words("released", "已释放"),
}

_LANGUAGES = {"en": _words("English", "英语"), "zh": _words("Chinese", "中文")}

# What a message may be taken to be.
CLASSES = {
    "confirm": _words("a yes", "同意"),
    "decline": _words("a no", "拒绝"),
    "select": _words("a choice", "选择"),
    "correction": _words("a correction", "更正"),
    "supplement": _words("an addition", "补充"),
    "provide_slots": _words("details of the wish", "提供信息"),
    "new_request": _words("a new wish", "新需求"),
    "cancel_flow": _words("calling it off", "放弃"),
    "restart": _words("a fresh start", "重新开始"),
    "resume": _words("going on with it", "继续办理"),
    "query_mine": _words("a question about own bookings", "询问自己的预订"),
    "query_room": _words("a question about a room", "询问会议室"),
    "query_availability": _words("a question about what is free", "询问空闲情况"),
    "modify_booking": _words("changing a booking", "修改预订"),
    "cancel_booking": _words("cancelling a booking", "取消预订"),
    "check_in": _words("checking in", "签到"),
    "out_of_domain": _words("something else", "无关内容"),
    "injection": _words("orders to the machine", "对系统的指令"),
}

EFFECTS = {
    "book_room": _words("Booked a room", "预订会议室"),
    "move_booking": _words("Changed a booking", "修改预订"),
    "cancel_booking": _words("Cancelled a booking", "取消预订"),
    "check_in": _words("Checked in", "签到"),
}


def _under(key: str, words: Mapping[str, Words], *, by: str = ":") -> dict[str, Words]:
    return {f"{key}{by}{code}": each for code, each in words.items()}


WORDS: Mapping[str, Words] = {
    **_UNSTEPPED,
    "phase": _DIALOGUE["phase"],
    "language": _DIALOGUE["language"],
    "assumed": _DIALOGUE["assumed"],
    "title": _words("Summary", "概要"),
    **_under("slots", SLOTS, by="."),
    **_under("dialogue", _DIALOGUE, by="."),
    **_under("result", _RESULT, by="."),
    **_under("phase", _PHASES),
    **_under("next", {**NODES, **_UNSTEPPED, "__end__": _words("The end", "结束")}),
    **_under("status", _STATUSES),
    **_under("language", _LANGUAGES),
    **{
        code: each
        for key in ("assumed", "asks", "read_back")
        for code, each in _under(key, SLOTS).items()
    },
    **_under("class", CLASSES),
    **_under("effect", EFFECTS),
}
