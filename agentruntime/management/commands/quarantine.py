"""`manage.py quarantine`: what was set aside after it ended its workers, and what becomes of it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agentruntime.models import Thread
from agentruntime.operations import quarantine


class Command(BaseCommand):
    help = "List threads whose messages were set aside; --retry or --dismiss one of them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        chosen = parser.add_mutually_exclusive_group()
        chosen.add_argument("--retry", metavar="THREAD", help="have its messages read again")
        chosen.add_argument("--dismiss", metavar="THREAD", help="leave its messages aside")

    def handle(self, *args: Any, retry: str | None, dismiss: str | None, **options: Any) -> None:
        if retry is not None:
            try:
                count = quarantine.retry(retry)
            except Thread.DoesNotExist:
                raise CommandError(f"There is no thread {retry}.") from None
            self.stdout.write(f"{count} message(s) will be read again.")
        elif dismiss is not None:
            if not quarantine.dismiss(dismiss):
                raise CommandError(f"Nothing of thread {dismiss} is set aside.")
            self.stdout.write("Left aside.")
        else:
            self._list()

    def _list(self) -> None:
        threads = list(quarantine.waiting())
        for thread in threads:
            self.stdout.write(f"{thread.quarantined_at:%Y-%m-%d %H:%M}  {thread.pk}")
        self.stdout.write(f"{len(threads)} thread(s) in quarantine.")
