"""The audit pages' words: pure functions from what was read to what is shown."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from agentruntime.agents import AgentSpec
from agentruntime.models import Message
from agentruntime.timetravel.diff import Change
from audit import codes

SHOWN = 300
CHANGES_SHOWN = 4
_MARKS = {"added": "+", "removed": "−", "changed": "±"}
_SCALARS = (str, int, float)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class ShownChange:
    """One change in words. mark: a sign for its kind, so that colour is not needed to tell."""

    kind: str
    mark: str
    kind_words: str
    pointer: str
    label: str
    before: str
    after: str


def spoken(language: str | None) -> str:
    """The agents' name of a page's language."""
    return "zh" if (language or "").startswith("zh") else "en"


def short(checkpoint: str) -> str:
    """A checkpoint's id as people can tell it apart: its time part."""
    return checkpoint[:13]


def node_words(spec: AgentSpec, nodes: Iterable[str], language: str) -> str:
    """Nodes by the words the agent has for them; by their names where it has none."""
    found = []
    for node in nodes:
        label, position, _steps = spec.step(node, language)
        found.append(label if position else _words(spec, node, language))
    return ", ".join(found)


def _words(spec: AgentSpec, key: str, language: str) -> str:
    return spec.words.get(key, {}).get(language, key)


def source_words(source: str) -> str:
    """How a checkpoint came about, when no node made it."""
    words = {
        "input": _("Something was said"),
        "loop": _("Began"),
        "update": _("State edited"),
        "fork": _("Forked"),
    }
    return words.get(source, source)


def kind_words(kind: str) -> str:
    """The kind of a change."""
    return {"added": _("added"), "removed": _("removed"), "changed": _("changed")}[kind]


def field_words(spec: AgentSpec, pointer: str, language: str) -> str:
    """Where a change is: a field by its label, anything else by its keys."""
    keys = [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]
    for each in spec.editable_fields:
        if each.path.split(".") == keys:
            return each.labels.get(language, each.path)
    dotted = ".".join(keys)
    if dotted in spec.words:
        return _words(spec, dotted, language)
    return " › ".join(keys) or _("state")


def slot_words(specs: Iterable[AgentSpec], slot: str, language: str) -> str:
    """A slot by the label of the first agent that has one for it."""
    for spec in specs:
        words = field_words(spec, f"/slots/{slot}", language)
        if words != f"slots › {slot}":
            return words
    return slot


def phase_words(specs: Iterable[AgentSpec], phase: str, language: str) -> str:
    """A phase by the words of the first agent that has some for it."""
    return _coded(specs, "phase", phase, language) or phase


def class_words(specs: Iterable[AgentSpec], classes: str, language: str) -> str:
    """What a message was taken to be: by the agent's words, else by the runtime's."""
    found = [
        _coded(specs, "class", each, language) or codes.class_words(each)
        for each in classes.split("+")
        if each
    ]
    return " + ".join(found)


def effect_words(specs: Iterable[AgentSpec], name: str, language: str) -> str:
    """An effect by the words of the first agent that has some for it."""
    return _coded(specs, "effect", name, language) or name


def _coded(specs: Iterable[AgentSpec], key: str, code: str, language: str) -> str:
    found = (each.words.get(f"{key}:{code}", {}).get(language, "") for each in specs)
    return next(filter(None, found), "")


def told(spec: AgentSpec, pointer: str, value: Any, language: str) -> str:
    """What stands at a place of the state: codes by the agent's words, instants as people write
    them, anything else as `value_words` has it.
    """
    key = pointer.rpartition("/")[2]
    if isinstance(value, str):
        return _coded([spec], key, value, language) or value_words(_instant(value))
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value_words([_coded([spec], key, each, language) or each for each in value])
    return value_words(value)


def _instant(text: str) -> str:
    """An ISO 8601 instant without its T, its zone named; any other text as it is."""
    if not _INSTANT.fullmatch(text):
        return text
    at = datetime.fromisoformat(text)
    return f"{at:%Y-%m-%d %H:%M} ({at.tzname()})"


def value_words(value: Any, *, limit: int = SHOWN) -> str:
    """A value on one line; a long one is cut, and says so."""
    if value is None:
        text = "–"
    elif isinstance(value, bool):
        text = _("yes") if value else _("no")
    elif isinstance(value, _SCALARS):
        text = str(value)
    elif isinstance(value, list) and all(isinstance(each, _SCALARS) for each in value):
        text = ", ".join(str(each) for each in value) or "–"
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}…"


