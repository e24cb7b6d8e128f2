"""Which code of the harness this is."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from harness import __version__
from harness.state import PACKAGE

#: The packages that the harness is made of.
PACKAGES: Final = ("harness", "sandboxes", "verifiers")


class _Read(NamedTuple):
    """A module's file as it was read: when it was last touched, and the digest of its bytes."""

    stamp: tuple[int, ...]
    digest: bytes


@functools.cache
def code_digest() -> str:
    """``sha256:…`` over every module of the harness, its layers below included.

    Of the files as they are when it is first asked for, which a run does before all else.
    """
    total = hashlib.sha256()
    for path, read in _modules().items():
        total.update(f"{path.relative_to(PACKAGE.parent)}\0".encode())
        total.update(read.digest)
    return f"sha256:{total.hexdigest()}"


def changed_since() -> Path | None:
    """A file that is no longer what :func:`code_digest` was taken of."""
    return next((path for path, read in _modules().items() if _differs(path, read)), None)


def harness_document() -> Mapping[str, str]:
    """The harness itself: its version, and the digest of its code."""
    return {"version": __version__, "digest": code_digest()}


@functools.cache
def _modules() -> Mapping[Path, _Read]:
    top = PACKAGE.parent
    return {
        path: _read(path) for path in sorted(p for n in PACKAGES for p in (top / n).rglob("*.py"))
    }


def _read(path: Path) -> _Read:
    with path.open("rb") as file:
        return _Read(_stamp(os.fstat(file.fileno())), hashlib.file_digest(file, "sha256").digest())


def _stamp(info: os.stat_result) -> tuple[int, ...]:
    return (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def _differs(path: Path, read: _Read) -> bool:
    """Whether it was changed; what was only touched is read again."""
    try:
        return _stamp(path.stat()) != read.stamp and _read(path).digest != read.digest
    except OSError:
        return True
