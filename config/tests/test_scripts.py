"""The scripts, run from another folder in a copy of the project whose path has spaces.

The copy has this virtual environment, the real config.embedded, and a manage.py that writes down
what it was asked and serves files; what is tested is the scripts.
"""
# ruff: noqa: S603, S607 - real processes are what is tested here

import os
import pty
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.tests.places import make_folder

ROOT = Path(__file__).resolve().parent.parent.parent

# For what needs no database: the embedded one is not started, and nothing connects.
ELSEWHERE = {"DATABASE_URL": "postgresql://elsewhere/roomwise"}
MANAGE = """
import http.server, os, signal, sys
with open("asked.txt", "a") as file:
    file.write(sys.argv[1] + "\\n")
if sys.argv[1] != "serve":
    import time
    for moment in (0, 0.5):
        time.sleep(moment)
        with open("ran.txt", "a") as file:
            file.write(f"{sys.argv[1]}-{os.getpid()}\\n")
if sys.argv[1] == os.environ.get("FAIL_AT"):
    sys.exit(9)
if sys.argv[1] == "serve":
    def leave(number, frame):
        print("drained", flush=True)
        sys.exit(0)
    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGTERM, leave)
    server = http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), http.server.BaseHTTPRequestHandler)
    print("Listening", flush=True)
    server.serve_forever()
"""


