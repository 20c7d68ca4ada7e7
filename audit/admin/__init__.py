"""The stock admin's pages about agents: read-only, linked to each other."""

from audit.admin.runtime import EffectAdmin, MessageAdmin, RunAdmin, ThreadAdmin
from audit.admin.workers import ChoreAdmin, SessionAdmin, WorkerAdmin

__all__ = [
    "ChoreAdmin",
    "EffectAdmin",
    "MessageAdmin",
    "RunAdmin",
    "SessionAdmin",
    "ThreadAdmin",
    "WorkerAdmin",
]
