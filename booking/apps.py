"""Django's handle on the booking app; registers its agent when Django is ready."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

# Nothing waits for it: what has lapsed is read from the data.
EVERY_SECONDS = 30.0


class BookingConfig(AppConfig):
    name = "booking"
    verbose_name = _("Meeting rooms")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agentruntime import agents
        from agentruntime.operations.chores import register
        from booking import chores
        from booking.agent.spec import SPEC

        agents.register(SPEC)
        register("mind bookings", EVERY_SECONDS, chores.run)
