"""`manage.py prune_threads`: delete whole threads nobody touched for long."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from audit import retention
from audit.durations import duration


class Command(BaseCommand):
    help = (
        "Delete whole threads: messages, states, runs. What a thread did outside stays, with its"
        " bookings, under an empty archived thread. Pinned and running threads are left alone."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--older-than", type=duration, required=True, help="as in 365d")
        parser.add_argument("--agent", default="", help="threads of this agent only")
        parser.add_argument("--forks", action="store_true", help="only administrators' forks")
        parser.add_argument("--dry-run", action="store_true", help="count, delete nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        threads = retention.old_threads(
            before=timezone.now() - options["older_than"],
            agent=options["agent"],
            only_forks=options["forks"],
        )
        removal = retention.prune_threads(
            threads, by=None, reason="prune_threads", dry=options["dry_run"]
        )
        for outcome, count in sorted(removal.outcomes.items()):
            self.stdout.write(f"{outcome}: {count}")
        if not removal.outcomes:
            self.stdout.write("No thread is that old.")
