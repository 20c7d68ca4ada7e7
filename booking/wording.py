"""The words the portal's scripts show, so that the gettext catalogue rules both languages.

A key is what a script asks for; `{name}` places are filled there. Of a pair `_one`, `_other` the
script takes the one its language's plural rules name. Imports no models.
"""

from django.utils.translation import gettext as _


def assistant_texts() -> dict[str, str]:
    """Every text of the assistant page's scripts in the active language."""
    return _chat() | _cards() | _slots() | _connection()


def _chat() -> dict[str, str]:
    return {
        "greeting": _("Tell me when, how long and how many people. I will find the room."),
        "speakerYou": _("You said:"),
        "speakerAssistant": _("Assistant:"),
        "thinking": _("Thinking …"),
        "stopping": _("Stopping …"),
        "notSentYet": _("Not sent yet"),
        "queued": _("Next in line"),
        "takeBack": _("Take back"),
        "waiting_one": _("{count} message waiting"),
        "waiting_other": _("{count} messages waiting"),
        "tryAgain": _("Try again"),
        "characters": _("{used} of {limit} characters"),
    }


def _cards() -> dict[str, str]:
    return {
        "roomsToChoose": _("Rooms to choose from"),
        "alternatives": _("Other possibilities"),
        "seats_one": _("{count} seat"),
        "seats_other": _("{count} seats"),
        "needsApproval": _("Needs approval"),
        "summary": _("What will happen"),
        "yes": _("Yes"),
        "no": _("No"),
        "myBookings": _("My bookings"),
        "status_booked": _("Booked"),
        "status_pending": _("Waiting for approval"),
        "status_cancelled": _("Cancelled"),
        "status_checked_in": _("Checked in"),
    }


def _slots() -> dict[str, str]:
    return {
        "slot_date": _("Date"),
        "slot_start_time": _("Start"),
        "slot_duration_minutes": _("Length"),
        "slot_capacity": _("People"),
        "slot_building": _("Building"),
        "slot_floor": _("Floor"),
        "slot_room": _("Room"),
        "slot_features": _("Equipment"),
        "slot_title": _("Title"),
        "correct_date": _("Make the date "),
        "correct_start_time": _("Make the start "),
        "correct_duration_minutes": _("Make the length "),
        "correct_capacity": _("Make it for "),
        "correct_building": _("Make it building "),
        "correct_floor": _("Make it floor "),
        "correct_room": _("Make it room "),
        "correct_features": _("It needs a "),
        "correct_title": _("Make the title "),
        "changeSlot": _("Change: {slot}"),
        "giveSlot": _("Still needed: {slot}"),
        "assumed": _("assumed"),
        "minutes": _("{minutes} min"),
        "hours": _("{hours} h"),
        "hoursAndMinutes": _("{hours} h {minutes} min"),
        # Translators: a date; the parts are filled by name: Thu 3 Dec, 12月3日 周四
        "day": _("{weekday} {day} {month}"),
        "dayOfYear": _("{weekday} {day} {month} {year}"),
        "people_one": _("{count} person"),
        "people_other": _("{count} people"),
        "building": _("Building {code}"),
        "floor": _("Floor {number}"),
    }


def _connection() -> dict[str, str]:
    return {
        "connection_connecting": _("Connecting …"),
        "connection_connected": _("Connected"),
        "connection_reconnecting": _("Reconnecting …"),
        "connection_offline": _("Offline"),
        "connection_stopped": _("Disconnected"),
        "connection_replaced": _("Open in another window"),
        "connection_forbidden": _("Not allowed"),
    }


_EXAMPLES = {
    "en": (
        "A room for six tomorrow at 3 pm, for an hour",
        "Thursday 10:00 to 11:30, eight people, with a projector",
        "What have I booked?",
    ),
    "zh-Hans": (
        "明天下午三点，六个人，一个小时",
        "周四上午十点到十一点半，八个人，要投影",
        "我订了哪些会议室？",
    ),
}


def examples(language: str) -> list[dict[str, str]]:
    """Sentences to begin with: three in the reader's language, one in the other."""
    first, second = ("zh-Hans", "en") if language.startswith("zh") else ("en", "zh-Hans")
    own = [{"lang": first, "text": text} for text in _EXAMPLES[first]]
    return [*own, {"lang": second, "text": _EXAMPLES[second][0]}]
