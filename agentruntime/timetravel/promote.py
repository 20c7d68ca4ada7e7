"""A sandbox thread takes its original's place: the original's id and followers stay."""

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from agentruntime.exceptions import NotPromotable
from agentruntime.models import Message, Thread
from agentruntime.persistence import checkpoints
from agentruntime.timetravel import sandbox
from agentruntime.timetravel.variants import question_of


def obstacle(fork: Thread) -> str:
    """Why a sandbox thread could never take its original's place, as a code; "" when it could."""
    original = fork.forked_from
    if not fork.sandbox or original is None or original.sandbox:
        return "no_original"
    if original.status == Thread.Status.ARCHIVED:
        return "no_original"
    return "simulated" if sandbox.has_simulated(fork) else ""


@transaction.atomic
def promote(fork: Thread, *, expected_head: str, notice: str) -> Thread:
    """Let the original stand where its fork does: state, open question and all.

    The new checkpoints become a branch of the original, so nothing of it is lost. Its owner is
    told by `notice`, a message, and is asked the fork's open question. Whoever follows it notices
    the new turn. The fork stands at a checkpoint of its own (`forks.renew`).
    Raises NotPromotable, nothing changed.
    """
    original = Thread.objects.select_for_update().filter(pk=fork.forked_from_id).first()
    fork = Thread.objects.select_for_update().get(pk=fork.pk)
    why = "no_original" if original is None else obstacle(fork)
    if original is None or why:
        raise NotPromotable(why)
    unread = Message.objects.filter(thread=original, status=Message.Status.PENDING)
    if _runs(original) or _runs(fork) or unread.exists():
        raise NotPromotable("busy")
    if original.head != expected_head:
        raise NotPromotable("moved_on")
    if fork.head == fork.forked_at:
        raise ValueError("renew the fork first: its original was answered at this checkpoint")
    checkpoints.copy_new(fork.pk, original.pk, after=fork.forked_at)
    Thread.objects.filter(pk=original.pk).update(
        head=fork.head,
        interrupt=fork.interrupt,
        summary=fork.summary,
        title=fork.title,
        language=fork.language,
        status=fork.status,
        agent_version=fork.agent_version,
        turn=F("turn") + 1,
        run_version=F("run_version") + 1,  # whatever still believes it runs it writes nothing
        updated_at=Now(),
    )
    original.refresh_from_db()
    _say(original, notice)
    asked = question_of(fork)
    if asked is not None:
        _say(original, asked.text, asked)
    return original


def _runs(thread: Thread) -> bool:
    """Whether a worker may be running it: by its lease, on the database's clock."""
    return Thread.objects.filter(
        Q(status=Thread.Status.RUNNING) | Q(lease_owner__isnull=False, lease_until__gt=Now()),
        pk=thread.pk,
    ).exists()


def _say(thread: Thread, text: str, question: Message | None = None) -> None:
    Message.objects.create(
        thread=thread,
        role=Message.Role.ASSISTANT,
        status=Message.Status.SAID,
        kind=question.kind if question else "text",
        text=text,
        data=question.data if question else {},
        interrupt_id=question.interrupt_id if question else "",
        turn=thread.turn,
        run_version=thread.run_version,
    )
