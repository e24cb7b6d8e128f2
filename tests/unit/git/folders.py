"""Real repositories on disk, seen as the collector sees them."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.git.folder import read_repository
from harness.git.picture import picture
from sandboxes.base import Entry, Kind


@dataclass(frozen=True)
class Folder:
    """Implements :class:`harness.git.folder.Tree` for a folder of this machine."""

    top: Path
    entries: Mapping[str, Entry]

    @classmethod
    def of(cls, top: Path) -> Folder:
        entries = {}
        for at, folders, files in os.walk(top):
            for name in (*folders, *files):
                path = Path(at, name)
                entries[str(path.relative_to(top))] = entry(path)
        return cls(top, entries)

    def read(self, path: str, most: int) -> bytes | None:
        return (self.top / path).read_bytes()[:most]


def entry(path: Path) -> Entry:
    told = path.lstat()
    kind, digest, target = Kind.DIR, None, None
    if path.is_symlink():
        kind, target = Kind.LINK, str(path.readlink())
    elif path.is_file():
        kind, digest = Kind.FILE, hashlib.sha256(path.read_bytes()).hexdigest()
    return Entry(kind, told.st_mode & 0o7777, 0, 0, told.st_size, digest, target)


def photo(top: Path, asked: Sequence[tuple[str, str]] = ()) -> Any:
    folder = Folder.of(top)
    return picture(read_repository(folder), folder.entries, asked)


def sh(top: Path, script: str) -> str:
    """Runs a script in a folder, with a git that has no config of this machine."""
    names = ("AUTHOR", "COMMITTER")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(top.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{name}_NAME": "Kim" for name in names},
        **{f"GIT_{name}_EMAIL": "kim@example.com" for name in names},
    }
    done = subprocess.run(
        ["sh", "-ec", script], cwd=top, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout
