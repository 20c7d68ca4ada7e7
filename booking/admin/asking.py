"""Actions on chosen rows that ask first: what will happen, why, and then through a service."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from booking.admin.generic import ModelAdmin
from booking.exceptions import BookingError


@dataclass(frozen=True)
class Row:
    """One chosen row, as it is named and as it was when it was shown."""

    pk: int
    version: int
    text: str


class AskingAdmin(ModelAdmin[Any]):
    """A list whose rows change by actions that ask first, and are never deleted."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def described(self, row: Any) -> str:
        """What the question names before anything is done to the row."""
        return str(row)

    def version_of(self, row: Any) -> int:
        """The version of the row's booking."""
        return int(row.version)

    def done(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        act: Callable[[Any, int | None, str], Any],
        said: Promise,
    ) -> int:
        """How many rows it was done to; why not to others is shown as messages."""
        count, reason = 0, request.POST.get("reason", "")
        for row in rows:
            version = request.POST.get(f"version-{row.pk}", "")
            try:
                booking = act(row, int(version) if version.isdigit() else None, reason)
            except BookingError as error:
                self.message_user(request, f"{row}: {error.text()}", messages.WARNING)
                continue
            self.log_change(request, booking, str(said))
            count += 1
        return count


def asked(
    model_admin: AskingAdmin,
    request: HttpRequest,
    queryset: QuerySet[Any],
    *,
    action: str,
    title: Promise,
    consequence: Promise,
    yes: Promise,
    needs_reason: bool = False,
) -> HttpResponse | None:
    """The question, until it is answered with yes (and a reason where one is needed)."""
    is_reasoned = not needs_reason or request.POST.get("reason", "").strip()
    if request.POST.get("confirmed") == "yes" and is_reasoned:
        return None
    context = {
        **admin.site.each_context(request),
        "title": title,
        "opts": model_admin.model._meta,
        "chosen": [
            Row(each.pk, model_admin.version_of(each), model_admin.described(each))
            for each in queryset
        ],
        "action": action,
        "consequence": consequence,
        "yes": yes,
        "needs_reason": needs_reason,
        "action_checkbox_name": helpers.ACTION_CHECKBOX_NAME,
        "media": model_admin.media,
    }
    return TemplateResponse(request, "admin/booking/ask_selected.html", context)


@admin.action(description=_("Cancel selected %(verbose_name_plural)s"), permissions=["change"])
def cancel_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | None:
    """Show what would be cancelled and ask for a reason; then cancel through the service."""
    question = asked(
        model_admin,
        request,
        queryset,
        action="cancel_selected",
        title=_("Cancel these?"),
        consequence=_("The rooms become free at once. People keep seeing these as cancelled."),
        yes=_("Yes, cancel"),
    )
    if question is not None:
        return question

    def cancel(row: Any, _version: int | None, reason: str) -> Any:
        return model_admin.cancelled(request, row, reason)

    done = model_admin.done(request, queryset, cancel, _("Cancelled"))
    text = ngettext("%(count)d was cancelled.", "%(count)d were cancelled.", done)
    if done:
        model_admin.message_user(request, text % {"count": done}, messages.SUCCESS)
    return None


@admin.action(description=_("Approve selected requests"), permissions=["decide"])
def approve_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | None:
    """Show the requests as they are; approve them if they still are so."""
    question = asked(
        model_admin,
        request,
        queryset,
        action="approve_selected",
        title=_("Approve these?"),
        consequence=_("Each becomes a booking, unless it was changed after you saw it here."),
        yes=_("Yes, approve"),
    )
    if question is not None:
        return question
    done = model_admin.done(request, queryset, model_admin.approved(request), _("Approved"))
    text = ngettext("%(count)d was approved.", "%(count)d were approved.", done)
    if done:
        model_admin.message_user(request, text % {"count": done}, messages.SUCCESS)
    return None


@admin.action(description=_("Reject selected requests"), permissions=["decide"])
def reject_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | None:
    """Show the requests and ask why not; reject them if they still are as shown."""
    question = asked(
        model_admin,
        request,
        queryset,
        action="reject_selected",
        title=_("Reject these?"),
        consequence=_("The rooms become free at once, and the people are told your reason."),
        yes=_("Yes, reject"),
        needs_reason=True,
    )
    if question is not None:
        return question
    done = model_admin.done(request, queryset, model_admin.rejected(request), _("Rejected"))
    text = ngettext("%(count)d was rejected.", "%(count)d were rejected.", done)
    if done:
        model_admin.message_user(request, text % {"count": done}, messages.SUCCESS)
    return None
