"""`manage.py verify_export`: is an export what it says it is? Needs no database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit import export


class Command(BaseCommand):
    help = "Check an exported thread against its manifest; fails when anything was changed."
    requires_system_checks: Any = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            with file.open("rb") as opened:
                found = export.verify(opened)
        except (OSError, export.Tampered) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{found.thread}: {found.files} files, as exported\nseal {found.seal}")
