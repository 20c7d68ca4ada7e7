"""A state without what people wrote, for operators without the permission to read it. Pure.

Titles are collected wherever the state keeps one and masked wherever they stand, also inside the
sentences of a question; words that quote the person are masked as a whole.
"""

from collections.abc import Iterator, Mapping
from typing import Any

MASK = "•••"
_QUOTING = frozenset({"preface", "words", "unknown"})


def masked(state: Mapping[str, Any]) -> dict[str, Any]:
    """The channels without `said`, without titles, and without what repeats the person's words."""
    shown = {key: value for key, value in state.items() if key != "said"}
    titles = sorted(set(_titles(shown)), key=len, reverse=True)
    result: dict[str, Any] = _without(shown, titles)
    return result


def _titles(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _own_titles(value)
        for each in value.values():
            yield from _titles(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _titles(each)


def _own_titles(value: Mapping[str, Any]) -> Iterator[str]:
    """A title under its own key, in a row of a summary, on the card of an own booking."""
    found = [value.get("title")]
    if value.get("slot") == "title":
        found.append(value.get("value"))
    if value.get("kind") == "own_booking":
        found.append(value.get("name"))
    yield from (each for each in found if isinstance(each, str) and each)


def _without(value: Any, titles: list[str]) -> Any:
    if isinstance(value, Mapping):
        return {
            key: MASK if key in _QUOTING and each else _without(each, titles)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_without(each, titles) for each in value]
    if isinstance(value, str):
        for title in titles:
            value = value.replace(title, MASK)
    return value
