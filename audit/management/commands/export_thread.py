"""`manage.py export_thread`: one thread as evidence, in one zip."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agentruntime.models import Thread
from audit import services
from audit.exceptions import AuditError


class Command(BaseCommand):
    help = "Export a thread: messages, checkpoints, diffs, effects, bookings, operations, hashes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("thread")
        parser.add_argument("--to", type=Path, help="file to write; <thread>.zip without")
        parser.add_argument("--reason", required=True, help="kept in the operations")

    def handle(self, *args: Any, thread: str, to: Path | None, reason: str, **options: Any) -> None:
        found = Thread.objects.filter(pk=thread).first()
        if found is None:
            raise CommandError(f"there is no thread {thread}")
        path = to or Path(f"{thread}.zip")
        if path.exists():
            raise CommandError(f"{path} is there already")
        try:
            with path.open("xb") as file:
                seal = services.export(found, file, by=None, reason=reason)
        except AuditError as error:
            path.unlink(missing_ok=True)
            raise CommandError(str(error)) from error
        self.stdout.write(f"{path}\nseal {seal}")
