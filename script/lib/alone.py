"""alone.py COMMAND...: run it while no other does in this data folder (one test database each)."""

import fcntl
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from config import env


def main(command: list[str]) -> None:
    folder = env.read("ROOMWISE_DATA")
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / "alone.lock", os.O_RDWR | os.O_CREAT, 0o600)
    os.set_inheritable(handle, True)  # noqa: FBT003 - held as long as the command lives
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.stdout.write("Another script/test is running; waiting for it ...\n")
        sys.stdout.flush()
        fcntl.flock(handle, fcntl.LOCK_EX)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
