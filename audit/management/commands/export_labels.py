"""`manage.py export_labels`: administrators' corrections as evaluation cases, one JSON a line."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from agentruntime.models import Message
from audit.models import Correction

# What was said before decides what a message is; so many messages are enough to read it in.
BEFORE = 12


class Command(BaseCommand):
    help = "Write corrected labels as cases: what was said, up to then, and what it should be."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--agent", default="booking")

    def handle(self, *args: Any, agent: str, **options: Any) -> None:
        found = Correction.objects.filter(message__thread__agent=agent)
        for correction in found.select_related("message__thread").order_by("pk").iterator():
            self.stdout.write(json.dumps(_case(correction), ensure_ascii=False))


def _case(correction: Correction) -> dict[str, Any]:
    message = correction.message
    before = Message.objects.filter(
        thread=message.thread_id,
        role=Message.Role.USER,
        status=Message.Status.CONSUMED,
        pk__lt=message.pk,
    ).order_by("-pk")[:BEFORE]
    turns = [*reversed(before), message]
    return {
        "id": f"corrected-{message.pk}",
        "lang": message.thread.language,
        "now": turns[0].created_at.isoformat(),
        "turns": [{"text": each.text} for each in turns],
        "label": correction.label,
        "was": correction.was,
        "reason": correction.reason,
    }
