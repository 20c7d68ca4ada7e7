"""Django's handle on the booking app; registers its agent when Django is ready."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class BookingConfig(AppConfig):
    name = "booking"
    verbose_name = _("Meeting rooms")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agentruntime.agents import register
        from booking import chores
        from booking.agent.planner import checks  # noqa: F401 (registers itself)
        from booking.agent.spec import SPEC

        register(replace(SPEC, as_case=_as_case))
        chores.register()


def _as_case(thread: str, labels: Mapping[int, str]) -> dict[str, Any]:
    from booking.evaluation.exporting import case_of

    return case_of(thread, labels)
