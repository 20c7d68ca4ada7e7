"""`manage.py check_orphans`: rows of checkpoints that belong to nothing, by kind."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agentruntime.persistence import pruning


class Command(BaseCommand):
    help = "Count checkpoint rows that belong to nothing; fails when there are any."

    def handle(self, *args: Any, **options: Any) -> None:
        found = pruning.orphans()
        for name, count in found.items():
            self.stdout.write(f"{name}: {count}")
        if any(found.values()):
            raise CommandError("There are orphans; prune_checkpoints removes those of threads.")
