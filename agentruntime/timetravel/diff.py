"""What differs between two states: pure. Plain JSON in, changes with JSON pointers out (RFC 6901)."""

import json
from collections.abc import Iterator, Mapping, Sequence
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
    changes: list[Change] = []
    same: list[tuple[str, Any]] = []
    for found in _walk(before, after, ""):
        if isinstance(found, Change):
            changes.append(found)
        else:
            same.append(found)
    return Comparison(changes=changes, same=same)


def without(value: Any, keys: frozenset[str]) -> Any:
    """A value without these keys, however deep."""
    if isinstance(value, Mapping):
        return {key: without(item, keys) for key, item in value.items() if key not in keys}
    if isinstance(value, list | tuple):
        return [without(item, keys) for item in value]
    return value


Found = Change | tuple[str, Any]


def _walk(before: Any, after: Any, at: str) -> Iterator[Found]:
    if _equal(before, after):
        yield at, after
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _walk_keys(before, after, at)
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple):
        yield from _walk_items(before, after, at)
    else:
        yield Change(kind="changed", pointer=at, before=before, after=after)


def _equal(before: Any, after: Any) -> bool:
    """Equal as JSON: True is not 1."""
    if isinstance(before, bool) != isinstance(after, bool):
        return False
    if isinstance(before, Mapping | list | tuple):
        return before is after or (
            type(before) is type(after) and before == after and _text(before) == _text(after)
        )
    return bool(before == after)


def _walk_keys(before: Mapping[str, Any], after: Mapping[str, Any], at: str) -> Iterator[Found]:
    for key in [*before, *(key for key in after if key not in before)]:
        pointer = f"{at}/{_escaped(key)}"
        if key not in after:
            yield Change(kind="removed", pointer=pointer, before=before[key])
        elif key not in before:
            yield Change(kind="added", pointer=pointer, after=after[key])
        else:
            yield from _walk(before[key], after[key], pointer)


def _walk_items(before: Sequence[Any], after: Sequence[Any], at: str) -> Iterator[Found]:
    old, new = [_text(each) for each in before], [_text(each) for each in after]
    for tag, a, a_end, b, b_end in _blocks(old, new):
        shared = min(a_end - a, b_end - b)
        for offset in range(shared):
            pointer = f"{at}/{b + offset}"
            if tag == "equal":
                yield pointer, after[b + offset]
            else:
                yield from _walk(before[a + offset], after[b + offset], pointer)
        for index in range(a + shared, a_end):
            yield Change(kind="removed", pointer=f"{at}/{index}", before=before[index])
        for index in range(b + shared, b_end):
            yield Change(kind="added", pointer=f"{at}/{index}", after=after[index])


def _blocks(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    """Which items of one list are which of the other, as `SequenceMatcher` tells it."""
    if max(len(old), len(new)) > ALIGNED:
        return [("replace", 0, len(old), 0, len(new))]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [tuple(each) for each in matcher.get_opcodes()]  # type: ignore[misc]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
