"""`manage.py prune_checkpoints`: delete checkpoints nobody needs any more; --dry-run tells which."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from agentruntime.models import Thread
from agentruntime.persistence.pruning import Tally
from agentruntime.timetravel.retention import BATCH, Pruned
from audit import retention
from audit.durations import duration


class Command(BaseCommand):
    help = (
        "Delete old checkpoints. Kept always: heads and tips of branches, open questions, pinned"
        " turns, what effects and forks point to, and threads that are running."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--keep-last", type=int, default=50, help="newest of a thread to keep")
        parser.add_argument("--older-than", type=duration, help="only older ones, as in 30d")
        parser.add_argument("--agent", default="", help="threads of this agent only")
        parser.add_argument("--thread", default="", help="this thread only")
        parser.add_argument("--max-seconds", type=float, help="stop after this long")
        parser.add_argument("--batch", type=int, default=BATCH, help="checkpoints a transaction")
        parser.add_argument("--dry-run", action="store_true", help="show the plan, delete nothing")
        parser.add_argument(
            "--verify", action="store_true", help="prove that kept states read back"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["keep_last"] < 0 or options["batch"] < 1:
            raise CommandError("--keep-last takes 0 or more, --batch 1 or more")
        thread = options["thread"]
        if thread and not Thread.objects.filter(pk=thread).exists():
            raise CommandError(f"there is no thread {thread}")
        older = options["older_than"]
        wish = retention.Wish(
            keep_last=options["keep_last"],
            before=timezone.now() - older if older is not None else None,
            agent=options["agent"],
            thread=thread,
        )
        self.is_json = options["json"]
        report = retention.prune(
            wish,
            dry=options["dry_run"],
            max_seconds=options["max_seconds"],
            batch=options["batch"],
            verify=options["verify"],
            told=self.tell,
        )
        if not options["dry_run"]:
            retention.recorded(report, wish, by=None, reason="prune_checkpoints")
        self.sum_up(report, dry=options["dry_run"])
        if report.failed:
            raise CommandError(f"kept states differ in {', '.join(report.failed)}")

    def tell(self, pruned: Pruned) -> None:
        """One thread's plan, the same for a dry run and a real one."""
        if pruned.planned == Tally() and not pruned.skipped:
            return
        if self.is_json:
            plan = retention.tally_json(pruned.planned)
            line = {"thread": pruned.thread, "planned": plan, "skipped": pruned.skipped}
            self.stdout.write(json.dumps(line))
            return
        words = f"skipped: {pruned.skipped}" if pruned.skipped else _words(pruned.planned)
        self.stdout.write(f"{pruned.thread}  {words}")

    def sum_up(self, report: retention.Report, *, dry: bool) -> None:
        """The totals."""
        if self.is_json:
            self.stdout.write(json.dumps(report.as_json()))
            return
        self.stdout.write(f"Plan: {report.threads} threads, {_words(report.planned)}")
        if dry:
            return
        self.stdout.write(f"Deleted: {_words(report.gone)} in {report.seconds:.1f} s")
        if not report.finished:
            self.stdout.write("Not finished: run it again to go on.")


def _words(tally: Tally) -> str:
    return (
        f"{tally.checkpoints} checkpoints, {tally.blobs} blobs, {tally.writes} writes,"
        f" {tally.bytes / 1024:.0f} KiB"
    )
