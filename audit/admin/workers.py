"""The processes that run conversations, what they do for all, and attempts at tasks. Read-only."""

from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agentruntime.agents import all_agents
from agentruntime.models import Chore, Run, Session, Thread, Worker
from audit import presenters
from audit.admin.links import change_link, list_link
from audit.admin.pages import language
from audit.admin.readonly import ReadOnlyAdmin, instant
from audit.admin.runtime import CodeFilter, OfThreadAdmin


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = (
        "id", "status", "health", "reason", "held", "step", "loop_lag_ms", "cpu_percent",
        "memory_mb", instant("seen_at", _("last heartbeat")),
    )  # fmt: skip
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


class PhaseFilter(CodeFilter):
    title = _("phase")
    parameter_name = column = "phase"

    def words(self, code: str) -> str:
        return presenters.phase_words(all_agents(), code, language())


@admin.register(Session)
class SessionAdmin(OfThreadAdmin):
    list_select_related = ("thread",)
    list_display = (
        instant("started_at", _("started")), "of_thread", "outcome", "at_phase", "language", "turns",
        instant("ended_at", _("ended")),
    )  # fmt: skip
    list_filter = ("outcome", PhaseFilter, "language", "ended_at")
    search_fields = ("thread__id",)
    date_hierarchy = "ended_at"
    ordering = ("-id",)
    fields = ("thread_link", "outcome", "at_phase", "language", "turns", "started_at", "ended_at")
    readonly_fields = ("thread_link", "at_phase")

    @admin.display(description=_("phase"), ordering="phase")
    def at_phase(self, session: Session) -> str:
        return presenters.phase_words(all_agents(), session.phase, language()) or "–"


@admin.register(Chore)
class ChoreAdmin(ReadOnlyAdmin):
    list_display = (
        "name", "every_seconds", instant("due_at", _("due")),
        instant("started_at", _("last started")), "took_ms", "worker", "error",
    )  # fmt: skip
    list_filter = (("error", admin.EmptyFieldListFilter),)
    ordering = ("name",)


def _linked(rows: "QuerySet[Any]") -> str:
    return format_html_join(", ", "{}", ((change_link(row),) for row in rows)) or "-"
