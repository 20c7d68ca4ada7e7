"""`manage.py check_threads`: would this code lose any open thread? For the pipeline that deploys."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agentruntime.models import Thread
from agentruntime.timetravel.compatibility import troubles


class Command(BaseCommand):
    help = "List threads whose question or state this code would lose; fails when there are any."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--agent", default="", help="threads of this agent only")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        count = 0
        for trouble in troubles(agent=options["agent"]):
            count += 1
            if options["json"]:
                self.stdout.write(json.dumps(trouble.__dict__, ensure_ascii=False))
            else:
                self.stdout.write(f"{trouble.thread}: {trouble.why}")
        if count:
            raise CommandError(f"{count} troubles")
        if not options["json"]:
            checked = Thread.objects.exclude(status=Thread.Status.ARCHIVED).exclude(head="").count()
            self.stdout.write(f"{checked} threads would go on.")
