"""Messages, runs and effects: what was said, what ran, what was done. Read-only."""

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agentruntime.agents import get_agent
from agentruntime.exceptions import UnknownAgent
from agentruntime.models import Effect, Message, Run, Worker
from audit import codes, presenters
from audit.admin.links import caused, change_link, checkpoint_link
from audit.admin.readonly import ReadOnlyAdmin, instant
from audit.models import VIEW_RAW
from audit.templatetags.audit import class_words, effect_words

if TYPE_CHECKING:
    SimpleListFilter = admin.SimpleListFilter
else:
    SimpleListFilter = admin.SimpleListFilter

MASK = "•••"


def as_json(value: Any) -> SafeString:
    """A JSON value laid out, as text."""
    return format_html("<pre>{}</pre>", json.dumps(value, ensure_ascii=False, indent=2))


def masked(value: Any, keys: Collection[str]) -> Any:
    """A JSON value with what these keys hold made dots, however deep."""
    if isinstance(value, dict):
        return {
            key: MASK if key in keys and item else masked(item, keys) for key, item in value.items()
        }
    return [masked(item, keys) for item in value] if isinstance(value, list) else value


def personal_keys(agent: str) -> Collection[str]:
    try:
        return get_agent(agent).personal
    except UnknownAgent:
        return ()


class OfThreadAdmin(ReadOnlyAdmin):
    """Rows of a thread; each links to it, by a short name in lists."""

    @admin.display(description=_("thread"), ordering="thread")
    def of_thread(self, row: Any) -> str:
        return change_link(row.thread, presenters.short_thread(row.thread_id))

    @admin.display(description=_("thread"), ordering="thread")
    def thread_link(self, row: Any) -> str:
        return change_link(row.thread)


class CodeFilter(SimpleListFilter):
    """The values that a column has, in people's words."""

    column = ""

    def words(self, code: str) -> str:
        raise NotImplementedError

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        rows = model_admin.model._default_manager.exclude(**{self.column: ""}).order_by(self.column)
        found = rows.values_list(self.column, flat=True).distinct()
        return [(code, self.words(code)) for code in found]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value()
        return queryset if chosen is None else queryset.filter(**{self.column: chosen})


class KindFilter(CodeFilter):
    title = _("kind")
    parameter_name = column = "kind"

    def words(self, code: str) -> str:
        return codes.message_words(code)


class ClassFilter(CodeFilter):
    title = _("taken for")
    parameter_name = column = "classification"

    def words(self, code: str) -> str:
        return class_words(code)


class RuleFilter(CodeFilter):
    title = _("decision")
    parameter_name = column = "rule"

    def words(self, code: str) -> str:
        return codes.rule_words(code)


@admin.register(Message)
class MessageAdmin(OfThreadAdmin):
    list_select_related = ("thread",)
    list_display = (
        "id", instant("created_at", _("created")), "role", "text", "status", "taken_for", "by_rule",
        "run_version", "of_thread",
    )  # fmt: skip
    list_filter = ("role", "status", KindFilter, ClassFilter, RuleFilter, "created_at")
    search_fields = ("thread__id", "text", "client_id")
    date_hierarchy = "created_at"
    ordering = ("-id",)
    fields = (
        "id", "thread_link", "role", "kind", "status", "text", "data", "interrupt_id",
        "taken_for", "classification", "by_rule", "rule", "beside", "run_version", "turn",
        "client_id", "effects_of", "created_at",
    )  # fmt: skip
    readonly_fields = ("thread_link", "effects_of", "taken_for", "by_rule")

    @admin.display(description=_("taken for"), ordering="classification")
    def taken_for(self, message: Message) -> str:
        return class_words(message.classification) or "–"

    @admin.display(description=_("decision"), ordering="rule")
    def by_rule(self, message: Message) -> str:
        return codes.rule_words(message.rule) or "–"

    @admin.display(description=_("effects"))
    def effects_of(self, message: Message) -> str:
        return caused(message)


