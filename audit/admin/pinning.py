"""Pinning and unpinning a checkpoint, from its page."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agentruntime.timetravel import history
from audit import services
from audit.admin.pages import back, page, refused, thread_or_404, url
from audit.exceptions import AuditError, ReasonMissing
from audit.forms import PinForm, ReasonForm
from audit.models import PIN


@page(PIN)
@require_POST
def pin(request: HttpRequest, thread: str, checkpoint: str) -> HttpResponse:
    """Keep a checkpoint from pruning."""
    found = thread_or_404(thread)
    history.require(found, checkpoint)
    form, here = PinForm(request.POST), url("checkpoint", thread, checkpoint)
    if not form.is_valid():
        return refused(request, here, _first_error(form))
    services.pin(
        found,
        checkpoint,
        by=request.user,  # type: ignore[arg-type]
        reason=form.cleaned_data["reason"],
        expires_at=form.cleaned_data["expires_at"],
    )
    return back(request, here, _("Pinned."))


def _first_error(form: PinForm) -> AuditError:
    if "reason" in form.errors:
        return ReasonMissing()
    return AuditError(next(iter(form.errors.values()))[0])


@page(PIN)
@require_POST
def unpin(request: HttpRequest, thread: str, checkpoint: str) -> HttpResponse:
    """Let pruning have it again."""
    found = thread_or_404(thread)
    history.require(found, checkpoint)
    form, here = ReasonForm(request.POST), url("checkpoint", thread, checkpoint)
    try:
        reason = form.cleaned_data["reason"] if form.is_valid() else ""
        services.unpin(found, checkpoint, by=request.user, reason=reason)  # type: ignore[arg-type]
    except AuditError as error:
        return refused(request, here, error)
    return back(request, here, _("Not pinned any more."))
