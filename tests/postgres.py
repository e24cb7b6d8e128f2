"""A PostgreSQL of the tests' own, on a Unix socket, from Debian's packages."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_PROGRAMS = Path("/usr/lib/postgresql")
_USER = "postgres"


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listens in a folder, and nowhere else."""

    programs: Path
    socket: Path

    @classmethod
    @contextlib.contextmanager
    def started(cls) -> Iterator[Server]:
        """One with fresh data, ended and awaited afterwards."""
        programs = _newest()
        assert programs
        # Not below pytest's folders, to which every other session closes the way again; and a
        # socket's path has to be short.
        with tempfile.TemporaryDirectory(prefix="pg") as place:
            folder = Path(place)
            data = folder / "data"
            if os.geteuid() == 0:
                user = pwd.getpwnam(_USER)
                os.chown(folder, user.pw_uid, user.pw_gid)
            _run([programs / "initdb", "-D", data, "-U", _USER, "-A", "trust", "-N", "-E", "UTF8"])
            said = f"-c listen_addresses= -k {folder} -c fsync=off -c max_connections=50"
            control = [programs / "pg_ctl", "-D", data, "-w", "-s", "-l", folder / "log"]
            _run([*control, "-o", said, "start"])
            try:
                yield cls(programs, folder)
            finally:
                _run([*control, "-m", "immediate", "stop"])

    def database(self, name: str) -> str:
        """Make a database, and say its URL."""
        _run([self.programs / "createdb", "-h", self.socket, "-U", _USER, name])
        return f"postgresql://{_USER}@/{name}?host={self.socket}"


def missing() -> str | None:
    """Why there can be none."""
    if _newest() is None:
        return "no PostgreSQL is installed: apt-get install postgresql"
    return None


def _newest() -> Path | None:
    found = sorted(_PROGRAMS.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


def _run(argv: Sequence[object]) -> None:
    """Run one of its programs; never as root, which it refuses."""
    words = [str(word) for word in argv]
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv")
        assert setpriv
        words = [setpriv, f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups", *words]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, cwd="/", env={"LC_ALL": "C.UTF-8"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
