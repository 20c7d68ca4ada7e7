"""What can go wrong in the runtime: one tree, each with a stable code and its data.

Edges map codes to people's text, HTTP status and close codes. Imports nothing of the project.
"""


class RuntimeFault(Exception):
    """The runtime could not do what was asked."""

    code = "internal"
    retry = True


class BadFrame(RuntimeFault):
    """A frame is not the JSON object the protocol asks for."""

    code = "bad_json"
    retry = False

    def __init__(self, why: str, *, code: str = "bad_json") -> None:
        super().__init__(why)
        self.code = code


class ThreadNotFound(RuntimeFault):
    """There is no such thread for this person; a foreign one looks just the same."""

    code = "not_found"
    retry = False


class CheckpointNotFound(RuntimeFault):
    """The thread has no such checkpoint: never had it, or it was pruned away."""

    code = "not_found"
    retry = False


class SandboxBusy(RuntimeFault):
    """The sandbox thread is running already."""

    code = "busy"


class SandboxFailed(RuntimeFault):
    """A node raised in a sandbox run; nothing of the turn was written."""

    code = "internal"
    retry = False


class NotPromotable(RuntimeFault):
    """A sandbox thread cannot take its original's place. code: why.

    `moved_on`: the original stands elsewhere by now. `busy`: one of them runs, or has unread
    words. `simulated`: the sandbox believes in an effect that never happened. `no_original`.
    """

    code = "conflict"

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class ThreadArchived(RuntimeFault):
    """The thread is closed; a new one has to be started."""

    code = "archived"
    retry = False


class StaleAnswer(RuntimeFault):
    """The answer is to a question that is no longer open."""

    code = "stale_answer"
    retry = False


class AlreadyRead(RuntimeFault):
    """The message is being answered, or was never there: it cannot be taken back."""

    code = "already_read"
    retry = False


class Quarantined(RuntimeFault):
    """Running these messages ended their worker again and again: they are set aside."""

    code = "quarantined"
    retry = False


class InboxFull(RuntimeFault):
    """Too many messages of this thread wait to be read."""

    code = "busy"


class RunSuperseded(RuntimeFault):
    """The run lost its thread: a newer run version holds it."""

    code = "conflict"


class RunTimedOut(RuntimeFault):
    """The run took longer than a run may."""

    code = "timeout"


class StorageUnavailable(RuntimeFault):
    """The database did not answer; nothing was stored."""

    code = "upstream"


class UnsaveableState(RuntimeFault):
    """A node returned a value that a checkpoint cannot hold."""

    code = "internal"
    retry = False

    def __init__(self, key: str, why: str) -> None:
        super().__init__(f"state key {key}: {why}")
        self.key = key


class UnknownAgent(RuntimeFault):
    """No agent of that name is registered."""

    code = "not_found"
    retry = False
