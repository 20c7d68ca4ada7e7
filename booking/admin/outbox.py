"""Mail that waits or was sent, and calendar feeds, in the administration."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from booking import services
from booking.admin.generic import ModelAdmin
from booking.models import CalendarFeed, Mail


class LookingAdmin(ModelAdmin[Any]):
    """Rows that nobody adds, edits or deletes by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.action(description=_("Try to send again now"), permissions=["change"])
def send_again(model_admin: "MailAdmin", request: HttpRequest, queryset: QuerySet[Mail]) -> None:
    failed = queryset.filter(status__in=[Mail.Status.FAILED, Mail.Status.WAITING])
    count = failed.update(status=Mail.Status.WAITING, attempts=0, due_at=timezone.now())
    model_admin.message_user(request, _("%(n)d will be sent.") % {"n": count}, messages.SUCCESS)


@admin.register(Mail)
class MailAdmin(LookingAdmin):
    list_display = (
        "booking",
        "recipient",
        "purpose",
        "status",
        "attempts",
        "created_at",
        "sent_at",
        "error",
    )
    list_filter = ("status", "purpose")
    list_select_related = ("booking", "recipient")
    search_fields = ("=booking__id", "recipient__username", "error")
    date_hierarchy = "created_at"
    actions = (send_again,)
    readonly_fields = (
        "booking",
        "change",
        "recipient",
        "purpose",
        "status",
        "attempts",
        "created_at",
        "due_at",
        "sent_at",
        "error",
    )


@admin.action(description=_("Revoke selected feeds"), permissions=["change"])
def revoke_selected(
    model_admin: "CalendarFeedAdmin", request: HttpRequest, queryset: QuerySet[CalendarFeed]
) -> None:
    for each in queryset.select_related("person"):
        services.revoke_feed(each.person, now=timezone.now())
        model_admin.log_change(request, each, str(_("Revoked")))
    model_admin.message_user(request, _("The addresses no longer work."), messages.SUCCESS)


@admin.register(CalendarFeed)
class CalendarFeedAdmin(LookingAdmin):
    """Who has a feed; never its address, which is the person's secret."""

    list_display = ("person", "created_at", "revoked_at")
    list_select_related = ("person",)
    search_fields = ("person__username",)
    actions = (revoke_selected,)
    readonly_fields = ("person", "created_at", "revoked_at")
    fields = readonly_fields
