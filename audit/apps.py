"""Django's handle on the audit app."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "audit"
    verbose_name = _("Agent audit")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agentruntime.operations import chores
        from audit import retention

        chores.register("retention", retention.NIGHTLY_SECONDS, retention.nightly_chore)
