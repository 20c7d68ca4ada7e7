"""Start and stop the embedded PostgreSQL, whatever state the last process left it in."""

import contextlib
import fcntl
import importlib.metadata
import locale
import os
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from config.embedded import DISTRIBUTION, ROLE, Cluster, EmbeddedError
from config.embedded.account import (
    CWD,
    Account,
    account_for,
    binaries_for,
    lock,
    open_beside_the_data,
)
from config.embedded.options import FIRST_STATEMENTS, INITDB_OPTIONS, SERVER_SETTINGS

FREE_BYTES_TO_INITIALISE = 256 * 2**20
LOG_BYTES = 10 * 2**20
START_SECONDS = 60
STOP_SECONDS = 60
ORPHAN_SECONDS = 10


def _environment() -> dict[str, str]:
    """What the server inherits: nothing that could point it, or its clients, elsewhere."""
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


@contextlib.contextmanager
def changing(cluster: Cluster) -> Iterator[None]:
    """Only one process at a time starts or stops the server of a data folder."""
    cluster.data_dir.mkdir(parents=True, exist_ok=True)
    with lock(cluster.data_dir / "postgres.lock", fcntl.LOCK_EX):
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


def is_alive(pid: int) -> bool:
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
    if not is_alive(pid):
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
    with changing(cluster):
        start_locked(cluster)


def start_locked(cluster: Cluster) -> None:
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
        handle = open_beside_the_data(cluster.log, os.O_WRONLY | os.O_APPEND)
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
        try:
            if _wait_until_ready(cluster, process):
                return
        except BaseException:
            process.send_signal(signal.SIGINT)  # we were told to leave before it was up
            process.wait(STOP_SECONDS)
            raise
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
    with changing(cluster):
        return stop_locked(cluster)


def stop_locked(cluster: Cluster) -> bool:
    pid = server_pid(cluster)
    if pid is None:
        return False
    account_for(cluster)
    os.kill(pid, signal.SIGINT)
    deadline = time.monotonic() + STOP_SECONDS
    while is_alive(pid):
        if time.monotonic() > deadline:
            raise EmbeddedError(f"PostgreSQL (process {pid}) does not stop; see {cluster.log}.")
        time.sleep(0.02)
    if cluster.socket_folder != cluster.folder:
        with contextlib.suppress(OSError):
            cluster.socket_folder.rmdir()
    return True
