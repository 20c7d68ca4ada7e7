"""What each message was taken to be and what that did, with the administrator's correction."""

import json

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from agentruntime.models import Message
from audit import services
from audit.admin.pages import back, page, refused, render, thread_or_404, thread_url, url
from audit.exceptions import AuditError
from audit.models import CORRECT, EXPORT

ROWS = 50


@page()
@require_safe
def decisions(request: HttpRequest, thread: str) -> HttpResponse:
    """The messages people sent, newest first: class, rule, and the runs they ended or joined."""
    found = thread_or_404(thread)
    said = (
        Message.objects.filter(thread=found, role=Message.Role.USER)
        .select_related("correction__by")
        .order_by("-pk")
    )
    return render(
        request,
        "decisions",
        title=_("Decisions"),
        thread=found,
        rows=Paginator(said, ROWS).get_page(request.GET.get("page")),
        labels=services.labels_of(found.agent),
    )


@page(CORRECT)
@require_POST
def correct(request: HttpRequest, thread: str, message: int) -> HttpResponse:
    """Say what a message should have been taken to be."""
    found = thread_or_404(thread)
    row = Message.objects.filter(pk=message, thread=found, role=Message.Role.USER).first()
    if row is None:
        raise Http404
    here = f"{url('decisions', thread)}#message-{message}"
    try:
        services.correct(
            row,
            label=request.POST.get("label", ""),
            by=request.user,  # type: ignore[arg-type]
            reason=request.POST.get("reason", ""),
        )
    except AuditError as error:
        return refused(request, here, error)
    return back(request, here, _("Corrected; the next evaluation counts it."))


@page(EXPORT)
@require_POST
def export_case(request: HttpRequest, thread: str) -> HttpResponse:
    """The thread as one line for the evaluation, masked."""
    found = thread_or_404(thread)
    try:
        case = services.export_case(
            found,
            by=request.user,  # type: ignore[arg-type]
            reason=request.POST.get("reason", ""),
        )
    except AuditError as error:
        return refused(request, thread_url(thread), error)
    line = json.dumps(case, ensure_ascii=False)
    response = HttpResponse(f"{line}\n", content_type="application/jsonl; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{case["id"]}.jsonl"'
    return response


@page(EXPORT)
@require_POST
def export(request: HttpRequest, thread: str) -> HttpResponse:
    """The thread as one zip."""
    found = thread_or_404(thread)
    stamp = timezone.localtime().strftime("%Y%m%d-%H%M%S")
    response = HttpResponse(content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{thread}-{stamp}.zip"'
    try:
        services.export(
            found,
            response,  # type: ignore[arg-type]
            by=request.user,  # type: ignore[arg-type]
            reason=request.POST.get("reason", ""),
        )
    except AuditError as error:
        return refused(request, url("auditedthread_change", thread), error)
    return response
