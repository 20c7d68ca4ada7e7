"""Django's handle on the runtime."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AgentRuntimeConfig(AppConfig):
    name = "agentruntime"
    verbose_name = _("Agent runtime")
    default_auto_field = "django.db.models.BigAutoField"
