"""`manage.py evaluate_agent`: how well people are understood, by conversations with known outcomes."""

import asyncio
import json
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from booking.evaluation import report
from booking.evaluation.cases import BadCase, Case, load

PLANNERS = ("rules", "llm")
BEGIN, END = "<!-- scores -->", "<!-- end of scores -->"
FAILED, UNUSABLE, GRAVE = 1, 2, 3
OWN_CASES = Path(__file__).parents[2] / "tests" / "cases" / "conversations.jsonl"


class Command(BaseCommand):
    help = (
        "Play conversations over the real socket in a scratch database and judge what came of them."
        " Exit code 0: all pass; 1: more than --allow fail; 2: it could not be done; 3: something"
        " was written that should not have been, or told to whom it is not for."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--planner", default="", help="in place of ROOMWISE_PLANNER")
        parser.add_argument(
            "--cases", nargs="+", type=Path, default=[OWN_CASES], metavar="FILE",
            help="files of cases (default: the project's own)",
        )  # fmt: skip
        parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="these cases only")
        parser.add_argument("--json", type=Path, metavar="OUT", help="write the results here")
        parser.add_argument("--compare", type=Path, metavar="OLD", help="an earlier --json")
        parser.add_argument(
            "--into", type=Path, metavar="PAGE", help="replace the scores in this page"
        )
        parser.add_argument("--allow", type=int, default=0, help="how many may fail")

    def handle(self, *args: Any, **options: Any) -> None:
        old = _earlier(options["compare"])
        cases = _chosen(options["cases"], set(options["only"]))
        with _planner(options["planner"]) as planner:
            results = self.played(cases)
        found = report.as_json(results, planner=planner)
        if options["json"]:
            _write(options["json"], found)
        self.tell(results, found)
        if options["into"]:
            _replace_scores(options["into"], report.tables(results, found))
        if old is not None:
            self.stdout.write(f"\n{_compared(old, found)}")
        failed = found["total"] - found["passed"]
        if found["grave"]:
            raise CommandError(
                f"wrong writes or leaks in {', '.join(found['grave'])}", returncode=GRAVE
            )
        if failed > options["allow"]:
            raise CommandError(f"{failed} of {found['total']} cases fail", returncode=FAILED)

    def played(self, cases: list[tuple[str, Case]]) -> list[report.Result]:
        """Every case's result, in their order."""
        from booking.evaluation.running import run
        from booking.evaluation.scratch import NoScratch, scratch_database

        try:
            with scratch_database():
                return asyncio.run(run(cases))
        except (NoScratch, BadCase) as error:
            raise CommandError(str(error), returncode=UNUSABLE) from error

    def tell(self, results: list[report.Result], found: dict[str, Any]) -> None:
        if wrong := report.failures(results):
            self.stdout.write(f"{wrong}\n")
        self.stdout.write(report.tables(results, found))
        unread = [f"{each.id}: {rule}" for each in results for rule in each.unread]
        if unread:
            self.stdout.write("\nProhibitions no rule reads; look at them yourself:")
            self.stdout.write("\n".join(unread))


def _chosen(files: list[Path], only: set[str]) -> list[tuple[str, Case]]:
    try:
        found = [(file.name, case) for file in files for case in load(file)]
    except BadCase as error:
        raise CommandError(str(error), returncode=UNUSABLE) from error
    chosen = [(name, case) for name, case in found if not only or case.id in only]
    if missing := only - {case.id for _, case in chosen}:
        raise CommandError(f"no case {', '.join(sorted(missing))}", returncode=UNUSABLE)
    if not chosen:
        raise CommandError("there are no cases", returncode=UNUSABLE)
    return chosen


def _earlier(file: Path | None) -> dict[str, Any] | None:
    if file is None:
        return None
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        report.compared(found, found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"{file} is no earlier result: {error}", returncode=UNUSABLE) from error
    return dict(found)


def _compared(old: dict[str, Any], new: dict[str, Any]) -> str:
    return "Since then:\n" + report.compared(old, new)


def _replace_scores(page: Path, tables: str) -> None:
    try:
        head, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        _, end, tail = rest.partition(END)
        if not end:
            raise CommandError(f"{page} has no scores to replace", returncode=UNUSABLE)
        page.write_text(f"{head}{begin}\n\n{tables}\n\n{end}{tail}", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{page} cannot be written: {error}", returncode=UNUSABLE) from error


def _write(file: Path, found: dict[str, Any]) -> None:
    text = json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True, default=str)
    try:
        file.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error}", returncode=UNUSABLE) from error


@contextmanager
def _planner(name: str) -> Iterator[str]:
    """Plan by `name` inside; the configured planner for none."""
    own = settings.ROOMWISE
    chosen = name or own["planner"]
    if chosen not in PLANNERS:
        raise CommandError(
            f"there is no planner {chosen}: {', '.join(PLANNERS)}", returncode=UNUSABLE
        )
    if chosen == "llm" and not own["model"]["name"]:
        raise CommandError("the planner llm needs ROOMWISE_MODEL", returncode=UNUSABLE)
    settings.ROOMWISE = {**own, "planner": chosen}
    try:
        yield chosen
    finally:
        settings.ROOMWISE = own
