"""alone.py NAME COMMAND...: run it while no other of this name runs in the data folder.

For what must not happen twice at once: two migrations, two suites on one test database.
"""

import fcntl
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from config import env


def main(name: str, *command: str) -> None:
    folder = env.read("ROOMWISE_DATA")
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    os.set_inheritable(handle, True)  # noqa: FBT003 - held as long as the command lives
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.stdout.write(f"Waiting for another {name} to end ...\n")
        sys.stdout.flush()
        fcntl.flock(handle, fcntl.LOCK_EX)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
