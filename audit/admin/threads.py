"""The list of threads, a thread's page, and the addresses of everything below it."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from agentruntime.agents import get_agent
from agentruntime.exceptions import UnknownAgent
from agentruntime.models import Effect, Message, Run, Session, Thread
from audit import codes, presenters
from audit.admin import decisions, figures, history, keeping, pinning, sandbox
from audit.admin.links import caused
from audit.admin.pages import language, page, render, thread_or_404
from audit.admin.readonly import ReadOnlyAdmin, instant
from audit.admin.stuck import StuckFilter
from audit.models import AuditedThread, Operation, Pin

if TYPE_CHECKING:
    SimpleListFilter = admin.SimpleListFilter
else:
    SimpleListFilter = admin.SimpleListFilter

ROWS_SHOWN = 20


class OriginFilter(SimpleListFilter):
    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("live", _("Live")), ("forked", _("Forked by an administrator"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        return queryset.filter(sandbox=self.value() == "forked")


class QuestionFilter(SimpleListFilter):
    title = _("open question")
    parameter_name = "question"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        kinds = [
            (each, codes.question_words(each)) for each in ("clarify", "select_room", "confirm")
        ]
        return [("any", _("Any")), ("none", _("None")), *kinds]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        if self.value() in {"any", "none"}:
            return queryset.filter(interrupt__isnull=self.value() == "none")
        return queryset.filter(interrupt__kind=self.value())


class OutcomeFilter(SimpleListFilter):
    title = _("outcome")
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(Session.Outcome.choices)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        ended = Session.objects.filter(outcome=self.value())
        return queryset.filter(pk__in=ended.values("thread"))


@admin.register(AuditedThread)
class AuditedThreadAdmin(ReadOnlyAdmin):
    list_display = (
        "name", instant("updated_at", _("changed")), "owner", "title", "status", "question",
    )  # fmt: skip
    list_filter = (
        StuckFilter,
        "agent",
        "status",
        QuestionFilter,
        OriginFilter,
        OutcomeFilter,
        "updated_at",
        ("owner", admin.RelatedOnlyFieldListFilter),
    )
    search_fields = ("id", "title", "owner__username", "owner__first_name", "owner__last_name")
    list_select_related = ("owner",)
    date_hierarchy = "created_at"
    ordering = ("-updated_at",)

    @admin.display(description=_("thread"), ordering="id")
    def name(self, thread: AuditedThread) -> str:
        name = presenters.short_thread(thread.pk)
        if not thread.sandbox:
            return name
        return format_html('{} <span class="audit-badge">{}</span>', name, _("fork"))

    @admin.display(description=_("open question"))
    def question(self, thread: AuditedThread) -> str:
        return codes.question_words(str((thread.interrupt or {}).get("kind", "–")))

    def get_urls(self) -> list[URLPattern]:
        one = "<str:thread>/checkpoints/<str:checkpoint>/"
        own = [
            path("figures/", figures.shown, name="audit_figures"),
            path("retention/", keeping.plan, name="audit_retention"),
            path("<str:thread>/timeline/", history.timeline, name="audit_timeline"),
            path("<str:thread>/compare/", history.compared, name="audit_compare"),
            path("<str:thread>/sandbox/", sandbox.talk, name="audit_sandbox"),
            path("<str:thread>/decisions/", decisions.decisions, name="audit_decisions"),
            path("<str:thread>/decisions/<int:message>/", decisions.correct, name="audit_correct"),
            path("<str:thread>/export/", decisions.export, name="audit_export"),
            path("<str:thread>/case/", decisions.export_case, name="audit_export_case"),
            path("<str:thread>/promote/", sandbox.promoted, name="audit_promote"),
            path("<str:thread>/replays/<int:operation>/", sandbox.replayed, name="audit_replayed"),
            path("<str:thread>/variants/<int:operation>/", sandbox.variants, name="audit_variants"),
            path(one, history.checkpoint, name="audit_checkpoint"),
            path(f"{one}raw/", history.raw, name="audit_raw"),
            path(f"{one}fork/", sandbox.fork, name="audit_fork"),
            path(f"{one}replay/", sandbox.replay, name="audit_replay"),
            path(f"{one}what-if/", sandbox.what_if, name="audit_what_if"),
            path(f"{one}pin/", pinning.pin, name="audit_pin"),
            path(f"{one}unpin/", pinning.unpin, name="audit_unpin"),
        ]
        wrapped = [
            path(str(each.pattern), self.admin_site.admin_view(each.callback), name=each.name)
            for each in own
        ]
        return [*wrapped, *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        return opened(request, object_id)


@page()
def opened(request: HttpRequest, thread: str) -> HttpResponse:
    """A thread: what it is about, where it stands, what ran and what was done."""
    found = thread_or_404(thread)
    try:
        spec = get_agent(found.agent)
    except UnknownAgent:
        facts = []
    else:
        facts = presenters.facts(spec, found.summary, language())
    effects = Effect.objects.filter(thread=found).order_by("-pk")[:ROWS_SHOWN]
    counts = Thread.objects.filter(pk=found.pk).aggregate(
        messages=Count("messages", distinct=True), runs=Count("runs", distinct=True)
    )
    return render(
        request,
        "thread",
        title=_("Thread %(id)s") % {"id": presenters.short_thread(found.pk)},
        thread=found,
        facts=facts,
        counts=counts,
        question=_question(found),
        runs=Run.objects.filter(thread=found).order_by("-version")[:ROWS_SHOWN],
        sessions=Session.objects.filter(thread=found).order_by("-pk")[:ROWS_SHOWN],
        effects=[(each, caused(each)) for each in effects],
        messages_said=reversed(Message.objects.filter(thread=found).order_by("-pk")[:ROWS_SHOWN]),
        forks=found.forks.order_by("-pk")[:ROWS_SHOWN],
        pins=Pin.objects.filter(thread=found).select_related("by").order_by("-pk"),
        operations=Operation.objects.filter(Q(thread=found.pk) | Q(target=found.pk))
        .select_related("by")
        .order_by("-pk")[:ROWS_SHOWN],
    )


def _question(thread: Thread) -> Message | None:
    """The words of the open question."""
    if not thread.interrupt:
        return None
    return (
        Message.objects.filter(thread=thread, interrupt_id=thread.interrupt["id"], role="assistant")
        .order_by("-pk")
        .first()
    )
