"""What can go wrong for an operator: one tree, each with words for people. No Django models."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class AuditError(Exception):
    """An operator's act was refused; nothing was changed."""

    text: str | Promise = _("This cannot be done.")

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else str(self.text)


class ReasonMissing(AuditError):
    """Every act needs a reason."""

    text = _("Please say why.")


class ThreadBusy(AuditError):
    """A run is active on the thread."""

    text = _("The thread is running just now; try again in a moment.")


class ThreadMovedOn(AuditError):
    """The thread no longer stands where the operator saw it."""

    text = _("The thread has moved on since this page was opened; look again.")


class NotPromotable(AuditError):
    """The fork cannot become the live thread."""

    text = _(
        "This fork cannot go live: its original is gone, or it believes in something that was"
        " only simulated."
    )


class IdMistyped(AuditError):
    """What was typed is not the end of the live thread's id."""

    text = _("That is not the end of the live thread's id.")


class RunFailed(AuditError):
    """A step of the agent failed in a sandbox."""


class NoCase(AuditError):
    """The conversation cannot become an evaluation case."""

    text = _("This conversation cannot become a case: %(why)s.")

    def __init__(self, why: str) -> None:
        super().__init__(str(self.text) % {"why": why})


class UnknownLabel(AuditError):
    """A label the orchestrator does not know."""

    text = _("There is no such label.")
