"""The only way an edge gets a thread: by id and by whose it is. Absent and forbidden look alike."""

from typing import Any

from agentruntime.agents import get_agent
from agentruntime.exceptions import ThreadNotFound
from agentruntime.models import Thread, uuid7

MAX_ID = 120


def thread_for(user: Any, thread_id: str, *, agent: str | None = None) -> Thread:
    """The person's own thread of that id, and of that agent if one is named.

    Raises ThreadNotFound, also when the thread is somebody else's or an administrator's copy.
    """
    if not thread_id or len(thread_id) > MAX_ID or "\0" in thread_id:
        raise ThreadNotFound(thread_id)
    threads = Thread.objects.filter(pk=thread_id, owner_id=user.pk, sandbox=False)
    if agent:
        threads = threads.filter(agent=agent)
    thread = threads.first()
    if thread is None:
        raise ThreadNotFound(thread_id)
    return thread


def new_thread(user: Any, *, agent: str, language: str) -> Thread:
    """A new thread of an agent for a person. Raises UnknownAgent."""
    spec = get_agent(agent)
    return Thread.objects.create(
        id=f"{agent}-{user.pk}-{uuid7()}",
        agent=agent,
        agent_version=spec.version,
        owner_id=user.pk,
        language=language,
    )
