"""`manage.py load_demo`: the demo company, and how to sign in."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from booking import demo


class Command(BaseCommand):
    help = "Load the demo rooms, people and bookings; safe to repeat. Only while DEBUG is on."

    def handle(self, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError(
                "Demo data has a password everybody knows: it is loaded only while DEBUG is on."
            )
        demo.load(now=timezone.now())
        self.stdout.write(f"Demo data is loaded. Sign in with the password {demo.PASSWORD} as")
        for each in demo.PEOPLE:
            self.stdout.write(
                f"  {each.username:<10} {each.name} (staff, building {each.building})"
            )
        self.stdout.write("  admin      the administrator, also at /admin/")
