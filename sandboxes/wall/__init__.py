"""The wall-clock shim: a small C library preloaded into every dynamic program of a sandbox."""

from __future__ import annotations

import os
from pathlib import Path

from sandboxes import proc
from sandboxes.errors import SandboxError

SOURCE = Path(__file__).with_name("wall.c")
_BUILT = Path(__file__).with_name(".build") / "wall.so"
REMEDY = "apt-get install gcc libc6-dev, then python -m sandboxes.wall"


class NotBuilt(SandboxError):
    """The shim is not there.

    Attributes:
        no_compiler: whether it could not even be tried.
    """

    def __init__(self, message: str, *, no_compiler: bool = False) -> None:
        super().__init__(message)
        self.no_compiler = no_compiler


def built() -> Path | None:
    """Where the compiled shim is, or ``None``."""
    return _BUILT if _BUILT.is_file() else None


def library() -> Path:
    """The compiled shim.

    Raises:
        NotBuilt: nobody has built it.
    """
    path = built()
    if path is None:
        raise NotBuilt(f"the wall-clock shim is not built: {REMEDY}")
    return path


def build() -> Path:
    """Compile the shim beside its source, unless it is there and newer.

    Raises:
        NotBuilt: no compiler, or it failed; what it said is in the message.
    """
    if _BUILT.is_file() and _BUILT.stat().st_mtime >= SOURCE.stat().st_mtime:
        return _BUILT
    compiler = proc.which("cc") or proc.which("gcc") or proc.which("clang")
    if compiler is None:
        raise NotBuilt(f"no C compiler in PATH: {REMEDY}", no_compiler=True)
    _BUILT.parent.mkdir(exist_ok=True)
    fresh = _BUILT.with_name(f"wall.{os.getpid()}.so")
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    ended = proc.run([str(compiler), *flags, "-o", str(fresh), str(SOURCE), "-ldl"], timeout=60)
    if not ended.ok:
        fresh.unlink(missing_ok=True)
        raise NotBuilt(
            f"{compiler} could not build {SOURCE}: {ended.stderr.decode(errors='replace')}"
        )
    fresh.chmod(0o755)
    fresh.replace(_BUILT)
    return _BUILT
