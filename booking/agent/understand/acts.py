"""What a message does, by the state it is said in and only then by its words.

How the acts of a draft are told apart (derived from the shared cases):

* No draft, or one that is booked: slots make a `new_request`.
* A filled slot gets another value, or loses it: `correction`. It wins over everything beside it.
* An empty slot is filled: `provide_slots` when an open question asked for that very slot (the end
  answers for the duration, a part of the day for the start), else `supplement`. So "8个人" after
  "how many?" provides; the same words typed on while the first message is still being worked on,
  or with cards on the screen, supplement.
* A value that was only assumed and that nobody has been told of yet counts as empty.
* Cancel words on a draft drop the draft; naming a stored booking makes it `cancel_booking`.
* A yes confirms an open confirmation, or takes the only card; with any new value it is no yes (P14).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from booking.agent.understand import cues, reference, selection
from booking.agent.understand.facts import Facts
from booking.agent.understand.normalise import MASK
from booking.agent.understand.types import (
    BookingRef,
    DraftView,
    Found,
    Lexicon,
    Problem,
    Selection,
)

SPEAKING = frozenset({"new_request", "provide_slots", "correction", "supplement", "restart"})
_ANSWERS = {"window": "start_time", "end_time": "duration_minutes"}
_CHANGES = {
    "duration_change": "duration_minutes",
    "start_change": "start_time",
    "capacity_change": "capacity",
    "without": "features",
}
_WEAK = frozenset({"date", "period", "window", "title", "room", "on_behalf_of", "input_timezone"})
_MOST_WORDS_BESIDE = 12
_UNIT = re.compile(r"[\u4e00-\u9fff]|[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Heard:
    """One message with everything that was read from it."""

    folded: str
    facts: Facts
    slots: Mapping[str, Found]
    problems: tuple[Problem, ...]
    draft: DraftView
    lexicon: Lexicon

    @property
    def words(self) -> str:
        """What no grammar explained."""
        return self.facts.rest


@dataclass(frozen=True, slots=True)
class Act:
    name: str
    selection: Selection | None = None
    ref: BookingRef | None = None
    wants: str = ""


_Rule = Callable[[Heard], Act | None]


def decide(heard: Heard) -> Act:
    """The act of one message: the first rule that applies, in the order of the state."""
    for rule in _WITH_DRAFT if heard.draft.is_open else _WITHOUT_DRAFT:
        if (act := rule(heard)) is not None:
            return act
    return Act("out_of_domain", wants=_wants(heard))


def _wants(heard: Heard) -> str:
    for name, pattern in (
        ("greeting", cues.GREETING),
        ("thanks", cues.THANKS),
        ("help", cues.HELP),
    ):
        if pattern.search(heard.folded.strip()):
            return name
    return "" if cues.OFF_TOPIC.search(heard.folded) else "unclear"


def _restart(heard: Heard) -> Act | None:
    return Act("restart") if cues.RESTART.search(heard.words) else None


def _resume(heard: Heard) -> Act | None:
    return Act("resume") if cues.RESUME.search(heard.folded.strip()) else None


def _check_in(heard: Heard) -> Act | None:
    if not cues.CHECK_IN.search(heard.words):
        return None
    return Act("check_in", ref=ref_of(heard))


def ref_of(heard: Heard) -> BookingRef:
    last = heard.draft.phase == "BOOKED"
    return reference.find(heard.folded, heard.facts, heard.slots, heard.lexicon, last=last)


def _question(heard: Heard) -> Act | None:
    """Questions about one's bookings, about a room, about what is free."""
    words = heard.words
    if heard.facts.same_room is not None or not cues.QUESTION.search(words):
        return None
    room = "room" in heard.slots
    if cues.WHY_NOT.search(words) and (room or heard.draft.is_open):
        return Act("query_room", wants="why")
    if cues.MINE_ASKED.search(words) and cues.LIST.search(words) and not _changes(heard):
        return Act("query_mine")
    if room and cues.WHO.search(words):
        return Act("query_room")
    if (
        room
        and "features" in heard.slots
        and cues.HAS_THING.search(words)
        and not _asks_for_room(heard)
    ):
        return Act("query_room", wants="features")
    if not cues.FREE.search(words) or (_asks_for_room(heard) and not room):
        return None
    timed = "start_time" in heard.slots and heard.slots["start_time"].rule != "start.now"
    return Act("query_availability" if timed or not room else "query_room")


def _changes(heard: Heard) -> bool:
    return bool(cues.CANCEL.search(heard.words) or cues.MODIFY.search(heard.words))


def _asks_for_room(heard: Heard) -> bool:
    return bool(_BOOK_VERB.search(heard.words))


