"""`manage.py replay_threads`: the gate before a change of code, prompt, model or planner."""

import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from agentruntime.agents import get_agent
from agentruntime.models import Session, Thread
from agentruntime.timetravel.replay import Replay
from audit import gate, presenters, services
from audit.durations import duration
from audit.models import Operation

POINTERS_SHOWN = 10


class Command(BaseCommand):
    help = (
        "Replay the threads of the last sessions with this code, in sandboxes that book nothing,"
        " and name what comes out differently. Fails when more than --allow do."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--last", type=int, default=20, help="how many sessions")
        parser.add_argument("--agent", default="", help="of this agent only")
        parser.add_argument("--outcome", default="", choices=["", *Session.Outcome.values])
        parser.add_argument("--since", type=duration, help="ended within, as in 7d")
        parser.add_argument("--thread", default="", help="this thread only")
        parser.add_argument("--planner", default="", help="in place of ROOMWISE_PLANNER")
        parser.add_argument("--allow", type=int, default=0, help="how many may differ")
        parser.add_argument("--keep", action="store_true", help="keep the copies, to look into")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["planner"]:
            settings.ROOMWISE = {**settings.ROOMWISE, "planner": options["planner"]}
        since = options["since"]
        choice = gate.Choice(
            last=options["last"],
            agent=options["agent"],
            outcome=options["outcome"],
            since=timezone.now() - since if since else None,
            thread=options["thread"],
        )
        threads = gate.chosen(choice)
        if not threads:
            raise CommandError("there is nothing to replay")
        verdict = gate.Verdict()
        for thread, made in gate.replayed(threads, keep=options["keep"]):
            if made is None:
                verdict.skipped += 1
                continue
            verdict.add(made)
            self.tell(thread, made, is_json=options["json"])
        self.sum_up(verdict, is_json=options["json"])
        services.record(
            Operation.Kind.REPLAY, by=None, reason="replay_threads", thread=options["thread"],
            details={
                "same": verdict.same, "differ": verdict.differ, "failed": verdict.failed,
                "planner": options["planner"] or settings.ROOMWISE["planner"],
            },
        )  # fmt: skip
        if verdict.differ + verdict.failed > options["allow"]:
            raise CommandError(f"{verdict.differ + verdict.failed} of {verdict.total} differ")

    def tell(self, thread: Thread, made: Replay, *, is_json: bool) -> None:
        """One thread's outcome, without a word anybody said."""
        details = services.replay_details(made)
        if is_json:
            self.stdout.write(json.dumps({"thread": thread.pk, **details}))
            return
        first = made.divergence
        if made.is_same:
            words = f"same ({len(made.steps)} steps)"
        elif first is None:
            words = f"stopped: {made.stopped} {made.error}"
        else:
            nodes = first.original.point.nodes if first.original else ()
            node = presenters.node_words(get_agent(thread.agent), nodes, "en") or "no step"
            where = ", ".join(change.pointer for change in first.changes[:POINTERS_SHOWN])
            words = f"differs at step {first.number} ({node}) {where} {made.stopped}".rstrip()
        self.stdout.write(f"{thread.pk}  {words}")

    def sum_up(self, verdict: gate.Verdict, *, is_json: bool) -> None:
        """The totals, and what differs most often."""
        if is_json:
            return
        self.stdout.write(
            f"{verdict.same} same, {verdict.differ} differ, {verdict.failed} failed,"
            f" {verdict.skipped} without history"
        )
        for pointer, count in verdict.where.most_common(POINTERS_SHOWN):
            self.stdout.write(f"  {count:4} {pointer}")
