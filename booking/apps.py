"""Django's handle on the booking app; registers its agent when Django is ready."""

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

        register(SPEC)
        chores.register()
