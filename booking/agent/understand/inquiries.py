"""Questions: about one's own bookings, about a room, about what is free. They change no draft (P11)."""

from __future__ import annotations

from booking.agent.understand import cues
from booking.agent.understand.heard import Act, Heard, asks_for_room


def question(heard: Heard) -> Act | None:
    words = heard.words
    if heard.facts.same_room is not None:
        return None
    if cues.MINE_ALONE.search(words.strip(" ,.。!?~\ue000")):
        return Act("query_mine")
    if not cues.QUESTION.search(words):
        return None
    room = "room" in heard.slots or any(p.code == "unknown_room" for p in heard.problems)
    if cues.WHY_NOT.search(words) and (room or heard.draft.is_open):
        return Act("query_room", wants="why")
    if cues.MINE_ASKED.search(words) and cues.LIST.search(words) and not _changes(heard):
        return Act("query_mine")
    if room and (act := _about_a_room(heard)) is not None:
        return act
    if not cues.FREE.search(words) or (asks_for_room(heard) and not room):
        return None
    timed = "start_time" in heard.slots and heard.slots["start_time"].rule != "start.now"
    return Act("query_availability" if timed or not room else "query_room")


def _about_a_room(heard: Heard) -> Act | None:
    """Who is in it, what it has, how many it seats."""
    if cues.WHO.search(heard.words):
        return Act("query_room")
    if asks_for_room(heard):
        return None
    has_thing = "features" in heard.slots and cues.HAS_THING.search(heard.words)
    if has_thing or cues.ROOM_FACTS.search(heard.words):
        return Act("query_room", wants="features")
    return None


def _changes(heard: Heard) -> bool:
    return bool(cues.CANCEL.search(heard.words) or cues.MODIFY.search(heard.words))
