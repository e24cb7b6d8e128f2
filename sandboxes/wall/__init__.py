"""What is compiled for the inside of a sandbox: two small programs in C.

The wall-clock shim is a library that is preloaded into every dynamic program. The lingerer
stands in the place of a program and leaves a child behind at each start of it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sandboxes import proc
from sandboxes.errors import SandboxError

_HERE = Path(__file__).parent
_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror")
REMEDY = "apt-get install gcc libc6-dev, then python -m sandboxes.wall"


class NotBuilt(SandboxError):
    """Something is not there.

    Attributes:
        no_compiler: whether it could not even be tried.
    """

    def __init__(self, message: str, *, no_compiler: bool = False) -> None:
        super().__init__(message)
        self.no_compiler = no_compiler


@dataclass(frozen=True, slots=True)
class _Piece:
    """One of them: its name for people, its source, what is made of it, and how."""

    what: str
    source: Path
    made: Path
    flags: tuple[str, ...]

    def path(self) -> Path:
        if not self.made.is_file():
            raise NotBuilt(f"the {self.what} is not built: {REMEDY}")
        return self.made

    def build(self) -> Path:
        if self.made.is_file() and self.made.stat().st_mtime >= self.source.stat().st_mtime:
            return self.made
        compiler = proc.which("cc") or proc.which("gcc") or proc.which("clang")
        if compiler is None:
            raise NotBuilt(f"no C compiler in PATH: {REMEDY}", no_compiler=True)
        self.made.parent.mkdir(exist_ok=True)
        fresh = self.made.with_name(f"{os.getpid()}.{self.made.name}")
        words = [*_FLAGS, *self.flags, "-o", str(fresh), str(self.source), "-ldl"]
        ended = proc.run([str(compiler), *words], timeout=60)
        if not ended.ok:
            fresh.unlink(missing_ok=True)
            said = ended.stderr.decode(errors="replace")
            raise NotBuilt(f"{compiler} could not build {self.source}: {said}")
        fresh.chmod(0o755)
        fresh.replace(self.made)
        return self.made


_SHIM = _Piece(
    "wall-clock shim", _HERE / "wall.c", _HERE / ".build" / "wall.so", ("-fPIC", "-shared")
)
_LINGERER = _Piece(
    "program that lingers", _HERE / "linger.c", _HERE / ".build" / "linger", ("-static", "-s")
)
SOURCE = _SHIM.source


def built() -> Path | None:
    """Where the compiled shim is, or ``None``."""
    return _SHIM.made if _SHIM.made.is_file() else None


def library() -> Path:
    """The compiled shim.

    Raises:
        NotBuilt: nobody has built it.
    """
    return _SHIM.path()


def lingerer() -> Path:
    """The compiled program that stands in another's place.

    Raises:
        NotBuilt: nobody has built it.
    """
    return _LINGERER.path()


def build() -> Path:
    """Compile what is not there beside its source, and newer; gives the shim.

    Raises:
        NotBuilt: no compiler, or it failed; what it said is in the message.
    """
    shim = _SHIM.build()
    _LINGERER.build()
    return shim
