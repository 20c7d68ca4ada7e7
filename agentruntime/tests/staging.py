"""A run held in the middle, and what became of runs and messages."""

import asyncio

from agentruntime.models import Effect, Message, Run
from agentruntime.persistence.pools import in_db_thread


class Stage:
    """Holds runs at a node until the gate opens; counts who came there."""

    def __init__(self, node):
        self.node = node
        self.gate = asyncio.Event()
        self.came = asyncio.Queue()

    async def hook(self, node):
        if node == self.node:
            self.came.put_nowait(node)
            await self.gate.wait()


async def runs_of(talk):
    return await in_db_thread(
        lambda: list(
            Run.objects.filter(thread_id=talk.id)
            .order_by("version")
            .values_list("version", "status")
        )
    )


async def decisions_of(talk):
    return await in_db_thread(
        lambda: list(
            Message.objects.filter(thread_id=talk.id, role="user")
            .order_by("id")
            .values_list("classification", "rule", "run_version", "turn")
        )
    )


async def act(claim):
    """What the run of a claim does outside its state."""
    await in_db_thread(
        lambda: Effect.objects.create(
            thread_id=claim.lease.thread,
            run_id=claim.lease.run,
            run_version=claim.lease.version,
            name="book",
            task="t",
            intent="i",
            checkpoint="",
            message_id=claim.pending[-1].id,
        )
    )
