"""Everything the agent says, in both languages, and how it writes dates and lengths. Pure."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

WEEKDAYS = {
    "en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    "zh": ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
}
MONTHS = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip

TEXTS: dict[str, tuple[str, str]] = {
    "greeting": (
        "Tell me when, for how long and for how many people, and I will find a room.",
        "告诉我时间、时长和人数，我来帮您找会议室。",
    ),
    "ask.date": ("Which day?", "哪一天？"),
    "ask.start_time": ("What time should it start?", "几点开始？"),
    "ask.duration_minutes": ("For how long?", "要多长时间？"),
    "ask.capacity": ("How many people, yourself included?", "一共多少人（包括您自己）？"),
    "ask.until": ("Until when should it go on?", "订到什么时候为止？"),
    "ask.room": ("Which room?", "哪个会议室？"),
    "ask.building": ("Which building?", "哪栋楼？"),
    "ask.other": ("What should I change?", "需要改哪里？"),
    "ask.several": ("Please tell me {slots}.", "请告诉我{slots}。"),
    "slot.date": ("the day", "日期"),
    "slot.start_time": ("the start time", "开始时间"),
    "slot.duration_minutes": ("how long", "时长"),
    "slot.capacity": ("how many people", "人数"),
    "label.room": ("Room", "会议室"),
    "label.date": ("Date", "日期"),
    "label.time": ("Time", "时间"),
    "label.capacity": ("People", "人数"),
    "label.title": ("Title", "主题"),
    "label.features": ("Equipment", "设备"),
    "label.approval": ("Approval", "审批"),
    "label.booking": ("Booking", "预订"),
    "label.before": ("Now", "现在"),
    "label.after": ("New", "改为"),
    "label.dates": ("Dates", "日期"),
    "label.left_out": ("Left out", "除外"),
    "value.approval": ("Needed before it is final", "需要审批，批准后生效"),
    "value.people": ("{n} people", "{n} 人"),
    "value.person": ("{n} person", "{n} 人"),
    "assumed.date": ("I took {value} as the day.", "日期按{value}理解。"),
    "assumed.start_time": ("I took {value} as the start.", "开始时间按 {value} 理解。"),
    "assumed.duration_minutes": ("I took {value} as the length.", "时长按{value}理解。"),
    "assumed.capacity": ("I took it as {value}.", "人数按 {value}理解。"),
    "assumed.room": ("I took that as room {value}.", "会议室按 {value} 理解。"),
    "known": ("So far: {facts}.", "已记下：{facts}。"),
    "choose": ("These rooms are free. Which one?", "以下会议室有空，要哪一间？"),
    "choose.one": ("{room} is free. Take it?", "{room} 有空，订这间吗？"),
    "choose.approval": (
        "Nothing can be booked at once then. A room on request, or another time?",
        "那个时间没有可直接预订的会议室。可以申请需审批的，或换个时间：",
    ),
    "choose.alternatives": (
        "Nothing is free exactly then. How about one of these?",
        "那个时间没有合适的空房。下面这些可以吗？",
    ),
    "choose.none": (
        "No room fits, even at nearby times. Another time or fewer people, perhaps?",
        "没有合适的会议室，附近的时间也没有。换个时间或人数试试？",
    ),
    "window.free": ("Free starts then: {starts}.", "这段时间可以开始的时刻：{starts}。"),
    "window.full": ("Nothing is free in that part of the day.", "这段时间没有空房。"),
    "confirm": ("Shall I book it?", "确认预订吗？"),
    "confirm.cancel": ("Cancel this booking?", "确认取消这个预订吗？"),
    "confirm.move": ("Change this booking?", "确认修改这个预订吗？"),
    "booked": ("Booked: {room}, {when}.", "已预订：{room}，{when}。"),
    "pending": (
        "Requested: {room}, {when}. It is held for you but not final until it is approved.",
        "已提交申请：{room}，{when}。会议室已为您保留，批准后才生效。",
    ),
    "already_booked": ("That is already done.", "这个已经办好了。"),
    "cancelled": ("Cancelled: {room}, {when}.", "已取消：{room}，{when}。"),
    "cancelled.dates": ("Cancelled: {count} dates in {room}.", "已取消 {room} 的 {count} 次预订。"),
    "moved.dates": ("Changed: {count} dates in {room}.", "已修改 {count} 次预订，会议室 {room}。"),
    "moved": ("Changed: {room}, {when}.", "已修改：{room}，{when}。"),
    "kept": ("All right, it stays as it is.", "好的，保持不变。"),
    "dropped": (
        "All right, I have dropped it. Nothing was booked.",
        "好的，已取消，没有订任何会议室。",
    ),
    "nothing_open": ("There is nothing to cancel.", "目前没有需要取消的。"),
    "declined": ("All right, not that one.", "好的，不订这间。"),
    "taken.then": ("{room} is taken then.", "那个时间 {room} 已被占用。"),
    "choose.instead": ("How about one of these instead?", "下面这些可以吗？"),
    "taken": ("{room} was just taken.", "{room} 刚刚被别人订走了。"),
    "mine.none": ("You have no bookings {span}.", "您{span}没有预订。"),
    "mine.some": ("Your bookings {span}:\n{lines}", "您{span}的预订：\n{lines}"),
    "mine.line": ("• {when}, {room}{title}", "• {when}，{room}{title}"),
    "span.today": ("today", "今天"),
    "span.day": ("on {day}", "{day}"),
    "span.soon": ("from now on", "接下来"),
    "room.free": ("{room} is free now.", "{room} 现在空闲。"),
    "room.free_until": ("{room} is free until {until}.", "{room} 空闲到 {until}。"),
    "room.busy": ("{room} is in use until {until}.", "{room} 使用中，到 {until} 结束。"),
    "room.by": (" {who}: {title}.", "{who}：{title}。"),
    "which.cancel_booking": ("Which booking shall I cancel?", "要取消哪个预订？"),
    "which.move_booking": ("Which booking shall I change?", "要修改哪个预订？"),
    "no.booking": ("I find no booking of yours like that.", "没有找到您的这个预订。"),
    "not_yours": (
        "I can only change your own bookings.",
        "我只能修改您自己的预订。",
    ),
    "no.date": (
        "{title} is not on {day}; the next one is {when}.",
        "{day}没有{title}，下一次是{when}。",
    ),
    "series.next": ("a series; the next date is shown", "系列预订，显示的是下一次"),
    "series.name": ("That booking", "这个预订"),
    "series.days": (
        "These dates follow no single weekday. Say how often it should be, such as every Tuesday.",
        "这个系列不是每周一次，请说明新的重复方式，例如每周二。",
    ),
    "ask.scope.cancel_booking": (
        "{title} is a series. Cancel only {day}, that one and all after it, or the whole series?",
        "{title}是系列预订。只取消{day}这一次，这次及以后，还是整个系列？",
    ),
    "ask.scope.move_booking": (
        "{title} is a series. Change only {day}, that one and all after it, or the whole series?",
        "{title}是系列预订。只改{day}这一次，这次及以后，还是整个系列？",
    ),
    "scope.this": ("Only {day}", "只这一次（{day}）"),
    "scope.following": ("This and following", "这次及以后"),
    "scope.all": ("The whole series", "整个系列"),
    "ask.change": (
        "What should change: the day, the time, the length, the room or how many people?",
        "要改什么：日期、时间、时长、会议室还是人数？",
    ),
    "same": ("That is how it is already.", "现在就是这样的。"),
    "dates.this": ("only this one, the series goes on", "只这一次，系列照常"),
    "dates.some": ("{count}: {days}", "{count} 次：{days}"),
    "dates.many": ("{count}: {first} to {last}", "{count} 次：{first}至{last}"),
    "taken.why": ("taken", "已被占用"),
    "left_out.taken": ("{day}: taken", "{day}：已被占用"),
    "left_out.why": ("{day}: {why}", "{day}：{why}"),
    "confirm.without": (
        "Do it for the other {count}, without those dates?",
        "其余 {count} 次照办，上面这些日期不要了，可以吗？",
    ),
    "every.day": ("every day", "每天"),
    "every.days": ("every {n} days", "每 {n} 天"),
    "every.week": ("every {days}", "每{days}"),
    "every.weeks": ("every {n} weeks on {days}", "每 {n} 周的{days}"),
    "every.other": ("{rule}", "{rule}"),
    "which.check_in": ("Which one are you at?", "您到了哪一个？"),
    "checked_in": ("You are checked in: {room}, {when}.", "已签到：{room}，{when}。"),
    "check_in.again": (
        "You are checked in already: {room}, {when}.",
        "您已经签到了：{room}，{when}。",
    ),
    "check_in.late": (
        "Nobody checked in to {room}, {when}, by {until}, so it was released. "
        "Shall I look for a room? Tell me for how long and for how many people.",
        "{room}（{when}）到 {until} 没有人签到，已经释放。需要再找一间的话，告诉我时长和人数。",
    ),
    "check_in.early": (
        "There is nothing to check in to yet. Your next booking is {room}, {when}; "
        "check-in opens at {since}.",
        "现在还没有可以签到的预订。您的下一个预订是 {room}，{when}，{since} 开始可以签到。",
    ),
    "check_in.pending": (
        "Your next booking, {room}, {when}, still waits for approval; you can check in once it has it.",
        "您的下一个预订 {room}（{when}）还在等待审批，批准后才能签到。",
    ),
    "check_in.none": (
        "You have no booking to check in to.",
        "您没有可以签到的预订。",
    ),
    "free.need": (
        "Tell me the day, the time, how long and how many people, and I will look.",
        "告诉我日期、时间、时长和人数，我来查。",
    ),
    "scope": (
        "I only help with meeting rooms: finding, booking and cancelling them, and your bookings.",
        "我只能帮忙处理会议室：查找、预订、取消，以及查看您的预订。",
    ),
    "injection": (
        "I cannot do that. I only book rooms for you, with your confirmation.",
        "这个我不能做。我只能在您确认后为您本人预订会议室。",
    ),
    "unclear": (
        "I did not understand that. When, for how long and for how many people?",
        "没太明白。请说一下时间、时长和人数。",
    ),
    "unclear.open": ("I did not understand that.", "没太明白。"),
    "on_behalf": (
        "I can only book in your own name. Shall I book it for you, with {who} attending?",
        "我只能以您本人的名义预订。要以您的名义订，{who}参加吗？",
    ),
    "assumed.until": (
        "You gave no end, so I took it until {day}, the last day that can be booked.",
        "没有说到什么时候为止，先按可以预订的最后一天 {day} 理解。",
    ),
    "series.free": ("free on all {count} dates", "{count} 次都有空"),
    "series.partly": (
        "free on {count} of {total} dates, not on {days}",
        "{total} 次中有 {count} 次有空，{days}不行",
    ),
    "series.more": ("{days} and {more} more", "{days}等另外 {more} 次"),
    "series.none": ("No room is free on any of these dates.", "这些日期都没有合适的空房。"),
    "booked.series": (
        "Booked: {room}, {rhythm} {time}, {count} dates from {first} on.",
        "已预订：{room}，{rhythm} {time}，从{first}起共 {count} 次。",
    ),
    "pending.series": (
        "Requested: {room}, {rhythm} {time}, {count} dates from {first} on. "
        "They are held for you but not final until they are approved.",
        "已提交申请：{room}，{rhythm} {time}，从{first}起共 {count} 次。已为您保留，批准后才生效。",
    ),
    "nearest": ("The nearest possible: {when}.", "最近可行的时间：{when}。"),
    "largest": ("The largest room, {room}, seats {seats}.", "最大的 {room} 可坐 {seats} 人。"),
    "reason.needs_approval": ("needs approval", "需要审批"),
    "reason.named_room": ("the room you named", "您指定的会议室"),
    "reason.named_building": ("in the building you named", "在您指定的楼里"),
    "reason.home_building": ("in your building", "在您的楼里"),
    "reason.exact_fit": ("exactly the right size", "大小正好"),
    "reason.fewest_spare_seats": ("closest in size, {0} to spare", "大小最合适，多 {0} 座"),
    "reason.spare_seats": ("{0} seats to spare", "多 {0} 座"),
    "reason.larger_than_needed": ("larger than needed by {0}", "比需要的多 {0} 座"),
    "reason.has_features": ("has what you asked for", "有您要的设备"),
    "reason.no_unasked_features": ("nothing you do not need", "没有多余设备"),
    "detail.earlier": ("{0} earlier", "早{0}"),
    "detail.later": ("{0} later", "晚{0}"),
    "detail.other_building": ("in building {0}", "在 {0} 座"),
    "detail.other_floor": ("on floor {0}", "在 {0} 层"),
    "detail.other_room": ("another room", "另一间"),
    "detail.larger": ("a size up, {0} seats", "更大，{0} 座"),
    "detail.feature": ("without {0}", "没有{0}"),
    "detail.split": ("{0} rooms together", "{0} 间一起用"),
    "detail.needs_approval": ("needs approval", "需要审批"),
    "and": (" and ", "和"),
    "comma": (", ", "、"),
}

PROBLEMS: dict[str, tuple[str, str]] = {
    "impossible_time": ("There is no such time as {text}.", "没有“{text}”这个时间。"),
    "impossible_date": ("There is no such day as {text}.", "没有“{text}”这一天。"),
    "impossible_duration": ("“{text}” cannot be the length.", "时长不能是“{text}”。"),
    "impossible_capacity": (
        "“{text}” cannot be the number of people.",
        "人数不能是“{text}”。",
    ),
    "ambiguous_time": ("“{text}” could be {options}.", "“{text}”可能是{options}。"),
    "ambiguous_date": ("“{text}” could be {options}.", "“{text}”可能是{options}。"),
    "ambiguous_duration": ("You gave two lengths: {options}.", "您说了两个时长：{options}。"),
    "ambiguous_capacity": ("You gave two headcounts: {options}.", "您说了两个人数：{options}。"),
    "vague_date": ("“{text}” is several days.", "“{text}”有好几天。"),
    "range_against_duration": (
        "The times and the length do not agree: {options}.",
        "起止时间和时长对不上：{options}。",
    ),
    "weekday_against_date": (
        "The weekday and the date do not agree: {options}.",
        "星期和日期对不上：{options}。",
    ),
    "past_time": ("{text} today is already past.", "今天的“{text}”已经过了。"),
    "past_date": ("{text} is already past.", "“{text}”已经过去了。"),
    "unknown_room": ("I know no room {text}.", "没有“{text}”这个会议室。"),
    "unknown_building": ("I know no building {text}.", "没有“{text}”这栋楼。"),
    "too_long": ("I read only the first part of that.", "消息太长，我只看了前面一部分。"),
    "too_many_times": ("That was too many times at once.", "一次说的时间太多了。"),
    "not_understood": ("I did not understand that.", "没太明白。"),
}


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
