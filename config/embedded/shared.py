"""Run commands with the embedded PostgreSQL up; the last user out stops it."""

import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

from config.embedded import Cluster
from config.embedded.account import lock
from config.embedded.server import changing, start_locked, stop_locked

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def in_use(cluster: Cluster) -> Iterator[None]:
    """Have the server running meanwhile; the last user out stops it.

    A user is a shared lock on postgres.users, so one that dies is counted out by the kernel.
    """
    users = cluster.data_dir / "postgres.users"
    try:
        with contextlib.ExitStack() as stack:
            with changing(cluster):
                start_locked(cluster)
                stack.enter_context(lock(users, fcntl.LOCK_SH))
            yield
    finally:
        with (
            changing(cluster),
            contextlib.suppress(BlockingIOError),
            lock(users, fcntl.LOCK_EX | fcntl.LOCK_NB),
        ):
            stop_locked(cluster)


def run(commands: Sequence[Sequence[str]]) -> int:
    """Run the commands one after the other until one fails; the exit code is the last one's.

    Each has its own process group and, where there is one, the terminal, so that a Ctrl-C or a
    signal to this process reaches it exactly once. It is told to end when this process dies.
    """
    code = 0
    for command in commands:
        code = _Child().run(command)
        if code:
            break
    return code


class _Child:
    """One command in the foreground; takes this process's signals while it runs."""

    def __init__(self) -> None:
        self.pid: int | None = None
        self.early: list[int] = []

    def run(self, command: Sequence[str]) -> int:
        terminal = sys.stdin.isatty() and os.tcgetpgrp(0) == os.getpgrp()
        before = {number: signal.signal(number, self._forward) for number in SIGNALS}
        if terminal:  # we hand it over and take it back ourselves; nobody would wake a Ctrl-Z
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        try:
            process = subprocess.Popen(  # noqa: S603 - the caller's own command line
                command, process_group=0, preexec_fn=_end_with_parent()
            )
            self._is_running(process.pid)
            if terminal:
                os.tcsetpgrp(0, process.pid)
            code = process.wait()
        finally:
            if terminal:
                os.tcsetpgrp(0, os.getpgrp())
            for number, handler in before.items():
                signal.signal(number, handler)
        return code if code >= 0 else 128 - code

    def _is_running(self, pid: int) -> None:
        self.pid = pid
        for number in self.early:
            self._forward(number, None)

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        if self.pid is None:
            self.early.append(number)
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)


def _end_with_parent() -> Callable[[], None] | None:
    """What a new process calls to be sent SIGTERM when we die, where the kernel can do that."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    set_parent_death_signal = 1
    return lambda: libc.prctl(set_parent_death_signal, signal.SIGTERM)
