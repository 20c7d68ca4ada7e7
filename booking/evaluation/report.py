"""Scores of played cases: tables, the confusion matrix, JSON, and what changed since. Pure.

The same results give the same text, byte for byte: nothing here has a clock.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from booking.evaluation.judging import Fault

NOTHING = "-"
_Row = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Result:
    """One case: whose file, what is wrong with it, and each turn's `(wanted, got)` class."""

    id: str
    file: str
    lang: str
    family: str
    faults: Sequence[Fault] = ()
    classes: Sequence[tuple[str, str]] = ()
    unread: Sequence[str] = field(default_factory=tuple)

    @property
    def has_passed(self) -> bool:
        return not self.faults

    @property
    def is_grave(self) -> bool:
        return any(fault.grave for fault in self.faults)


def pairs(wanted: Sequence[str], got: Sequence[str]) -> list[tuple[str, str]]:
    """Each turn's class as it should be and as it was; a dash where there is none."""
    return [(a or NOTHING, b or NOTHING) for a, b in zip_longest(wanted, got)]


def as_json(results: Iterable[Result], *, planner: str) -> dict[str, Any]:
    """Everything a later run can be compared with, as plain values."""
    found = list(results)
    return {
        "planner": planner,
        "passed": sum(each.has_passed for each in found),
        "total": len(found),
        "grave": [each.id for each in found if each.is_grave],
        "families": {
            family: {"passed": sum(each.has_passed for each in some), "total": len(some)}
            for family, some in _grouped(found, "family").items()
        },
        "languages": {
            lang: {"passed": sum(each.has_passed for each in some), "total": len(some)}
            for lang, some in _grouped(found, "lang").items()
        },
        "confusion": [
            {"wanted": wanted, "got": got, "count": count}
            for (wanted, got), count in sorted(_confusion(found).items())
        ],
        "cases": [
            {
                "id": each.id,
                "file": each.file,
                "lang": each.lang,
                "family": each.family,
                "passed": each.has_passed,
                "faults": [
                    {"check": f.check, "wanted": f.wanted, "got": f.got, "grave": f.grave}
                    for f in each.faults
                ],
            }
            for each in found
        ],
    }


def _grouped(results: Iterable[Result], name: str) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = {}
    for each in sorted(results, key=lambda result: str(getattr(result, name))):
        groups.setdefault(str(getattr(each, name)), []).append(each)
    return groups


def _confusion(results: Iterable[Result]) -> Counter[tuple[str, str]]:
    return Counter(pair for each in results for pair in each.classes)


def scores(results: Sequence[Result]) -> str:
    """Passed of all, by family and language, as a Markdown table."""
    langs = list(_grouped(results, "lang"))
    rows = [
        (family, *(_share([r for r in some if r.lang == lang]) for lang in langs), _share(some))
        for family, some in _grouped(results, "family").items()
    ]
    total = ("all", *(_share([r for r in results if r.lang == lang]) for lang in langs))
    return _table(("family", *langs, "all"), [*rows, (*total, _share(results))])


def _share(results: Sequence[Result]) -> str:
    if not results:
        return ""
    return f"{sum(each.has_passed for each in results)}/{len(results)}"


def confusion(results: Sequence[Result]) -> str:
    """Turns by what they should be taken to be (rows) and were (columns), as a Markdown table."""
    counts = _confusion(results)
    labels = sorted({label for pair in counts for label in pair})
    numbers = [str(number) for number, _ in enumerate(labels, start=1)]
    rows = [
        (number, wanted, *(str(counts[wanted, got] or "") for got in labels))
        for number, wanted in zip(numbers, labels, strict=True)
        if any(counts[wanted, got] for got in labels)
    ]
    return _table(("", "should be", *numbers), rows)


def tables(results: Sequence[Result], found: Mapping[str, Any]) -> str:
    """Both tables and the sum, as they are printed and stand in the documents."""
    total = f"{found['passed']} of {found['total']} cases pass (planner: {found['planner']})."
    return f"{scores(results)}\n\n{confusion(results)}\n\n{total}"


def failures(results: Iterable[Result]) -> str:
    """What is wrong with each case that did not pass, the grave ones marked."""
    lines = []
    for each in results:
        if each.has_passed:
            continue
        lines.append(f"{each.id} ({each.family}, {each.lang})")
        lines += [f"  {'WRONG WRITE OR LEAK ' * f.grave}{f}" for f in each.faults]
    return "\n".join(lines)


def compared(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """What changed since an earlier run's JSON, a line each; raises KeyError, TypeError on another's."""
    before = {case["id"]: case for case in old["cases"]}
    after = {case["id"]: case for case in new["cases"]}
    lines = [
        f"{old['passed']}/{old['total']} ({old['planner']}) -> "
        f"{new['passed']}/{new['total']} ({new['planner']})"
    ]
    for name in sorted(before.keys() | after.keys()):
        change = _change(before.get(name), after.get(name))
        if change:
            lines.append(f"{name}: {change}")
    return "\n".join(lines)


def _change(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str:
    if old is None:
        return "is new, passes" if new and new["passed"] else "is new, fails"
    if new is None:
        return "is gone"
    if old["passed"] != new["passed"]:
        return "passes now" if new["passed"] else f"fails now: {_checks(new)}"
    if old["faults"] != new["faults"]:
        return f"still fails, otherwise: {_checks(old)} -> {_checks(new)}"
    return ""


def _checks(case: Mapping[str, Any]) -> str:
    return ", ".join(fault["check"] for fault in case["faults"])


def _table(head: _Row, rows: Sequence[_Row]) -> str:
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in (head, *rows)
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
