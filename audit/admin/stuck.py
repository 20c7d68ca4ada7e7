"""The threads that do not get on, and why."""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agentruntime.models import Message, Run

# A run, or a message nobody reads, that is older than this is worth a look.
LONG = timedelta(seconds=30)


class StuckFilter(admin.SimpleListFilter):
    """What is stuck, and why: the questions a person on call asks."""

    title = _("stuck")
    parameter_name = "stuck"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("any", _("Anything below")),
            ("quarantined", _("Messages set aside after three lost workers")),
            ("expired", _("Running, but its lease has run out")),
            ("long", _("Running for over 30 seconds")),
            ("unread", _("Messages unread for over 30 seconds")),
        ]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        value = self.value()
        if value is None:
            return queryset
        conditions = self._conditions()
        wanted = conditions.values() if value == "any" else [conditions.get(value, Q())]
        query = Q()
        for condition in wanted:
            query |= condition
        return queryset.filter(query)

    def _conditions(self) -> dict[str, Q]:
        old = Now() - LONG
        running = Run.objects.filter(status="running", started_at__lt=old)
        unread = Message.objects.filter(status="pending", created_at__lt=old)
        return {
            "quarantined": Q(quarantined_at__isnull=False),
            "expired": Q(status="running", lease_until__lt=Now()),
            "long": Q(pk__in=running.values("thread")),
            "unread": Q(pk__in=unread.values("thread")),
        }