_BOOK_VERB = re.compile(
    r"订(?!了|单|吗|的)|预[订定约](?!了|的|单|吗)|约(?:个|一|间)|找(?:个|一|间)|借(?:个|一|间)|要(?:个|一个|一?间)|来(?:个|一?间)|安排"
    r"|(?<![a-z])(?:book|reserve|need|looking for|get me|grab|arrange|set up|schedule)(?![a-z])"
)


def _names_a_booking(heard: Heard) -> bool:
    """Whether the words say which stored booking: by title, number, person, or whose and when."""
    ref = ref_of(heard)
    if ref.title or ref.owner or ref.everyone or reference.number_of(heard.folded):
        return True
    when = any(key in heard.slots for key in ("date", "start_time", "room"))
    return when and bool(cues.BOOKING_NOUN.search(heard.folded))


def _cancel_named(heard: Heard) -> Act | None:
    if cues.CANCEL.search(heard.words) and "without" not in heard.slots and _names_a_booking(heard):
        return Act("cancel_booking", ref=ref_of(heard))
    return None


def _modify_named(heard: Heard) -> Act | None:
    if not cues.MODIFY.search(heard.words) or heard.facts.same_room is not None:
        return None
    ref = ref_of(heard)
    mine = cues.MINE.search(heard.words) and cues.BOOKING_NOUN.search(heard.words)
    if ref.title or mine or reference.number_of(heard.folded):
        return Act("modify_booking")
    return None


def _cancel_flow(heard: Heard) -> Act | None:
    strong = cues.CANCEL.search(heard.words) and "without" not in heard.slots
    weak = cues.CANCEL_WEAK.search(heard.words) and not _touched(heard)
    return Act("cancel_flow") if strong or weak else None


def _cancel_stored(heard: Heard) -> Act | None:
    if cues.CANCEL.search(heard.words):
        return Act("cancel_booking", ref=ref_of(heard))
    if cues.CANCEL_WEAK.search(heard.words) and not _touched(heard):
        return Act("cancel_flow")
    return None


def _modify_stored(heard: Heard) -> Act | None:
    if not cues.MODIFY.search(heard.words) or heard.facts.same_room is not None:
        return None
    noun = cues.BOOKING_NOUN.search(heard.words) or ref_of(heard).title
    if _asks_for_room(heard) and not noun:
        return None
    return Act("modify_booking")


def correct_booked(heard: Heard) -> Act | None:
    """Words that take back what was just booked are about that booking: actually, make it 3."""
    if heard.draft.phase != "BOOKED" or not heard.slots or _asks_for_room(heard):
        return None
    if not cues.CORRECTION.search(heard.words):
        return None
    return Act("modify_booking", ref=BookingRef(last=True))


def _only(pattern: re.Pattern[str], words: str) -> bool:
    """Whether the words are nothing but such words and politeness."""
    if not pattern.search(words):
        return False
    return not cues.CONFIRM_FILLER.sub("", pattern.sub(" ", words)).strip()


def _confirm(heard: Heard) -> Act | None:
    if cues.GREETING.search(heard.words.strip()) or cues.THANKS.search(heard.words.strip()):
        return None
    yes = _only(cues.CONFIRM, heard.words)
    if heard.draft.phase == "CONFIRMING":
        yes = yes or _only(cues.THIS_ONE, heard.words) or _yes_with_the_same(heard)
    if not yes:
        return None
    cards = heard.draft.candidates
    if heard.draft.phase == "AWAITING_SELECTION" and len(cards) == 1:
        card = cards[0]
        chosen = Selection(
            card.room, 0, card.start_time, (card.room,), (0, len(heard.folded)), "select.only"
        )
        return Act("select", selection=chosen)
    return Act("confirm")


def _yes_with_the_same(heard: Heard) -> bool:
    """Yes, A301 at 10: a yes that repeats what the confirmation says."""
    room = heard.slots.get("room")
    other_room = room is not None and room.value not in {
        heard.draft.selected,
        heard.draft.get("room"),
    }
    new, changed = difference(heard.slots, heard.problems, heard.draft)
    if changed or (new - {"room", "title"}) or other_room:
        return False
    return _only(cues.CONFIRM, heard.words.replace(MASK, " "))


def _decline(heard: Heard) -> Act | None:
    return Act("decline") if cues.DECLINE.match(heard.words.strip(" ,.。!?")) else None


def _select(heard: Heard) -> Act | None:
    slots = dict(heard.slots)
    chosen = selection.find(heard.folded, heard.facts, slots, heard.draft.candidates)
    if chosen is None:
        return None
    used = {"room"}
    if chosen.rule == "select.description":
        used |= {"features", "building", "floor", "start_time"}
    if chosen.rule == "select.number":
        used |= set(heard.slots)
    if chosen.start_time is not None:
        used |= {"start_time"}
    rest = {key: found for key, found in heard.slots.items() if key not in used}
    problems = () if chosen.rule == "select.number" else heard.problems
    new, changed = difference(rest, problems, heard.draft)
    return Act("select", selection=chosen) if not new and not changed else None


