"""Can the code that is about to be deployed go on with the threads that are open?

LangGraph says nothing when a node was renamed: the pending question is just gone. So every open
thread's head is loaded with the present graph before people find out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from agentruntime.agents import get_agent
from agentruntime.exceptions import CheckpointNotFound, UnknownAgent
from agentruntime.models import Thread
from agentruntime.timetravel import history

PAGE = 200


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """One thread that the present code could not go on with, and why, in words."""

    thread: str
    agent: str
    version: int
    why: str


def troubles(*, agent: str = "") -> Iterator[Trouble]:
    """Every open thread (waiting, or with unread words) that would lose its question or its state;
    and every other whose state no longer validates.
    """
    threads = Thread.objects.exclude(status=Thread.Status.ARCHIVED).exclude(head="")
    if agent:
        threads = threads.filter(agent=agent)
    last = ""
    while page := list(threads.filter(pk__gt=last).order_by("pk")[:PAGE]):
        for thread in page:
            for why in _wrong_with(thread):
                yield Trouble(
                    thread=thread.pk, agent=thread.agent, version=thread.agent_version, why=why
                )
        last = page[-1].pk


def _wrong_with(thread: Thread) -> list[str]:
    try:
        spec = get_agent(thread.agent)
        opened = history.opened(thread, thread.head)
    except UnknownAgent:
        return [f"there is no agent {thread.agent} any more"]
    except CheckpointNotFound:
        return [f"its head {thread.head} is not there"]
    except Exception as error:  # noqa: BLE001 - whatever an agent's code raises is the finding
        return [f"its state cannot be read: {type(error).__name__}: {error}"]
    if thread.agent_version > spec.version:
        return [f"its state is of version {thread.agent_version}, the code of {spec.version}"]
    found = []
    if thread.interrupt is not None:
        asked = [question.id for question in opened.point.questions]
        if not opened.point.next:
            found.append("its open question would vanish: nothing would run next")
        elif thread.interrupt["id"] not in asked:
            found.append("its open question would vanish: the node that asked it is another")
    return [
        *found,
        *(f"its state does not validate: {why}" for why in spec.validate(opened.values)),
    ]
