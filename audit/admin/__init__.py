"""The stock admin's pages about agents: read-only, linked to each other."""

from audit.admin.runtime import EffectAdmin, MessageAdmin, RunAdmin, ThreadAdmin

__all__ = ["EffectAdmin", "MessageAdmin", "RunAdmin", "ThreadAdmin"]
