"""Conversations with a probe that acts, and what they leave: for everything that looks back."""

from django.db import connection

from agentruntime.models import Message, Thread
from agentruntime.persistence.pools import in_db_thread
from agentruntime.timetravel import history

# The effects that were really carried out.
CALLED = []


async def act(context, draft):
    def call(effect):
        CALLED.append(effect.pk)
        return {"room": draft["room"]}

    await context.read(look)
    return await context.effect(
        "book_room",
        key=f"{draft['wish']}-{draft['room']}",
        arguments={"room": draft["room"]},
        call=call,
    )


def look():
    """What the probe reads; a test lets it write instead."""


async def waiting(talk):
    await talk.say("a room for six")
    await talk.settled(1)
    return await in_db_thread(Thread.objects.get, pk=talk.id)


async def confirming(talk):
    await waiting(talk)
    await talk.answer({"room": "P01"})
    await talk.settled(2)
    return await in_db_thread(Thread.objects.get, pk=talk.id)


async def booked(talk):
    await confirming(talk)
    await talk.answer({"approved": True})
    await talk.settled(3)
    return await in_db_thread(Thread.objects.get, pk=talk.id)


async def heads(thread):
    """By the kind of their open question, the checkpoints at which a thread waited."""
    page = await in_db_thread(history.timeline, thread)
    return {question.kind: point.id for point in page.points for question in point.questions}


def snapshot(thread):
    """All that a live thread is: its row, its messages, its checkpoints."""
    row = Thread.objects.filter(pk=thread.pk).values().get()
    row.pop("updated_at")
    messages = list(Message.objects.filter(thread=thread).order_by("pk").values())
    tables = {}
    with connection.cursor() as cursor:
        for name in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            cursor.execute(
                f"select * from {name} where thread_id = %s order by 1, 2, 3, 4",  # noqa: S608
                [thread.pk],
            )
            tables[name] = [repr(each) for each in cursor.fetchall()]
    return row, messages, tables
