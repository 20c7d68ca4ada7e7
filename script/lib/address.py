"""What script/server must know of the settings before Django is up.

`check` says whether the port can be had, `is-demo` whether DEBUG is on.
"""

import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from config import env


def check() -> int:
    host, port = env.read("HOST"), env.read("PORT")
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
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


if __name__ == "__main__":
    try:
        sys.exit({"check": check, "is-demo": is_demo}[sys.argv[1]]())
    except env.BadSetting as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