# A pytest that starts fast, for suites that only ask whether it was started well.
BARE = ("-q", "-p", "no:cacheprovider", "test_probe.py")
NO_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def left_in(project: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve().is_relative_to(project):
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return [command for command in found if command]


@pytest.fixture
def project() -> Iterator[Path]:
    top = make_folder()
    project = top / "my rooms"
    (project / "config").mkdir(parents=True)
    for name in ("__init__.py", "env.py"):
        shutil.copy(ROOT / "config" / name, project / "config" / name)
    shutil.copytree(ROOT / "config" / "embedded", project / "config" / "embedded")
    for name in ("script", ".ci"):
        shutil.copytree(ROOT / name, project / name)
    (project / "manage.py").write_text(MANAGE)
    venv = project / ".venv"
    venv.mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (venv / name).symlink_to(Path(sys.prefix) / name)
    for name in ("requirements.txt", "requirements-dev.txt"):
        shutil.copy(ROOT / name, project / name)
        shutil.copy(ROOT / name, venv / name)
    yield project
    subprocess.run(
        [sys.executable, "-m", "config.embedded", "stop"],
        cwd=project,
        env=environment(),
        capture_output=True,
        check=False,
    )
    shutil.rmtree(top)


def environment(**more: str) -> dict[str, str]:
    settings = {"DATABASE_URL", "ROOMWISE_DATA", "DEBUG", "SECRET_KEY", "HOST", "PORT", "PYTHON"}
    return {key: value for key, value in os.environ.items() if key not in settings} | more


def run(script: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [script, *arguments],
        cwd="/",
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def launch(project: Path, **variables: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [project / "script" / "server"],
        cwd="/",
        env=environment(PORT=str(free_port()), **variables),
        stdout=subprocess.PIPE,
        text=True,
    )


def wait_until_it_serves(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    assert any(line == "Listening\n" for line in process.stdout)


def serve(project: Path, **variables: str) -> "subprocess.Popen[str]":
    process = launch(project, **variables)
    wait_until_it_serves(process)
    return process


def asked(project: Path) -> list[str]:
    return (project / "asked.txt").read_text().split()


# script/server


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_server_sets_up_serves_and_leaves_nothing(project: Path, number: int) -> None:
    process = serve(project)
    assert asked(project) == ["migrate", "load_demo", "serve"]
    assert (project / "var" / "postgres").is_dir()
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    if number != signal.SIGHUP:
        assert (process.returncode, out) == (0, "drained\n")
    assert left_in(project) == []


def test_ctrl_c_in_a_terminal_reaches_the_server_once(project: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(  # noqa: S606
            project / "script" / "server",
            ["server"],
            environment(PORT=str(free_port())),
        )
    told = read_until(terminal, b"Listening")
    os.write(terminal, b"\x1a\x03")  # Ctrl-Z is nobody's business here; then Ctrl-C
    told += read_until(terminal, b"drained")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0
    assert told.count(b"drained") == 1
    assert b"Traceback" not in told
    assert left_in(project) == []


def read_until(terminal: int, wanted: bytes) -> bytes:
    told = b""
    deadline = time.monotonic() + 30
    while wanted not in told and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            told += os.read(terminal, 4096)
    assert wanted in told, told
    return told


def test_servers_that_start_at_once_migrate_one_after_the_other(project: Path) -> None:
    both = [launch(project, **ELSEWHERE) for _ in range(2)]
    for process in both:
        wait_until_it_serves(process)
        process.terminate()
        process.communicate(timeout=30)
    assert sorted(asked(project)) == sorted(["migrate", "load_demo", "serve"] * 2)
    steps = [word for word in (project / "ran.txt").read_text().split() if word != "serve"]
    assert all(begun == ended for begun, ended in zip(steps[::2], steps[1::2], strict=True))


def test_server_stops_at_the_first_step_that_fails(project: Path) -> None:
    done = run(project / "script" / "server", PORT=str(free_port()), FAIL_AT="migrate", **ELSEWHERE)
    assert done.returncode == 9
    assert asked(project) == ["migrate"]
    assert left_in(project) == []


def test_server_loads_no_demo_in_production(project: Path) -> None:
    process = serve(project, DEBUG="false", SECRET_KEY="x" * 50, **ELSEWHERE)
    process.terminate()
    process.communicate(timeout=30)
    assert asked(project) == ["migrate", "collectstatic", "serve"]


def test_server_with_a_database_url_starts_no_database(project: Path) -> None:
    process = serve(project, **ELSEWHERE)
    process.terminate()
    process.communicate(timeout=30)
    assert not (project / "var" / "postgres").exists()


def test_server_says_when_the_port_is_taken(project: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        done = run(project / "script" / "server", PORT=port)
    assert done.returncode == 1
    assert f"port {port}: [Errno" in done.stderr
    assert "PORT=8001 script/server" in done.stderr
    assert not (project / "asked.txt").exists()


def test_server_names_the_setting_it_cannot_read(project: Path) -> None:
    done = run(project / "script" / "server", PORT="eighty")
    assert done.returncode != 0
    assert "PORT='eighty'" in done.stderr
    assert "Traceback" not in done.stderr


# Set-up


def tools(place: Path, *names: str) -> Path:
    """A folder for PATH with these programs and no others."""
    place.mkdir()
    for name in names:
        found = shutil.which(name)
        assert found is not None, name
        (place / name).symlink_to(found)
    return place


def test_set_up_refuses_an_old_python_by_its_version(project: Path, tmp_path: Path) -> None:
    path = tools(tmp_path / "bin", "dirname", "cmp")
    old = path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit\nexit 1\n')
    old.chmod(0o755)
    (project / ".venv" / "requirements.txt").unlink()
    done = run(project / "script" / "server", PATH=str(path))
    assert done.returncode == 1
    assert "needs Python 3.11 or newer; found Python 3.9.2" in done.stderr


def test_set_up_says_what_it_could_not_install(project: Path) -> None:
    (project / ".venv" / "requirements.txt").unlink()
    (project / "requirements.txt").write_text("roomwise-no-such-package==1\n")
    done = run(project / "script" / "server", PIP_NO_INDEX="1")
    assert done.returncode == 1
    assert "Could not install the Python packages of requirements.txt" in done.stderr
    assert not (project / ".venv" / "requirements.txt").exists()


@pytest.mark.slow
def test_two_set_ups_at_once_make_one_environment(project: Path) -> None:
    shutil.rmtree(project / ".venv")
    (project / "requirements.txt").write_text("")
    script = '. "$(dirname "$0")/lib/common.sh"; set_up requirements.txt; "$PY" -m pip --version'
    (project / "script" / "probe").write_text(script)
    both = [
        subprocess.Popen(
            ["sh", project / "script" / "probe"],
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    told = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum("Setting up" in text for text in told) >= 1
    assert all(str(project / ".venv") in text for text in told)


# script/test, script/check, .ci/run


def test_test_runs_pytest_on_a_database_of_its_own(project: Path) -> None:
    (project / "test_probe.py").write_text(
        "import os\n"
        "from pathlib import Path\n"
        "import psycopg\n"
        "from config import embedded, env\n"
        "def test_database():\n"
        "    url = embedded.database_url(env.read('ROOMWISE_DATA'))\n"
        "    assert psycopg.connect(url).execute('select 1').fetchone() == (1,)\n"
        "    assert env.read('ROOMWISE_DATA') == Path('var/test').absolute()\n"
        "def test_no():\n"
        "    assert os.environ['ANSWER'] == 'yes'\n"
    )
    passed = run(project / "script" / "test", *BARE, ANSWER="yes", **NO_PLUGINS)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "2 passed" in passed.stdout.splitlines()[-1]
    failed = run(project / "script" / "test", *BARE, ANSWER="no", **NO_PLUGINS)
    assert failed.returncode == 1
    assert "1 failed, 1 passed" in failed.stdout.splitlines()[-1]
    assert left_in(project) == []


def test_test_says_when_there_is_no_browser(project: Path, tmp_path: Path) -> None:
    path = tools(tmp_path / "bin", "dirname", "cmp", "id", "head")
    (project / "test_probe.py").write_text("def test_yes(): pass\n")
    done = run(project / "script" / "test", *BARE, PATH=str(path), **ELSEWHERE, **NO_PLUGINS)
    assert "No browser: the tests marked browser are skipped" in done.stdout
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("check", "test"), [(0, 0), (1, 0), (0, 3), (1, 3)])
def test_the_build_runs_both_and_fails_with_either(project: Path, check: int, test: int) -> None:
    (project / "script" / "check").write_text(f"#!/bin/sh\necho checked\nexit {check}\n")
    (project / "script" / "test").write_text(f"#!/bin/sh\necho '=== 1 passed ==='\nexit {test}\n")
    done = run(project / ".ci" / "run")
    assert done.stdout.splitlines() == ["checked", "=== 1 passed ==="]
    assert (done.returncode == 0) == (check == test == 0)


def test_check_runs_every_tool_and_sums_up(project: Path) -> None:
    (project / "config" / "ugly.py").write_text("import os,sys\nx: int = ''  # t" + "eh\n")
    done = run(project / "script" / "check")
    assert done.returncode == 1
    for name in ("format", "lint", "types", "spelling"):
        assert f"FAILED  {name}:" in done.stdout
    assert "ok      shell" in done.stdout
    assert "script/check failed: format lint types" in done.stderr


# translations


def catalogue(project: Path, entry: str) -> Path:
    path = project / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
    path.parent.mkdir(parents=True)
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\nPlural-Forms: nplurals=1; plural=0;\\n"\n'
    path.write_text(f"{head}\n{entry}\n")
    return path


def test_messages_are_compiled_and_kept_in_step(project: Path) -> None:
    plural = 'msgid "%(n)s room"\nmsgid_plural "%(n)s rooms"\nmsgstr[0] "%(n)s 间会议室"'
    po = catalogue(project, f'msgid "Room %(code)s"\nmsgstr "会议室 %(code)s"\n\n{plural}')
    command = project / "script" / "messages"
    assert "out of date" in run(command, "--check").stdout
    assert run(command).returncode == 0
    assert run(command, "--check").returncode == 0
    po.write_text(po.read_text().replace("会议室", "房间"))
    assert "out of date" in run(command, "--check").stdout


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ('msgid "Room"\nmsgstr ""', "not translated"),
        ('#, fuzzy\nmsgid "Room"\nmsgstr "房间"', "not translated"),
        ('#, python-format\nmsgid "Room %(code)s"\nmsgstr "房间 %(name)s"', "placeholder"),
    ],
)
def test_incomplete_messages_are_refused(project: Path, entry: str, complaint: str) -> None:
    catalogue(project, entry)
    done = run(project / "script" / "messages")
    assert done.returncode == 1
    assert complaint in done.stdout
