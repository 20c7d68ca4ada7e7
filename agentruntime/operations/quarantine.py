"""Threads whose messages were set aside because running them ended their workers. Synchronous."""

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from agentruntime.models import Message, Thread


def waiting() -> "QuerySet[Thread]":
    """The threads that wait for a person to look at them, oldest first."""
    return Thread.objects.filter(quarantined_at__isnull=False).order_by("quarantined_at")


@transaction.atomic
def retry(thread: str) -> int:
    """Have a thread's set aside messages read again, as if just said; how many there are.

    Any process that looks for work takes them. Raises Thread.DoesNotExist.
    """
    Thread.objects.select_for_update().get(pk=thread)
    count = Message.objects.filter(thread_id=thread, status=Message.Status.QUARANTINED).update(
        status=Message.Status.PENDING, rule="retried", created_at=Now()
    )
    Thread.objects.filter(pk=thread).update(quarantined_at=None, unread=F("unread") + count)
    return count


def dismiss(thread: str) -> bool:
    """Leave them aside for good; whether the thread was waiting for this."""
    return bool(waiting().filter(pk=thread).update(quarantined_at=None))
