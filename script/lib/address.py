"""What script/server must know of the settings before Django is up.

`check` says whether the port can be had, `is-demo` whether DEBUG is on, `announce PID` prints the
address and the sign-ins once the server, process PID, answers.
"""

import os
import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from config import env

WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
SIGN_INS = """\
sign in   lilei, wangfang, hanmei, zhaoqiang (staff), admin (administrator)
password  roomwise-demo
"""


def check() -> int:
    host, port = env.read("HOST"), env.read("PORT")
    try:
        family, kind, proto, _, address = _address(host, port)
        with socket.socket(family, kind, proto) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, OverflowError) as error:
        sys.stderr.write(
            f"Roomwise cannot listen on {host}, port {port}: {error}\n"
            "Stop what uses the port, or choose another: PORT=8001 script/server\n"
        )
        return 1
    return 0


def is_demo() -> int:
    return 0 if env.read("DEBUG") else 1


def announce(pid: int) -> int:
    host, port = env.read("HOST"), env.read("PORT")
    host = WILDCARDS.get(host, host)
    family, kind, proto, _, address = _address(host, port)
    while _is_alive(pid):
        with socket.socket(family, kind, proto) as probe:
            if probe.connect_ex(address) == 0:
                shown = f"[{host}]" if ":" in host else host
                sys.stdout.write(f"\nRoomwise  http://{shown}:{port}/   (Ctrl-C ends it)\n")
                sys.stdout.write(SIGN_INS if env.read("DEBUG") else "")
                return 0
        time.sleep(0.1)
    return 1


def _address(host: str, port: int) -> tuple[int, int, int, str, tuple[str, int]]:
    return socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
        0
    ]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def main(verb: str, *arguments: str) -> int:
    try:
        if verb == "check":
            return check()
        if verb == "is-demo":
            return is_demo()
        return announce(int(arguments[0]))
    except env.BadSetting as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
