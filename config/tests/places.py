"""Where these tests work: folders with short paths, in memory where there is room."""

import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - mkdtemp makes it ours alone
ROOM = 2**30


def make_folder() -> Path:
    """A new folder, short enough for a socket; databases are made much faster in memory."""
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM
    return Path(tempfile.mkdtemp(prefix="rw-", dir=MEMORY if roomy else None))
