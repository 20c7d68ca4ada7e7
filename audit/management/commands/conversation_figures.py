"""`manage.py conversation_figures`: how conversations went, for a script or a monitor."""

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from audit.durations import duration
from audit.figures import Period, figures


class Command(BaseCommand):
    help = "Print the conversation figures of the last days as JSON; the admin page shows the same."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--since", type=duration, default=timedelta(days=30), help="how far back, as in 7d"
        )
        parser.add_argument("--agent", default="", help="of this agent only")

    def handle(self, *args: Any, since: timedelta, agent: str, **options: Any) -> None:
        now = timezone.now()
        period = Period(since=now - since, until=now, agent=agent)
        found = {
            "since": period.since.isoformat(),
            "until": period.until.isoformat(),
            **figures(period).plain(),
        }
        self.stdout.write(json.dumps(found, ensure_ascii=False, indent=1, default=float))
