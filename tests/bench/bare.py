"""The yardstick: the bare graph on the stock saver, in process, no web server around it.

`python -m tests.bench.bare`: reads `USERS BOOKINGS` lines, answers each with a line of JSON.
"""

import asyncio
import json
import os
import sys
import time
import uuid
from typing import Any

import django
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.types import Command
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

INPUT = {"said": {"messages": [{"id": 1, "at": "", "text": "a room for six"}]}}
TURNS: list[Any] = [
    INPUT,
    Command(resume={"room": "P01"}),
    Command(resume={"approved": True}),
]


async def booking(graph: Any, times: list[float]) -> None:
    """One booking of three turns; a turn's seconds go to `times`."""
    config = {"configurable": {"thread_id": uuid.uuid4().hex}}
    for turn in TURNS:
        began = time.perf_counter()
        await graph.ainvoke(turn, config)
        times.append(time.perf_counter() - began)


async def block(graph: Any, users: int, bookings: int) -> dict[str, Any]:
    """So many bookings by so many users at once: seconds, CPU seconds, seconds of each turn."""
    times: list[float] = []
    cpu, began = time.process_time(), time.perf_counter()

    async def user(count: int) -> None:
        for _ in range(count):
            await booking(graph, times)

    share, rest = divmod(bookings, users)
    await asyncio.gather(*(user(share + (n < rest)) for n in range(users)))
    return {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
        "turns": times,
    }


async def main() -> None:
    django.setup()
    from agentruntime.testing import probe_graph

    kwargs = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(
        os.environ["BENCH_DSN"], min_size=16, max_size=16, open=False, kwargs=kwargs
    ) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        graph = probe_graph().compile(checkpointer=saver)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            users, bookings = map(int, line.split())
            sys.stdout.write(json.dumps(await block(graph, users, bookings)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
