"""The wall-clock shim: a small C library preloaded into every dynamic program of a sandbox."""

from __future__ import annotations

from pathlib import Path

from sandboxes.errors import SandboxError

SOURCE = Path(__file__).with_name("wall.c")
_BUILT = Path(__file__).with_name(".build") / "wall.so"


def built() -> Path | None:
    """Where the compiled shim is, or ``None``."""
    return _BUILT if _BUILT.is_file() else None


def library() -> Path:
    """The compiled shim.

    Raises:
        SandboxError: it has not been built.
    """
    if not _BUILT.is_file():
        raise SandboxError("the wall-clock shim is not built: run `python -m sandboxes.wall`")
    return _BUILT
