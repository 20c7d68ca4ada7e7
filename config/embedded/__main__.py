"""The command line: python -m config.embedded start|stop|status|url|run."""

import argparse
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from config import env
from config.embedded import Cluster, EmbeddedError, database_url
from config.embedded.server import server_pid, start, stop
from config.embedded.shared import SIGNALS, in_use, run

NOT_RUNNING = 3


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _command_start(cluster: Cluster, _arguments: argparse.Namespace) -> int:
    start(cluster)
    _say(f"PostgreSQL is running (process {server_pid(cluster)}): {database_url(cluster.data_dir)}")
    return 0


def _command_stop(cluster: Cluster, _arguments: argparse.Namespace) -> int:
    _say("PostgreSQL has stopped." if stop(cluster) else "PostgreSQL was not running.")
    return 0


def _command_status(cluster: Cluster, _arguments: argparse.Namespace) -> int:
    pid = server_pid(cluster)
    state = "is not running" if pid is None else f"is running (process {pid})"
    _say(f"PostgreSQL {state}.\ndata    {cluster.folder}\nlog     {cluster.log}")
    return NOT_RUNNING if pid is None else 0


def _command_url(cluster: Cluster, _arguments: argparse.Namespace) -> int:
    _say(database_url(cluster.data_dir))
    return 0


def _command_run(cluster: Cluster, arguments: argparse.Namespace) -> int:
    commands: list[list[str]] = [[]]
    for word in arguments.command:
        if word == "&&":
            commands.append([])
            continue
        commands[-1].append(word)
    if env.read("DATABASE_URL"):
        return run(commands)
    with in_use(cluster):
        return run(commands)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m config.embedded",
        description="The embedded PostgreSQL of the data folder ROOMWISE_DATA.",
    )
    verbs = parser.add_subparsers(required=True, metavar="start|stop|status|url|run")
    for name, call, about in (
        ("start", _command_start, "start it, unless it is running"),
        ("stop", _command_stop, "stop it, whoever uses it"),
        ("status", _command_status, f"say whether it is running (exit code {NOT_RUNNING}: no)"),
        ("url", _command_url, "print its URL"),
        ("run", _command_run, "run commands, separated by '&&', with it; the last user stops it"),
    ):
        verb = verbs.add_parser(name, help=about, description=about)
        verb.set_defaults(call=call)
        if name == "run":
            verb.add_argument("command", nargs=argparse.REMAINDER)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    for number in SIGNALS:
        signal.signal(number, _leave)
    try:
        return int(arguments.call(Cluster.at(env.read("ROOMWISE_DATA")), arguments))
    except (EmbeddedError, env.BadSetting) as error:
        message = str(error)
    except OSError as error:
        message = f"{error.strerror}: {error.filename}" if error.filename else str(error)
    sys.stderr.write(f"{message}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