@admin.register(Run)
class RunAdmin(OfThreadAdmin):
    list_select_related = ("thread",)
    list_display = (
        instant("started_at", _("started")), "of_thread", "version", "kind", "status", "attempt",
        "turn", "took", "worker", "error",
    )  # fmt: skip
    list_filter = ("status", "kind", "attempt", "started_at", "worker")
    search_fields = ("thread__id", "worker", "error")
    date_hierarchy = "started_at"
    ordering = ("-started_at",)
    fields = (
        "id", "thread_link", "version", "kind", "status", "worker_link", "attempt", "turn",
        "base_link", "head_link", "steps_of", "error", "effects_of", "started_at", "ended_at",
    )  # fmt: skip
    readonly_fields = (
        "thread_link", "worker_link", "base_link", "head_link", "steps_of", "effects_of",
    )  # fmt: skip

    @admin.display(description=_("took"))
    def took(self, run: Run) -> str:
        return f"{(run.ended_at - run.started_at).total_seconds():.2f} s" if run.ended_at else "–"

    @admin.display(description=_("worker"))
    def worker_link(self, run: Run) -> str:
        return change_link(Worker(pk=run.worker))

    @admin.display(description=_("checkpoint before"))
    def base_link(self, run: Run) -> str:
        return checkpoint_link(run.thread_id, run.base)

    @admin.display(description=_("checkpoint after"))
    def head_link(self, run: Run) -> str:
        return checkpoint_link(run.thread_id, run.head)

    @admin.display(description=_("steps"))
    def steps_of(self, run: Run) -> SafeString:
        return as_json(run.steps)

    @admin.display(description=_("effects"))
    def effects_of(self, run: Run) -> str:
        return caused(run)


@admin.register(Effect)
class EffectAdmin(OfThreadAdmin):
    list_display = (
        "id", instant("created_at", _("created")), "did", "caused_rows", "run_version", "of_thread",
    )  # fmt: skip
    list_filter = ("name", "created_at")
    search_fields = ("thread__id", "intent", "name")
    list_select_related = ("thread", "run", "message")
    date_hierarchy = "created_at"
    ordering = ("-id",)
    fields = (
        "id", "did", "name", "caused_rows", "thread_link", "run_link", "message_link", "said",
        "checkpoint_link", "task", "intent", "run_version", "arguments_of", "result_of", "created_at",
    )  # fmt: skip
    readonly_fields = (
        "did", "caused_rows", "thread_link", "run_link", "message_link", "said", "checkpoint_link",
        "arguments_of", "result_of", "raw_arguments_of", "raw_result_of",
    )  # fmt: skip

    def get_fields(self, request: HttpRequest, obj: Effect | None = None) -> Any:
        """What people wrote into it is for those who may read a raw state."""
        fields = super().get_fields(request, obj)
        if not request.user.has_perm(VIEW_RAW):
            return fields
        return [f"raw_{name}" if name in {"arguments_of", "result_of"} else name for name in fields]

    @admin.display(description=_("what was done"), ordering="name")
    def did(self, effect: Effect) -> str:
        return effect_words(effect.name)

    @admin.display(description=_("what it made"))
    def caused_rows(self, effect: Effect) -> str:
        return caused(effect)

    @admin.display(description=_("run"))
    def run_link(self, effect: Effect) -> str:
        return change_link(effect.run)

    @admin.display(description=_("confirming message"))
    def message_link(self, effect: Effect) -> str:
        return change_link(effect.message)

    @admin.display(description=_("checkpoint"))
    def checkpoint_link(self, effect: Effect) -> str:
        return checkpoint_link(effect.thread_id, effect.checkpoint)

    @admin.display(description=_("what was said"))
    def said(self, effect: Effect) -> str:
        return effect.message.text if effect.message else "-"

    @admin.display(description=_("arguments"))
    def arguments_of(self, effect: Effect) -> SafeString:
        return as_json(masked(effect.arguments, personal_keys(effect.thread.agent)))

    @admin.display(description=_("result"))
    def result_of(self, effect: Effect) -> SafeString:
        return as_json(masked(effect.result, personal_keys(effect.thread.agent)))

    @admin.display(description=_("arguments"))
    def raw_arguments_of(self, effect: Effect) -> SafeString:
        return as_json(effect.arguments)

    @admin.display(description=_("result"))
    def raw_result_of(self, effect: Effect) -> SafeString:
        return as_json(effect.result)
