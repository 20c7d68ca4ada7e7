"""`manage.py take_calendar USER`: a calendar message on standard input, as a mail server pipes it."""

import sys
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from booking.calendar import intake
from booking.exceptions import BookingError


class Command(BaseCommand):
    help = "Book, change or cancel what an iTIP message on standard input asks, as that user."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="Who brings it: user name or mail address.")
        parser.add_argument("--headcount", type=int, default=intake.DEFAULT_HEADCOUNT)

    def handle(self, *args: Any, **options: Any) -> None:
        people = get_user_model()._default_manager.filter(is_active=True)
        name = options["user"]
        found = list(people.filter(username=name) or people.filter(email__iexact=name))
        if len(found) != 1:
            raise CommandError(f"There is not one user {name}.")
        content = sys.stdin.buffer.read(intake.MAX_BYTES + 1)
        try:
            taken = intake.take(
                content, person=found[0], headcount=options["headcount"], now=timezone.now()
            )
        except BookingError as error:
            raise CommandError(f"{error.code}: {error.text()}") from error
        for booking in taken:
            self.stdout.write(f"{booking} {booking.room.code} {booking.status}")
