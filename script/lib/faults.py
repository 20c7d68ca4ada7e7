"""Run the tests that break things and print what they measured; arguments go to pytest."""

import os
import platform
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PATHS = [
    "tests/processes",
    "agentruntime/tests/test_orchestrator_model.py",
    "agentruntime/tests/test_renewal.py",
]
HEAD = ("fault", "promise", "measured")


class Table:
    """A pytest plugin that keeps the outcomes of each module and the figures its tests gave."""

    def __init__(self) -> None:
        self.about: dict[str, str] = {}
        self.outcomes: dict[str, Counter[str]] = {}
        self.figures: dict[str, list[tuple[str, str, str]]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            name = item.nodeid.partition("::")[0]
            words = (item.module.__doc__ or name).strip().splitlines()[0]
            self.about[name] = words.rstrip(".")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and not report.failed:
            return
        name = report.nodeid.partition("::")[0]
        self.outcomes.setdefault(name, Counter())[report.outcome] += 1
        found = [value for key, value in report.user_properties if key == "fault"]
        if type(report) is pytest.TestReport:  # a subtest repeats those of its test
            self.figures.setdefault(name, []).extend(found)

    def rows(self) -> list[tuple[str, str, str]]:
        rows = []
        for name, outcomes in sorted(self.outcomes.items()):
            passed, all_ = outcomes["passed"], outcomes.total()
            rows.append((self.about.get(name, name), "every case", f"{passed} of {all_} pass"))
            rows += [(f"· {fault}", *rest) for fault, *rest in self.figures.get(name, [])]
        return rows

    @property
    def total(self) -> Counter[str]:
        return sum(self.outcomes.values(), Counter())


def lines(rows: list[tuple[str, str, str]]) -> list[str]:
    """The rows as a Markdown table."""
    return [f"| {' | '.join(row)} |" for row in (HEAD, ("---",) * 3, *rows)]


def main(*arguments: str) -> int:
    sys.path.insert(0, str(ROOT))
    table, began = Table(), time.monotonic()
    chosen = [each for each in arguments if not each.startswith("-")] or PATHS
    options = [each for each in arguments if each.startswith("-")]
    code = int(pytest.main(["-q", *options, *chosen], plugins=[table]))
    took = time.monotonic() - began
    print("", *lines(table.rows()), "", sep="\n")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}.")
    total = table.total
    verdict = "every promise held" if code == 0 else "FAILED"
    print(f"script/faults: {total['passed']} of {total.total()} cases in {took:.0f} s: {verdict}")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
