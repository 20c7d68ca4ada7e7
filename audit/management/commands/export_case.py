"""`manage.py export_case`: a real conversation as an evaluation case, masked."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agentruntime.models import Thread
from audit import services
from audit.exceptions import AuditError


class Command(BaseCommand):
    help = (
        "Write a conversation as one line for evaluate_agent --cases: names, titles and addresses"
        " are replaced, corrected labels count. What else people wrote stays: read it first."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("thread")
        parser.add_argument("--out", type=Path, metavar="FILE", help="add it to this file")
        parser.add_argument("--reason", required=True, help="kept in the operations")

    def handle(
        self, *args: Any, thread: str, out: Path | None, reason: str, **options: Any
    ) -> None:
        found = Thread.objects.filter(pk=thread).first()
        if found is None:
            raise CommandError(f"there is no thread {thread}")
        try:
            if out is None:
                self.stdout.write(_line(found, reason))
                return
            with out.open("a", encoding="utf-8") as file:
                file.write(f"{_line(found, reason)}\n")
        except AuditError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error}") from error


def _line(thread: Thread, reason: str) -> str:
    return json.dumps(services.export_case(thread, by=None, reason=reason), ensure_ascii=False)
