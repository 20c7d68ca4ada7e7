"""`manage.py erase_person`: delete what one person said, and every state it led to."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from audit import retention
from audit.exceptions import AuditError


class Command(BaseCommand):
    help = "Delete a person's messages and states, forks included; facts of their bookings stay."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--reason", required=True, help="kept in the operations")
        parser.add_argument("--dry-run", action="store_true", help="count, delete nothing")

    def handle(self, *args: Any, username: str, reason: str, **options: Any) -> None:
        user = get_user_model()._default_manager.filter(username=username).first()
        if user is None:
            raise CommandError(f"there is nobody called {username}")
        try:
            removal = retention.erase_person(user, by=None, reason=reason, dry=options["dry_run"])
        except AuditError as error:
            raise CommandError(str(error)) from error
        for outcome, count in sorted(removal.outcomes.items()):
            self.stdout.write(f"{outcome}: {count}")
        if not removal.outcomes:
            self.stdout.write("Nothing of theirs is left.")
        if removal.running:
            raise CommandError(f"running just now, run it again: {', '.join(removal.running)}")
