"""A worker's heartbeat: from a thread of its own, so that a blocked event loop is not death."""

import asyncio
import logging
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence

import psutil
import psycopg

from agentruntime.orchestration.driver import Progress
from agentruntime.persistence import fleet
from agentruntime.persistence.fleet import Beat

log = logging.getLogger(__name__)

# How often the event loop is asked whether it answers.
PROBE_SECONDS = 0.25
CONNECT_SECONDS = 5
# A process whose loop hangs for good is no use: it ends, and whoever started it starts it again.
EXIT_HUNG = 70


class Heartbeat(threading.Thread):
    """Writes the worker's row every beat, and at once when its status changes.

    holds: the runs in progress, called from this thread. is_draining: likewise.
    hung_after: seconds without an answer of the loop after which its stack is logged and the
    worker calls itself in error. exit_after: seconds after which the process ends; 0 for never.
    """

    def __init__(
        self,
        worker: str,
        *,
        conninfo: str,
        loop: asyncio.AbstractEventLoop,
        beat: float,
        holds: Callable[[], Sequence[Progress]],
        is_draining: Callable[[], bool],
        hung_after: float,
        exit_after: float,
    ) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._worker = worker
        self._conninfo = conninfo
        self._loop = loop
        self._beat = beat
        self._holds = holds
        self._is_draining = is_draining
        self._hung_after = hung_after
        self._exit_after = exit_after
        self._stopping = threading.Event()
        self._loop_thread = threading.get_ident()
        self._asked: float | None = None
        self._lag = 0.0
        self._is_hung = False
        self._steps = 0
        self._process = psutil.Process()
        self._connection: psycopg.Connection[object] | None = None

    def stop(self) -> None:
        """Write a last row, which says that the worker has ended, and end (within seconds)."""
        self._stopping.set()

    def run(self) -> None:
        self._process.cpu_percent()
        said, due = "", 0.0
        while not self._stopping.wait(min(PROBE_SECONDS, self._beat)):
            self._probe()
            status = self._status()
            if status != said or time.monotonic() >= due:
                self._report(status)
                said, due = status, time.monotonic() + self._beat
        self._report("ended")
        if self._connection is not None:
            self._connection.close()

    def _probe(self) -> None:
        """Ask the loop to answer; measure how long it takes, or has taken so far."""
        now = time.monotonic()
        if self._asked is not None:
            self._lag = max(self._lag, now - self._asked)
            self._mind(now - self._asked)
            return
        self._asked = now
        try:
            self._loop.call_soon_threadsafe(self._answer, now)
        except RuntimeError:  # the loop is closed: the process is ending
            self._asked = None

    def _answer(self, asked: float) -> None:
        self._lag = max(self._lag, time.monotonic() - asked)
        self._asked = None

    def _mind(self, silence: float) -> None:
        if silence < self._hung_after:
            self._is_hung = False
            return
        if not self._is_hung:
            self._is_hung = True
            frame = sys._current_frames().get(self._loop_thread)
            stack = "".join(traceback.format_stack(frame)) if frame else ""
            log.error("loop_hung seconds=%.1f\n%s", silence, stack)
        if self._exit_after and silence > self._exit_after:
            log.critical("loop_hung_for_good seconds=%.1f", silence)
            os._exit(EXIT_HUNG)

    def _status(self) -> str:
        if self._asked is None or time.monotonic() - self._asked < self._hung_after:
            self._is_hung = False
        if self._is_hung:
            return "error"
        if self._is_draining():
            return "terminating"
        return "processing" if self._holds() else "idle"

    def _report(self, status: str) -> None:
        try:
            if self._connection is None or self._connection.closed:
                self._connection = psycopg.connect(
                    self._conninfo, autocommit=True, connect_timeout=CONNECT_SECONDS
                )
            fleet.report(self._connection, self._account(status))
        except psycopg.Error as error:
            log.warning("heartbeat_not_written error=%s", type(error).__name__)
            if self._connection is not None:
                self._connection.close()

    def _account(self, status: str) -> Beat:
        held = self._holds() if status != "ended" else ()
        now = time.monotonic()
        stillest = min(held, key=lambda run: run.moved_at, default=None)
        lag, self._lag = self._lag, 0.0
        with self._process.oneshot():
            cpu, memory = self._process.cpu_percent(), self._process.memory_info().rss
        return Beat(
            id=self._worker,
            host=socket.gethostname()[:120],
            pid=os.getpid(),
            status=status,
            threads=[run.thread for run in held],
            runs=[run.run for run in held],
            step=stillest.step if stillest else "",
            steps=stillest.steps if stillest else 0,
            tool=stillest.tool if stillest else "",
            still_seconds=round(now - stillest.moved_at, 1) if stillest else 0.0,
            cpu_percent=cpu,
            memory_mb=round(memory / 2**20, 1),
            loop_lag_ms=round(lag * 1000, 1),
            beat_seconds=self._beat,
        )
