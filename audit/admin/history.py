"""Reading pages: the timeline, one checkpoint, two compared, the raw state."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from agentruntime.agents import get_agent
from agentruntime.models import Effect, Message, Run
from agentruntime.timetravel import history
from agentruntime.timetravel.beside import Beside, Surroundings, beside
from agentruntime.timetravel.diff import compare
from audit import picture, presenters, services
from audit.admin.links import caused
from audit.admin.pages import language, page, refused, render, thread_or_404, url
from audit.exceptions import AuditError
from audit.models import VIEW_RAW, AuditedThread, Pin

MESSAGES_AROUND = 6
WORDS_SHOWN = 120
PARTS_SHOWN = 100


@page()
@require_safe
def timeline(request: HttpRequest, thread: str) -> HttpResponse:
    """A page of checkpoints, newest first."""
    found = thread_or_404(thread)
    shown = history.timeline(found, before=request.GET.get("before") or None)
    around = beside(found.pk, shown.points)
    return render(
        request,
        "timeline",
        title=_("Timeline"),
        thread=found,
        rows=_rows(found, shown.points, around),
        older=shown.older,
        is_first=not request.GET.get("before"),
        has_branches=bool(shown.branches.all),
        picture=picture.draw(
            shown.branches,
            around.forks,
            head=found.head,
            newest=shown.points[0].id if shown.points else "",
        ),
    )


def _rows(
    thread: AuditedThread, points: Sequence[history.Point], around: Surroundings
) -> list[dict[str, Any]]:
    spec, spoken = get_agent(thread.agent), language()
    pinned: Sequence[str] = getattr(thread, "pinned", ())
    return [
        {
            "point": point,
            "what": presenters.node_words(spec, point.nodes, spoken)
            or presenters.source_words(point.source),
            "changes": presenters.summary_words(spec, point.changes, spoken),
            "beside": around.by[point.id],
            "said": _said(around.by[point.id]),
            "is_pinned": point.id in pinned,
            "is_head": point.id == thread.head,
        }
        for point in points
    ]


def _said(found: Beside) -> list[dict[str, Any]]:
    return [
        {**each, "text": presenters.value_words(each["text"], limit=WORDS_SHOWN)}
        for each in found.said
    ]


@page()
@require_safe
def checkpoint(request: HttpRequest, thread: str, checkpoint: str) -> HttpResponse:
    """One checkpoint: its state described and masked, what it changed, what happened around it."""
    found = thread_or_404(thread)
    opened = history.opened(found, checkpoint)
    spec, point, spoken = get_agent(found.agent), opened.point, language()
    masked, before = spec.redact(opened.values), spec.redact(opened.before)
    changes = compare(before, masked).changes if opened.before else []
    return render(
        request,
        "checkpoint",
        title=_("Checkpoint %(id)s") % {"id": presenters.short(checkpoint)},
        thread=found,
        row=_rows(found, [point], beside(found.pk, [point]))[0],
        point=point,
        facts=presenters.facts(spec, point.described, spoken),
        changes=[presenters.change_words(spec, each, spoken) for each in changes],
        next=presenters.node_words(spec, point.next, spoken),
        masked=presenters.pretty(masked),
        run=Run.objects.filter(thread=found, version=point.version or 0).first(),
        messages_around=_around(found, point),
        effects=[
            (each, caused(each))
            for each in Effect.objects.filter(thread=found, checkpoint=checkpoint).order_by("pk")
        ],
        pin=Pin.objects.filter(thread=found, checkpoint=checkpoint).select_related("by").first(),
    )


def _around(thread: AuditedThread, point: history.Point) -> Sequence[Message]:
    """What was said in the turn that made the checkpoint, by both."""
    if point.version is None:
        return []
    return list(
        Message.objects.filter(thread=thread, run_version=point.version).order_by("pk")[
            :MESSAGES_AROUND
        ]
    )


@page()
@require_safe
def compared(request: HttpRequest, thread: str) -> HttpResponse:
    """Two checkpoints, of one thread or of related ones: `a`, `b`, and `other` for b's thread."""
    found = thread_or_404(thread)
    other = _related(found, request.GET.get("other") or thread)
    a, b = request.GET.get("a", ""), request.GET.get("b", "")
    spec, spoken = get_agent(found.agent), language()
    left, right = history.opened(found, a), history.opened(other, b)
    both = compare(spec.redact(left.values), spec.redact(right.values))
    limit = None if request.GET.get("show") == "all" else PARTS_SHOWN
    changes, same = both.changes[:limit], both.same[:limit]
    return render(
        request,
        "compare",
        title=_("Compare"),
        thread=found,
        other=other,
        left=left.point,
        right=right.point,
        changes=[presenters.change_words(spec, each, spoken) for each in changes],
        changed=len(both.changes),
        unchanged=len(both.same),
        is_cut=len(changes) < len(both.changes) or len(same) < len(both.same),
        same=[
            (
                presenters.field_words(spec, pointer, spoken),
                pointer or "/",
                presenters.told(spec, pointer, value, spoken),
            )
            for pointer, value in same
        ],
    )


def _related(thread: AuditedThread, other: str) -> AuditedThread:
    """The thread itself, its original, or a fork of either; anything else is a 404."""
    if other == thread.pk:
        return thread
    found = thread_or_404(other)
    family = {thread.pk, thread.forked_from_id} - {None}
    if found.pk not in family and found.forked_from_id not in family:
        raise Http404
    return found


@page(VIEW_RAW)
@require_POST
def raw(request: HttpRequest, thread: str, checkpoint: str) -> HttpResponse:
    """The state as it is, to those who may; reading it is recorded."""
    found = thread_or_404(thread)
    try:
        values = services.read_raw(
            found,
            checkpoint,
            by=request.user,  # type: ignore[arg-type]
            reason=request.POST.get("reason", ""),
        )
    except AuditError as error:
        return refused(request, url("checkpoint", thread, checkpoint), error)
    return render(
        request,
        "raw",
        title=_("Raw state"),
        thread=found,
        checkpoint=checkpoint,
        raw=presenters.pretty(values),
    )
