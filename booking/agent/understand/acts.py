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
from collections.abc import Callable

from booking.agent.understand import cues, selection, stored
from booking.agent.understand.differences import difference, touched
from booking.agent.understand.heard import Act, Heard, asks_for_room, ref_of
from booking.agent.understand.inquiries import question
from booking.agent.understand.normalise import MASK
from booking.agent.understand.types import Selection

SPEAKING = frozenset({"new_request", "provide_slots", "correction", "supplement", "restart"})
ANSWERS = {"window": "start_time", "end_time": "duration_minutes"}
_WEAK = frozenset({"date", "period", "window", "title", "room", "on_behalf_of", "input_timezone"})
_MOST_WORDS_BESIDE = 12
_UNIT = re.compile(r"[\u4e00-\u9fff]|[a-z]+|\d+")


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


def _scope_answer(heard: Heard) -> Act | None:
    """How much of the series that is asked about, in whatever words."""
    return (
        Act("provide_slots") if "scope" in heard.slots and "scope" in heard.draft.missing else None
    )


def _resume(heard: Heard) -> Act | None:
    return Act("resume") if cues.RESUME.search(heard.folded.strip()) else None


def _check_in(heard: Heard) -> Act | None:
    if not cues.CHECK_IN.search(heard.words):
        return None
    return Act("check_in", ref=ref_of(heard))


def _cancel_flow(heard: Heard) -> Act | None:
    strong = cues.CANCEL.search(heard.words) and "without" not in heard.slots
    weak = cues.CANCEL_WEAK.search(heard.words) and not touched(heard)
    return Act("cancel_flow") if strong or weak else None


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
    asked = {ANSWERS.get(slot, slot) for slot in new} & set(heard.draft.missing)
    if asked:
        return Act("provide_slots")
    if new:
        return Act("supplement")
    if any(found.rule != "date.today" for found in heard.slots.values()):
        return Act("correction" if cues.CORRECTION.search(heard.words) else "supplement")
    return None


def _off_topic(heard: Heard) -> Act | None:
    """Other work than rooms: no room word, or one only in passing (a poem about rooms)."""
    if cues.OTHER_GOODS.search(heard.words) and not cues.ROOM_NOUN.search(heard.words):
        return Act("out_of_domain")
    if not cues.OFF_TOPIC.search(heard.words):
        return None
    in_passing = not heard.slots and not asks_for_room(heard)
    if in_passing or not cues.ROOM_TOPIC.search(heard.words):
        return Act("out_of_domain")
    return None


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
    _scope_answer,
    _check_in,
    question,
    stored.cancel_named,
    stored.modify_named,
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
    question,
    stored.cancel_stored,
    stored.modify_stored,
    _another,
    stored.correct_booked,
    _confirm,
    _decline,
    _resume,
    _off_topic,
    _new_request,
)