def _another(heard: Heard) -> Act | None:
    return Act("new_request") if cues.ANOTHER.search(heard.words) else None


def fill(heard: Heard) -> Act | None:
    """provide_slots, correction or supplement; None when nothing was said about the draft."""
    new, changed = difference(heard.slots, heard.problems, heard.draft)
    if changed:
        return Act("correction")
    asked = {_ANSWERS.get(slot, slot) for slot in new} & set(heard.draft.missing)
    if asked:
        return Act("provide_slots")
    if new:
        return Act("supplement")
    if any(found.rule != "date.today" for found in heard.slots.values()):
        return Act("correction" if cues.CORRECTION.search(heard.words) else "supplement")
    return None


def _off_topic(heard: Heard) -> Act | None:
    """Other work than rooms: no room word, or one only in passing (a poem about rooms)."""
    if not cues.OFF_TOPIC.search(heard.words):
        return None
    in_passing = not heard.slots and not _asks_for_room(heard)
    if in_passing or not cues.ROOM_TOPIC.search(heard.words):
        return Act("out_of_domain")
    return None


def _touched(heard: Heard) -> bool:
    new, changed = difference(heard.slots, heard.problems, heard.draft)
    return bool(new or changed)


def difference(
    slots: Mapping[str, Found], problems: tuple[Problem, ...], draft: DraftView
) -> tuple[set[str], set[str]]:
    """The slots that a message fills anew, and the filled ones that it changes."""
    new: set[str] = set()
    changed: set[str] = set()
    for slot, found in slots.items():
        verdict = _verdict(slot, found, draft)
        if verdict is not None:
            (changed if verdict else new).add(_CHANGES.get(slot, slot))
    for problem in problems:
        if problem.slot:
            (changed if draft.get(problem.slot) is not None else new).add(problem.slot)
    return new, changed


def _verdict(slot: str, found: Found, draft: DraftView) -> bool | None:
    """True changed, False new, None neither."""
    if found.rule in {"date.today", "title.kind"} or slot == "period":
        return None
    if slot in _CHANGES:
        return True
    held = draft.get(slot)
    if slot == "end_time":
        return _end_verdict(found, draft)
    if slot == "window":
        return _window_verdict(found, draft)
    if slot == "features":
        return None if set(found.value) <= set(held or ()) else False
    if held is None:
        return None if found.value is None else False
    if held == found.value:
        return None
    untold = (
        slot in draft.assumed and not draft.missing and draft.phase in {"IDLE", "COLLECTING_SLOTS"}
    )
    return not untold


def _end_verdict(found: Found, draft: DraftView) -> bool | None:
    start, length = draft.get("start_time"), draft.get("duration_minutes")
    if start is None or length is None:
        return False
    end = (int(start[:2]) * 60 + int(start[3:]) + length) % 1440
    return None if found.value == f"{end // 60:02d}:{end % 60:02d}" else True


def _window_verdict(found: Found, draft: DraftView) -> bool | None:
    start = draft.get("start_time")
    if start is not None:
        return None if found.value[0] <= start <= found.value[1] else True
    return None if draft.get("window") == found.value else draft.get("window") is not None


def _new_request(heard: Heard) -> Act | None:
    """A wish for a room; a day alone is one only when little else was said."""
    strong = set(heard.slots) - _WEAK or {p.slot for p in heard.problems if p.slot} - {"date"}
    beside = len(_UNIT.findall(cues.FILLER.sub(" ", heard.words.replace(MASK, " "))))
    anything = bool(heard.slots or any(p.slot for p in heard.problems))
    if cues.ASK_FOR_ROOM.search(heard.words) and (anything or cues.ROOM_TOPIC.search(heard.words)):
        return Act("new_request")
    if strong and beside <= _MOST_WORDS_BESIDE:
        return Act("new_request")
    if anything and beside <= 2:
        return Act("new_request")
    if cues.ROOM_TOPIC.search(heard.words) and beside <= _MOST_WORDS_BESIDE:
        return Act("new_request")
    return None


_WITH_DRAFT: tuple[_Rule, ...] = (
    _restart,
    _check_in,
    _question,
    _cancel_named,
    _modify_named,
    _another,
    _cancel_flow,
    _confirm,
    _off_topic,
    _select,
    fill,
    _decline,
    _resume,
)
_WITHOUT_DRAFT: tuple[_Rule, ...] = (
    _restart,
    _check_in,
    _question,
    _cancel_stored,
    _modify_stored,
    _another,
    correct_booked,
    _confirm,
    _decline,
    _resume,
    _off_topic,
    _new_request,
)
