"""The stock admin's pages about agents: what was said, ran and was done, and time travel."""

from audit.admin.keeping import RetentionRuleAdmin
from audit.admin.ledger import OperationAdmin, PinAdmin
from audit.admin.runtime import EffectAdmin, MessageAdmin, RunAdmin
from audit.admin.threads import AuditedThreadAdmin
from audit.admin.workers import ChoreAdmin, SessionAdmin, WorkerAdmin

__all__ = [
    "AuditedThreadAdmin",
    "ChoreAdmin",
    "EffectAdmin",
    "MessageAdmin",
    "OperationAdmin",
    "PinAdmin",
    "RetentionRuleAdmin",
    "RunAdmin",
    "SessionAdmin",
    "WorkerAdmin",
]
