"""What every page of the audit app has: its permission, its 404, its frame."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin, messages
from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import get_language

from agentruntime.exceptions import CheckpointNotFound, UnknownAgent
from audit import presenters
from audit.exceptions import AuditError
from audit.models import VIEW, AuditedThread, Pin

View = Callable[..., HttpResponse]
# Django's path converter takes anything; ids are short, and the database would refuse a NUL.
MAX_ID = 120


def page(*permissions: str) -> Callable[[View], View]:
    """Only for those who may see threads and have all of these; what is not there is a 404."""
    needed = (VIEW, *permissions)

    def guarded(view: View) -> View:
        @wraps(view)
        def inside(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.has_perms(needed):
                raise PermissionDenied
            try:
                return view(request, *args, **kwargs)
            except (CheckpointNotFound, UnknownAgent) as error:
                raise Http404 from error

        inside.permissions = needed  # type: ignore[attr-defined]
        return inside

    return guarded


def thread_or_404(thread: str) -> AuditedThread:
    """The thread with its owner, its origin and its `pinned` checkpoints, in one query."""
    if len(thread) > MAX_ID or "\0" in thread:
        raise Http404
    pins = Pin.objects.filter(thread=OuterRef("pk")).values("checkpoint")
    threads = AuditedThread.objects.select_related("owner", "forked_from")
    found = threads.annotate(pinned=ArraySubquery(pins)).filter(pk=thread).first()
    if found is None:
        raise Http404
    return found


def language() -> str:
    """The agents' name of the page's language."""
    return presenters.spoken(get_language())


def url(name: str, *args: Any) -> str:
    """The address of one of this app's pages."""
    return reverse(f"admin:audit_{name}", args=args)


def thread_url(thread: str) -> str:
    """The address of a thread's page."""
    return reverse("admin:audit_auditedthread_change", args=[thread])


def render(
    request: HttpRequest, template: str, *, title: str, status: int = 200, **context: Any
) -> TemplateResponse:
    """A page in the admin's frame. `can_...` tell the template what may be offered."""
    user = request.user
    may = {
        f"can_{name}": user.has_perm(f"audit.{permission}")
        for name, permission in (
            ("read_raw", "view_raw_state"),
            ("replay", "replay_thread"),
            ("fork", "fork_thread"),
            ("promote", "promote_thread"),
            ("prune", "prune_checkpoints"),
            ("export", "export_thread"),
            ("pin", "pin_checkpoint"),
            ("correct", "correct_label"),
        )
    }
    whole = {
        **admin.site.each_context(request),
        **may,
        "opts": AuditedThread._meta,
        "title": title,
        **context,
    }
    return TemplateResponse(request, f"admin/audit/{template}.html", whole, status=status)


def back(request: HttpRequest, address: str, text: str) -> HttpResponseRedirect:
    """Done: say so on the next page."""
    messages.success(request, text)
    return HttpResponseRedirect(address)


def refused(request: HttpRequest, address: str, error: AuditError) -> HttpResponseRedirect:
    """Not done: say why on the next page."""
    messages.error(request, str(error))
    return HttpResponseRedirect(address)
