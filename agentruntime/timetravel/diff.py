"""What differs between two states: pure. Plain JSON in, changes with JSON pointers out (RFC 6901)."""

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

# Beyond this many items on a side that are not simply equal, lists are compared place by place.
ALIGNED = 400


@dataclass(frozen=True, kw_only=True)
class Change:
    """pointer: into the state that has the value (the new one for `added` and `changed`)."""

    kind: Literal["added", "removed", "changed"]
    pointer: str
    before: Any = None
    after: Any = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """changes: in the order of keys. same: the largest equal parts, by pointer."""

    changes: Sequence[Change]
    same: Sequence[tuple[str, Any]]


def compare(before: Any, after: Any) -> Comparison:
    """Everything that differs, and what does not."""
    walk = _Walk()
    walk.go(before, after, "", "")
    return Comparison(changes=walk.changes, same=walk.same)


def without(value: Any, keys: frozenset[str]) -> Any:
    """A value without these keys, however deep."""
    if isinstance(value, Mapping):
        return {key: without(item, keys) for key, item in value.items() if key not in keys}
    if isinstance(value, list | tuple):
        return [without(item, keys) for item in value]
    return value


class _Walk:
    """Collects as it goes: states are large, and generators within generators are slow.

    at, was: where the two values stand, in the new state and in the old one; an item of a list may
    stand elsewhere in each.
    """

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.same: list[tuple[str, Any]] = []

    def go(self, before: Any, after: Any, at: str, was: str) -> None:
        if _equal(before, after):
            self.same.append((at, after))
        elif isinstance(before, dict) and isinstance(after, dict):
            self._keys(before, after, at, was)
        elif isinstance(before, list | tuple) and isinstance(after, list | tuple):
            self._items(before, after, at, was)
        else:
            self.changes.append(Change(kind="changed", pointer=at, before=before, after=after))

    def _keys(self, before: Mapping[str, Any], after: Mapping[str, Any], at: str, was: str) -> None:
        for key, value in before.items():
            name = _escaped(key)
            if key in after:
                self.go(value, after[key], f"{at}/{name}", f"{was}/{name}")
            else:
                self.changes.append(Change(kind="removed", pointer=f"{was}/{name}", before=value))
        for key, value in after.items():
            if key not in before:
                pointer = f"{at}/{_escaped(key)}"
                self.changes.append(Change(kind="added", pointer=pointer, after=value))

    def _items(self, before: Sequence[Any], after: Sequence[Any], at: str, was: str) -> None:
        old, new = [_key(each) for each in before], [_key(each) for each in after]
        for tag, a, a_end, b, b_end in _blocks(old, new):
            shared = min(a_end - a, b_end - b)
            for offset in range(shared):
                if tag == "equal":
                    self.same.append((f"{at}/{b + offset}", after[b + offset]))
                else:
                    old_at, new_at = f"{was}/{a + offset}", f"{at}/{b + offset}"
                    self.go(before[a + offset], after[b + offset], new_at, old_at)
            for index in range(a + shared, a_end):
                found = Change(kind="removed", pointer=f"{was}/{index}", before=before[index])
                self.changes.append(found)
            for index in range(b + shared, b_end):
                found = Change(kind="added", pointer=f"{at}/{index}", after=after[index])
                self.changes.append(found)


def _equal(before: Any, after: Any) -> bool:
    """Equal as JSON: True is not 1."""
    if isinstance(before, dict | list | tuple):
        return before is after or (
            type(before) is type(after) and before == after and _text(before) == _text(after)
        )
    return bool(before == after) and isinstance(before, bool) == isinstance(after, bool)


def _key(item: Any) -> Hashable:
    """What makes two items of a list the same one."""
    if isinstance(item, dict | list | tuple):
        return _text(item)
    return (isinstance(item, bool), item)


def _blocks(
    old: Sequence[Hashable], new: Sequence[Hashable]
) -> list[tuple[str, int, int, int, int]]:
    """Which items of one list are which of the other, as `SequenceMatcher` tells it."""
    if max(len(old), len(new)) > ALIGNED:
        return [("replace", 0, len(old), 0, len(new))]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [tuple(each) for each in matcher.get_opcodes()]  # type: ignore[misc]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
