"""Failpoints: named points of a turn at which a process under test dies, waits or hangs.

They are no part of the product. A test starts a server with `change=INSTALL`, which wraps the
functions around which the points lie, and arms a point by a file of its name; the first process
that comes there takes the file, so each happens once.
"""

import asyncio
import functools
import inspect
import os
import signal
import threading
import time
from importlib import import_module
from pathlib import Path

from tests.processes.pages import until

INSTALL = "from tests.processes import failpoints; failpoints.install()"
FOLDER = "FAILPOINTS"
LOOK_SECONDS = 0.01

# What happens to the process that comes to an armed point:
KILL = "kill"  # it is gone, as after a power cut
WAIT = "wait"  # the run waits until it is let go; the process goes on
HANG = "hang"  # the whole event loop stands still until it is let go

# The nodes of the booking graph by their modules and functions. A node has done its work when it is
# hit, and nothing is saved; those that ask or act are hit before they do theirs.
NODES = {
    "understand": ("nodes", "understand_said", "after"),
    "clarify": ("nodes", "clarify", "after"),
    "search": ("nodes", "search", "after"),
    "ask": ("nodes", "ask", "before"),
    "book": ("nodes", "book", "before"),
    "target": ("changing", "find_target", "after"),
    "change": ("changing", "change", "before"),
    "check_in": ("attending", "check_in", "before"),
    "answer": ("nodes", "answer", "after"),
}


def install() -> None:
    """Wrap the product's functions in this process, before it serves."""
    from agentruntime.execution import effects, runner
    from agentruntime.orchestration import delivery, inbox
    from agentruntime.persistence import store
    from booking.agent import acts

    folder = Path(os.environ[FOLDER])
    wrap = functools.partial(_wrap, folder)
    wrap(inbox, "accept", after="accepted")
    wrap(runner.Run, "execute", before="claimed")
    for node, (module, function, when) in NODES.items():
        wrap(import_module(f"booking.agent.{module}"), function, **{when: node})
    for act in ("book", "change", "check_in"):
        wrap(acts, act, after="effect_before_commit")
    wrap(effects, "perform", after="effect_after_commit")
    wrap(store, "commit_turn", before="before_commit", after="after_commit")
    wrap(delivery.Delivery, "tell", before="before_delivery", only=_is_turn)


def _is_turn(delivery, event, **_) -> bool:
    return type(event).__name__ == "ThreadChanged"


def _wrap(folder: Path, owner, name: str, *, before="", after="", only=lambda *_, **__: True):
    original = getattr(owner, name)
    if inspect.iscoroutinefunction(original):

        @functools.wraps(original)
        async def wrapped(*args, **kwargs):
            await _pass(folder, before)
            result = await original(*args, **kwargs)
            await _pass(folder, after)
            return result

    else:

        @functools.wraps(original)
        def wrapped(*args, **kwargs):
            if only(*args, **kwargs):
                _pass_in_thread(folder, before)
            result = original(*args, **kwargs)
            _pass_in_thread(folder, after)
            return result

    setattr(owner, name, wrapped)


async def _pass(folder: Path, point: str) -> None:
    reached = _taken(folder, point)
    while reached and reached.exists():
        if reached.read_text() == HANG:
            _stand_still(reached)
        await asyncio.sleep(LOOK_SECONDS)


def _pass_in_thread(folder: Path, point: str) -> None:
    reached = _taken(folder, point)
    if reached:
        assert threading.current_thread() is not threading.main_thread()
        _stand_still(reached)


def _stand_still(reached: Path) -> None:
    while reached.exists():
        time.sleep(LOOK_SECONDS)


def _taken(folder: Path, point: str) -> Path | None:
    """The file of a point that was armed, taken by this process; not returned from if it dies."""
    if not point:
        return None
    reached = folder / f"{point}.reached"
    try:
        (folder / point).rename(reached)
    except FileNotFoundError:
        return None
    os.utime(reached)
    if reached.read_text() == KILL:
        os.kill(os.getpid(), signal.SIGKILL)
    return reached


class Failpoints:
    """The test's side: arm points, wait until one is reached, let go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {FOLDER: str(folder)}

    def arm(self, point: str, action: str) -> None:
        fresh = self.folder / f"{point}.new"
        fresh.write_text(action)
        fresh.rename(self.folder / point)

    def reached(self, point: str) -> float:
        """Wait until a process comes to an armed point; when it did (seconds since the epoch)."""
        file = self.folder / f"{point}.reached"
        until(file.exists)
        return file.stat().st_mtime

    def let_go(self, point: str) -> None:
        (self.folder / f"{point}.reached").unlink()

    def clear(self) -> None:
        """Nothing is armed, and whoever waits goes on."""
        for file in self.folder.iterdir():
            file.unlink()
