"""The embedded PostgreSQL, for real: every test starts servers in folders of its own."""
# ruff: noqa: S603, S607 - real processes are what is tested here

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from config import embedded
from config.embedded import Cluster, account, database_url, options, server
from config.embedded.__main__ import NOT_RUNNING
from config.tests.places import make_folder

ROOT = Path(__file__).resolve().parent.parent.parent
IS_ROOT = os.geteuid() == 0
as_root_only = pytest.mark.skipif(not IS_ROOT, reason="needs root")


def environment(data: Path, **more: str) -> dict[str, str]:
    own = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    return {**own, "ROOMWISE_DATA": str(data), **more}


def spawn(data: Path, *words: str, **options: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "config.embedded", *words],
        cwd=ROOT,
        env=environment(data),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def cli(data: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    with spawn(data, *words) as process:
        out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def start(data: Path) -> None:
    done = cli(data, "start")
    assert done.returncode == 0, done.stderr


def pid_of(data: Path) -> int | None:
    return server.server_pid(Cluster.at(data))


def ask(data: Path, statement: str, **options: Any) -> Any:
    with psycopg.connect(database_url(data), **options) as connection:
        row = connection.execute(statement).fetchone()
    assert row is not None
    return row[0] if len(row) == 1 else row


def eventually(condition: Callable[[], bool], *, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def left_in(data: Path) -> list[str]:
    """The commands of living processes that work in this data folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").resolve().is_relative_to(data):
                found.append((process / "cmdline").read_text())
    return found


def kill(pid: int) -> None:
    """kill -9, and wait until it is gone (a zombie of ours is gone)."""
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: not server.is_alive(pid))


@pytest.fixture
def folder() -> Iterator[Callable[[str], Path]]:
    """Make folders short enough for a socket; whatever runs in them is stopped."""
    top = make_folder()
    made: list[Path] = []

    def make(name: str = "data") -> Path:
        path = top / name
        path.mkdir(parents=True)
        made.append(path)
        return path

    yield make
    for path in made:
        cli(path, "stop")
    shutil.rmtree(top)


@pytest.fixture
def empty(folder: Callable[[str], Path]) -> Path:
    return folder("data")


@pytest.fixture(scope="module")
def initialised() -> Iterator[Path]:
    top = make_folder()
    start(top)
    cli(top, "stop")
    yield top / "postgres"
    shutil.rmtree(top)


@pytest.fixture
def data(empty: Path, initialised: Path) -> Path:
    """A data folder whose database has been made, and is not running."""
    subprocess.run(["cp", "-a", str(initialised), str(empty)], check=True)
    return empty


# The URL


def test_the_url_is_a_function_of_the_path_and_starts_nothing(tmp_path: Path) -> None:
    place = tmp_path / "my data"
    first = database_url(place)
    assert first == database_url(place)
    assert conninfo_to_dict(first) == {
        "user": "roomwise",
        "dbname": "roomwise",
        "host": str(Cluster.at(place).socket_folder),
        "port": "5432",
    }
    assert not place.exists()


def test_the_url_is_the_same_through_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert database_url(tmp_path / "link") == database_url(tmp_path / "real")


@pytest.mark.parametrize("name", ["x" * 120, "会议室" * 20, "a,b"])
def test_a_path_that_does_not_do_for_a_socket_is_replaced_by_a_short_one(name: str) -> None:
    one, other = (Cluster.at(Path("/srv") / f"{name}{end}") for end in "12")
    assert one.socket_folder != one.folder
    assert len(os.fsencode(one.socket)) <= 107
    assert one.socket_folder != other.socket_folder


def test_the_longest_path_that_fits_is_used_in_place() -> None:
    room = embedded.SOCKET_PATH_BYTES - len(os.fsencode(Cluster(Path("/")).socket))
    fits, too_long = (Cluster(Path("/" + "x" * length)) for length in (room - 1, room))
    assert fits.socket_folder == fits.folder
    assert too_long.socket_folder != too_long.folder


# Start


def test_start_makes_a_private_database_with_our_settings(empty: Path) -> None:
    start(empty)
    wanted = dict(options.SERVER_SETTINGS)
    with psycopg.connect(database_url(empty)) as connection:
        found = {
            name: connection.execute("select current_setting(%s)", [name]).fetchone()[0]  # type: ignore[index]
            for name in wanted
        }
        connection.execute("create extension btree_gist")
        connection.execute("select count(*) from pg_stat_statements")
    assert found == wanted
    assert (empty / "postgres").stat().st_mode & 0o777 == 0o700
    assert ask(empty, "show server_encoding") == "UTF8"
    assert ask(
        empty, "select rolsuper, rolcreatedb from pg_roles where rolname = current_user"
    ) == (
        False,
        True,
    )
    ask(
        empty, "select 1", dbname="template1"
    )  # what the test runner's new databases are copied from


def test_start_twice_is_one_server(data: Path) -> None:
    start(data)
    first = pid_of(data)
    start(data)
    assert first is not None
    assert pid_of(data) == first
    assert cli(data, "status").returncode == 0


def test_starters_at_once_agree_on_one_server(empty: Path) -> None:
    starters = [spawn(empty, "start") for _ in range(4)]
    for starter in starters:
        starter.communicate(timeout=60)
    assert [starter.returncode for starter in starters] == [0] * 4
    assert (
        ask(empty, "select count(*) from pg_stat_activity where backend_type = 'checkpointer'") == 1
    )


def test_what_was_written_survives_kill_9(data: Path) -> None:
    start(data)
    with psycopg.connect(database_url(data), autocommit=True) as connection:
        connection.execute("create table kept as select 42 as answer")
    first = pid_of(data)
    assert first is not None
    kill(first)
    assert (data / "postgres" / "postmaster.pid").exists()
    assert cli(data, "status").returncode == NOT_RUNNING
    start(data)
    assert pid_of(data) != first
    assert ask(data, "select answer from kept") == 42


def test_a_stale_pid_file_that_names_a_living_stranger_is_no_server(data: Path) -> None:
    start(data)
    cli(data, "stop")
    with subprocess.Popen(["sleep", "60"]) as stranger:
        (data / "postgres" / "postmaster.pid").write_text(f"{stranger.pid}\n{data}\n1\n5432\n")
        stopped = cli(data, "stop")
        assert "not running" in stopped.stdout
        start(data)
        assert stranger.poll() is None
        stranger.kill()
    assert pid_of(data) != stranger.pid


def test_a_half_made_cluster_is_made_anew(empty: Path) -> None:
    (empty / "postgres.new" / "base").mkdir(parents=True)
    (empty / "postgres").mkdir()
    start(empty)
    assert ask(empty, "select 1") == 1
    assert not (empty / "postgres.new").exists()


@pytest.mark.parametrize("name", ["with 'a' \"space\"", "长" * 50, "a,b"])
def test_any_path_will_do(folder: Callable[[str], Path], name: str) -> None:
    data = folder(name)
    start(data)
    assert ask(data, "select 1") == 1
    short = Cluster.at(data).socket_folder
    assert short.stat().st_mode & 0o777 == 0o700
    cli(data, "stop")
    assert short == Cluster.at(data).folder or not short.exists()


# Stop


def test_stop_ends_our_server_and_no_other(folder: Callable[[str], Path]) -> None:
    mine, other = folder("mine"), folder("other")
    start(mine)
    start(other)
    pid = pid_of(mine)
    assert pid is not None
    assert cli(mine, "stop").returncode == 0
    assert not server.is_alive(pid)
    assert pid_of(mine) is None
    assert ask(other, "select 1") == 1
    assert "not running" in cli(mine, "stop").stdout


# Refusals: a message and an exit code, never a traceback


def refused(data: Path, *, because: str) -> None:
    done = cli(data, "start")
    assert done.returncode == 1
    assert because in done.stderr
    assert "Traceback" not in done.stderr


def test_refuses_data_of_another_version(empty: Path) -> None:
    (empty / "postgres").mkdir()
    (empty / "postgres" / "PG_VERSION").write_text("17\n")
    if IS_ROOT:
        shutil.chown(empty / "postgres", "nobody")
    refused(empty, because="written by PostgreSQL 17")


def test_refuses_a_folder_with_something_else_in_it(empty: Path) -> None:
    (empty / "postgres").mkdir()
    (empty / "postgres" / "letter.txt").write_text("keep me")
    refused(empty, because="holds no PostgreSQL data")
    assert (empty / "postgres" / "letter.txt").read_text() == "keep me"


def test_refuses_a_folder_another_server_uses(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start(data)
    pid = pid_of(data)
    assert pid is not None
    socket = Cluster.at(data).socket
    hidden = socket.with_name("elsewhere")
    socket.rename(hidden)  # it lives, and does not answer where we ask
    monkeypatch.setattr(server, "ORPHAN_SECONDS", 0.2)
    with pytest.raises(embedded.EmbeddedError, match=f"another PostgreSQL server.*process {pid}"):
        server.start(Cluster.at(data))
    hidden.rename(socket)


def test_refuses_a_data_path_that_is_a_file(empty: Path) -> None:
    (empty / "file").write_text("")
    done = cli(empty / "file", "start")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "file" in done.stderr


@pytest.mark.skipif(not (IS_ROOT and shutil.which("mount")), reason="mounts a small disk as root")
def test_says_when_the_disk_is_full(empty: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", str(empty)], check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    filler = empty / "filler"
    try:
        filler.write_bytes(bytes(200 * 2**20))
        refused(empty, because="The disk is full: a new database needs")
        filler.unlink()
        start(empty)
        cli(empty, "stop")
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(2**16))
        refused(empty, because="The disk is full")
        filler.unlink()
        start(empty)
        assert ask(empty, "select 1") == 1
        cli(empty, "stop")
    finally:
        subprocess.run(["umount", str(empty)], check=True)


# As root, and as an ordinary user on the same machine


def modes_up(path: Path) -> dict[Path, tuple[int, int, int]]:
    found = {}
    for place in (path, *path.parents):
        state = place.stat()
        found[place] = (state.st_mode, state.st_uid, state.st_gid)
    return found


@as_root_only
def test_root_needs_no_change_to_a_parent_folder_nobody_else_can_enter(
    folder: Callable[[str], Path],
) -> None:
    data = folder("home/project/var")
    home = data.parent.parent
    home.chmod(0o700)
    before = modes_up(data)
    wheel = modes_up(Path(embedded.__file__).parent) | modes_up(Path(sys.prefix))
    start(data)
    assert ask(data, "select 1") == 1
    assert Path(f"/proc/{pid_of(data)}").stat().st_uid != 0
    cli(data, "stop")
    assert modes_up(data) == before
    assert modes_up(Path(embedded.__file__).parent) | modes_up(Path(sys.prefix)) == wheel


def test_the_data_of_another_user_is_refused_by_name(empty: Path) -> None:
    place = empty / "postgres"
    place.mkdir()
    if IS_ROOT:
        shutil.chown(place, "nobody")
        shutil.chown(empty, "daemon")
        empty.parent.chmod(0o755)
        done = as_user("daemon", empty, "start")
    else:
        done = cli(Path("/"), "start")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert ("belongs to user nobody" if IS_ROOT else "denied") in done.stderr


def as_user(name: str, data: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run the module as somebody who cannot read root's virtual environment's Python."""
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    packages = Path(psycopg.__file__).parent.parent
    program = "import sys, config.env, psycopg; sys.exit(sys.version_info < (3, 11))"
    probe = [python or "false", "-c", program]
    command = [python or "false", "-m", "config.embedded", *words]
    clean = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{ROOT}:{packages}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "ROOMWISE_DATA": str(data),
    }
    options: dict[str, Any] = {"user": name, "cwd": "/", "env": clean, "extra_groups": []}
    if subprocess.run(probe, capture_output=True, check=False, **options).returncode:
        pytest.skip("no Python 3.11 that an ordinary user can use with this checkout")
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@as_root_only
def test_an_ordinary_user_runs_it_in_place(empty: Path) -> None:
    empty.parent.chmod(0o755)
    shutil.chown(empty, "daemon")
    done = as_user("daemon", empty, "start")
    assert done.returncode == 0, done.stderr
    pid = pid_of(empty)
    command = Path(f"/proc/{pid}/cmdline").read_text()
    assert Path(f"/proc/{pid}").owner() == "daemon"
    assert str(account.COPIES) not in command
    assert ask(empty, "select 1") == 1  # root may use it as well
    cli(empty, "stop")
    start(empty)  # and start it, as its owner
    assert Path(f"/proc/{pid_of(empty)}").owner() == "daemon"


# Shared use


def running(data: Path) -> bool:
    return pid_of(data) is not None


def sleeper(data: Path) -> "subprocess.Popen[str]":
    process = spawn(data, "run", "sh", "-c", "echo up; exec sleep 60")
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    return process


def end(process: "subprocess.Popen[str]", number: int) -> int:
    process.send_signal(number)
    process.communicate(timeout=30)
    return process.returncode


def test_the_last_user_out_stops_it(data: Path) -> None:
    first, second = sleeper(data), sleeper(data)
    assert end(first, signal.SIGTERM) == 128 + signal.SIGTERM
    assert running(data)
    assert end(second, signal.SIGINT) == 128 + signal.SIGINT
    assert not running(data)


def test_a_user_that_crashes_is_counted_out(data: Path) -> None:
    crashed, second = sleeper(data), sleeper(data)
    end(crashed, signal.SIGKILL)
    assert running(data)
    end(second, signal.SIGTERM)
    assert not running(data)


def test_a_crashed_user_leaves_it_for_the_next(data: Path) -> None:
    end(sleeper(data), signal.SIGKILL)
    left = pid_of(data)
    following = sleeper(data)
    assert left is not None
    assert pid_of(data) == left
    end(following, signal.SIGTERM)
    assert not running(data)


@pytest.mark.parametrize("seconds", [0, 0.4, 0.8, 1.2])
def test_leaving_while_it_starts_leaves_nothing_behind(empty: Path, seconds: float) -> None:
    process = spawn(empty, "run", "sleep", "60")
    assert eventually((empty / "postgres.lock").exists)
    time.sleep(seconds)
    assert end(process, signal.SIGTERM) == 128 + signal.SIGTERM
    assert eventually(lambda: left_in(empty) == [])
    start(empty)
    assert ask(empty, "select 1") == 1


def test_commands_run_in_order_until_one_fails(data: Path) -> None:
    done = cli(data, "run", "echo", "one", "&&", "sh", "-c", "exit 7", "&&", "echo", "three")
    assert (done.returncode, done.stdout) == (7, "one\n")
    assert not running(data)


def test_a_signal_reaches_the_command_once_and_is_waited_for(data: Path) -> None:
    program = (
        "import signal, sys, time\n"
        "got = []\n"
        "signal.signal(signal.SIGINT, lambda *_: got.append(1))\n"
        "print('up', flush=True)\n"
        "time.sleep(0.1)\n"
        "while not got: time.sleep(0.05)\n"
        "time.sleep(0.5); print('drained', len(got), flush=True)\n"
    )
    process = spawn(data, "run", sys.executable, "-c", program, process_group=0)
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal's Ctrl-C does
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "drained 1\n")
    assert not running(data)


def test_the_command_ends_with_its_starter(data: Path) -> None:
    process = spawn(data, "run", "sh", "-c", "echo $$; exec sleep 60")
    assert process.stdout is not None
    child = int(process.stdout.readline())
    end(process, signal.SIGKILL)
    assert eventually(lambda: not server.is_alive(child))


def test_a_database_url_leaves_the_embedded_one_alone(empty: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "config.embedded", "run", "true"],
        cwd=ROOT,
        env=environment(empty, DATABASE_URL="postgresql://elsewhere/roomwise"),
        check=False,
    )
    assert done.returncode == 0
    assert list(empty.iterdir()) == []