def change_words(spec: AgentSpec, change: Change, language: str) -> ShownChange:
    """A change as a row of a table."""
    return ShownChange(
        kind=change.kind,
        mark=_MARKS[change.kind],
        kind_words=kind_words(change.kind),
        pointer=change.pointer or "/",
        label=field_words(spec, change.pointer, language),
        before=told(spec, change.pointer, change.before, language)
        if change.kind != "added"
        else "",
        after=told(spec, change.pointer, change.after, language)
        if change.kind != "removed"
        else "",
    )


def summary_words(spec: AgentSpec, changes: Sequence[Change], language: str) -> list[str]:
    """The first few changes of a described state, one line each."""
    shown = [change_words(spec, each, language) for each in changes if _is_told(each)]
    lines = [
        f"{each.label}: {each.after}" if each.kind != "removed" else f"{each.label}: –"
        for each in shown[:CHANGES_SHOWN]
    ]
    if len(shown) > CHANGES_SHOWN:
        lines.append(_("and %(count)d more") % {"count": len(shown) - CHANGES_SHOWN})
    return lines


def _is_told(change: Change) -> bool:
    """What people care about: not that a title was made of what is listed anyway."""
    return change.pointer != "/title"


def facts(spec: AgentSpec, described: Mapping[str, Any], language: str) -> list[tuple[str, str]]:
    """A described state as labels and values, one level deep; what is empty is left out."""
    rows: list[tuple[str, str]] = []
    for key, value in described.items():
        inner = value.items() if isinstance(value, Mapping) else [("", value)]
        for name, item in inner:
            if item not in (None, "", [], {}):
                pointer = f"/{key}/{name}" if name else f"/{key}"
                rows.append(
                    (field_words(spec, pointer, language), told(spec, pointer, item, language))
                )
    return rows


def pretty(value: Any) -> str:
    """JSON laid out, as text."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def short_thread(thread: str) -> str:
    """A thread's id as people can tell it apart: agent, owner, and the end of its UUID.

    The end is chance; the beginning is time and looks alike for threads of one day.
    """
    return f"{'-'.join(thread.split('-')[:2])}…{thread[-8:]}"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One answer an open question offers. value: what is handed to the agent."""

    words: str
    value: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Question:
    """An open question: its words, what a yes would do as rows, what may be chosen."""

    kind: str
    text: str
    rows: Sequence[tuple[str, str]] = ()
    choices: Sequence[Choice] = field(default_factory=list)


def question(asked: Message) -> Question:
    """A question's message as the sandbox asks it (kinds: docs/protocol.md)."""
    data = asked.data
    rows = [
        (str(row.get("label", "")), value_words(row.get("value")))
        for row in data.get("summary") or ()
        if isinstance(row, Mapping)
    ]
    return Question(kind=asked.kind, text=asked.text, rows=rows, choices=_choices(asked))


def _choices(asked: Message) -> list[Choice]:
    if asked.kind == "confirm":
        return [
            Choice(words=_("Yes"), value={"approved": True}),
            Choice(words=_("No"), value={"approved": False}),
        ]
    cards = [*(asked.data.get("candidates") or ()), *(asked.data.get("alternatives") or ())]
    found = []
    for card in cards:
        value = {"room": card["room"]}
        if card.get("starts_at"):
            value["starts_at"] = card["starts_at"]
        words = (card["room"], card.get("name"), card.get("reason"))
        found.append(Choice(words=" · ".join(str(each) for each in words if each), value=value))
    return found


def stopped_words(code: str) -> str:
    """Why a replay ended before its original did."""
    words = {
        "asks_otherwise": _(
            "It asks something else than the original did, so the original's answer fits no more."
        ),
        "failed": _("A step failed."),
    }
    return words.get(code, "")


def obstacle_words(code: str) -> str:
    """Why a fork can never go live."""
    words = {
        "no_original": _("Its original is gone, archived, or a fork itself."),
        "simulated": _(
            "It was answered something that was only simulated: as the live thread it would believe"
            " in a booking that does not exist."
        ),
    }
    return words.get(code, "")
