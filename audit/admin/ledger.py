"""What operators did, and the checkpoints they keep: lists, read-only."""

from typing import Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agentruntime.models import Thread
from audit import presenters
from audit.admin.links import change_link, checkpoint_link
from audit.admin.pages import url
from audit.admin.readonly import ReadOnlyAdmin, instant
from audit.admin.runtime import as_json
from audit.models import Operation, Pin


def _thread_link(thread: str) -> str:
    """A link to a thread that may be gone by now: then its bare id."""
    found = Thread.objects.filter(pk=thread).first() if thread else None
    return change_link(found) if found else thread or "-"


@admin.register(Operation)
class OperationAdmin(ReadOnlyAdmin):
    list_display = (
        instant("at", _("when")), "who", "kind", "of_thread", "at_checkpoint", "reason", "outcome",
    )  # fmt: skip
    list_filter = ("kind", "outcome", "at", ("by", admin.RelatedOnlyFieldListFilter))
    search_fields = ("thread", "target", "checkpoint", "reason", "by__username")
    list_select_related = ("by",)
    date_hierarchy = "at"
    ordering = ("-id",)
    fields = (
        "id", "at", "who", "kind", "thread_link", "checkpoint_of", "target_link", "reason",
        "outcome", "seen_at", "details_of",
    )  # fmt: skip
    readonly_fields = (
        "who",
        "thread_link",
        "checkpoint_of",
        "target_link",
        "seen_at",
        "details_of",
    )

    @admin.display(description=_("what came of it"))
    def seen_at(self, operation: Operation) -> str | SafeString:
        """The page that shows it, of what has one."""
        pages = {
            Operation.Kind.REPLAY: ("replayed", operation.thread, operation.pk),
            Operation.Kind.WHAT_IF: ("variants", operation.thread, operation.pk),
            Operation.Kind.FORK: ("sandbox", operation.target),
        }
        name, *where = pages.get(Operation.Kind(operation.kind), ("", ""))
        if not name or not all(where):
            return "–"
        return format_html('<a href="{}">{}</a>', url(str(name), *where), _("look"))

    @admin.display(description=_("thread"), ordering="thread")
    def of_thread(self, operation: Operation) -> str:
        return presenters.short_thread(operation.thread) if operation.thread else "–"

    @admin.display(description=_("checkpoint"))
    def at_checkpoint(self, operation: Operation) -> str:
        return presenters.short(operation.checkpoint) or "–"

    @admin.display(description=_("who"), ordering="by")
    def who(self, operation: Operation) -> str:
        return str(operation.by) if operation.by else str(_("a command on the machine"))

    @admin.display(description=_("thread"))
    def thread_link(self, operation: Operation) -> str:
        return _thread_link(operation.thread)

    @admin.display(description=_("to"))
    def target_link(self, operation: Operation) -> str:
        return _thread_link(operation.target)

    @admin.display(description=_("from"))
    def checkpoint_of(self, operation: Operation) -> str:
        return checkpoint_link(operation.thread, operation.checkpoint)

    @admin.display(description=_("details"))
    def details_of(self, operation: Operation) -> SafeString:
        return as_json(operation.details)


@admin.register(Pin)
class PinAdmin(ReadOnlyAdmin):
    list_display = (
        instant("created_at", _("created")), "by", "of_thread", "at_checkpoint", "reason",
        instant("expires_at", _("until")),
    )  # fmt: skip
    list_filter = ("created_at", "expires_at")
    search_fields = ("thread__id", "checkpoint", "reason")
    list_select_related = ("by", "thread")
    ordering = ("-id",)
    fields = ("thread_link", "checkpoint_of", "reason", "by", "created_at", "expires_at")
    readonly_fields = ("thread_link", "checkpoint_of")

    @admin.display(description=_("thread"), ordering="thread")
    def of_thread(self, pin: Pin) -> str:
        return presenters.short_thread(pin.thread_id)

    @admin.display(description=_("checkpoint"))
    def at_checkpoint(self, pin: Pin) -> str:
        return presenters.short(pin.checkpoint)

    @admin.display(description=_("thread"))
    def thread_link(self, pin: Any) -> str:
        return change_link(pin.thread)

    @admin.display(description=_("checkpoint"))
    def checkpoint_of(self, pin: Pin) -> str:
        return checkpoint_link(pin.thread_id, pin.checkpoint)
