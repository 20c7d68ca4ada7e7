"""`manage.py run_chores`: what is due, once; for a timer where no server runs."""

from typing import Any

from django.core.management.base import BaseCommand

from booking import chores


class Command(BaseCommand):
    help = "Release unused rooms, expire undecided requests and send the mail that waits, once."

    def handle(self, *args: Any, **options: Any) -> None:
        for name, count in chores.run().items():
            self.stdout.write(f"{count} {name}")
