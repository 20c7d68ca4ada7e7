"""The processes that run conversations, what they do for all, and attempts at tasks. Read-only."""

from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agentruntime.models import Chore, Run, Session, Thread, Worker
from audit.admin.links import change_link, list_link
from audit.admin.readonly import ReadOnlyAdmin
from audit.admin.runtime import OfThreadAdmin


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ("id", "status", "health", "reason", "held", "loop_lag_ms", "seen_at")
    list_filter = ("status", "health")
    search_fields = ("id", "host")
    ordering = (F("ended_at").desc(nulls_first=True), "-seen_at")
    fields = (
        "id", "host", "pid", "status", "health", "reason", "threads_of", "runs_of", "step", "steps",
        "tool", "still_seconds", "loop_lag_ms", "cpu_percent", "memory_mb", "beat_seconds",
        "started_at", "seen_at", "ended_at",
    )  # fmt: skip
    readonly_fields = ("threads_of", "runs_of")

    @admin.display(description=_("threads"))
    def held(self, worker: Worker) -> int:
        return len(worker.threads)

    @admin.display(description=_("threads"))
    def threads_of(self, worker: Worker) -> str:
        return _linked(Thread.objects.filter(pk__in=worker.threads))

    @admin.display(description=_("runs"))
    def runs_of(self, worker: Worker) -> SafeString:
        recent = Run.objects.filter(worker=worker.pk)
        return list_link(Run, str(recent.count()), worker=worker.pk)


@admin.register(Session)
class SessionAdmin(OfThreadAdmin):
    list_select_related = ("thread",)
    list_display = (
        "started_at", "thread_link", "outcome", "phase", "language", "turns", "ended_at",
    )  # fmt: skip
    list_filter = ("outcome", "phase", "language", "ended_at")
    search_fields = ("thread__id",)
    date_hierarchy = "ended_at"
    ordering = ("-id",)
    fields = ("thread_link", "outcome", "phase", "language", "turns", "started_at", "ended_at")
    readonly_fields = ("thread_link",)


@admin.register(Chore)
class ChoreAdmin(ReadOnlyAdmin):
    list_display = ("name", "every_seconds", "due_at", "started_at", "took_ms", "worker", "error")
    list_filter = (("error", admin.EmptyFieldListFilter),)
    ordering = ("name",)


def _linked(rows: "QuerySet[Any]") -> str:
    return format_html_join(", ", "{}", ((change_link(row),) for row in rows)) or "-"
