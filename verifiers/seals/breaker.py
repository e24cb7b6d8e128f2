"""The breaker of a state folder: once something could not be sealed, nothing runs until a reset.

Its file is made with the folder and always has the same size, so that it can still be written
where the disk is full. One that is gone or makes no sense counts as open.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from sandboxes import clock
from verifiers.seals.errors import Cause, NotSealed
from verifiers.seals.files import replace, write_all

NAME = "breaker.json"
REMEDY = "mend it, then: shakeout evidence reset --reason TEXT"
_SIZE = 4096
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Opened:
    """Why it is open.

    Attributes:
        cause: one of :class:`Cause`.
        what: in words.
        run: id of the run that could not be sealed.
        at: when, RFC 3339.
    """

    cause: str
    what: str
    run: str
    at: str


class Breaker:
    """One state folder's."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME

    @property
    def made(self) -> bool:
        """Whether its file is there."""
        return self._path.exists()

    def make(self) -> None:
        """Make it, closed.

        Raises:
            OSError: it cannot be written.
        """
        replace(self._path, _form(None))

    def look(self) -> Opened | None:
        """Why it is open; ``None`` where it is closed.

        Raises:
            OSError: it cannot be read.
        """
        try:
            content = json.loads(self._path.read_bytes())
            return Opened(**content["open"]) if content["open"] is not None else None
        except FileNotFoundError:
            return Opened(Cause.HEAD, f"{self._path} is gone", "", "")
        except (ValueError, KeyError, TypeError):
            return Opened(Cause.CHAIN, f"{self._path} is not in its form", "", "")

    def check(self) -> None:
        """Go on only where it is closed.

        Raises:
            NotSealed: it is open.
            OSError: it cannot be read.
        """
        if opened := self.look():
            of = f" (run {opened.run}, {opened.at})" if opened.run else ""
            raise NotSealed(Cause.OPEN, f"the breaker is open: {opened.what}{of}", REMEDY)

    def open(self, error: NotSealed, run: str) -> None:
        """Open it; the first reason stays.

        Raises:
            OSError: it could not be put on disk.
        """
        if self.look() is not None:
            return
        opened = Opened(error.cause.value, error.what[:_LONGEST], run, clock.stamp())
        self._write(_form(opened))

    def close(self) -> None:
        """Close it.

        Raises:
            OSError: it could not be put on disk.
        """
        self.make()

    def _write(self, data: bytes) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            write_all(file, data)
            os.fsync(file)
        finally:
            os.close(file)


def _form(opened: Opened | None) -> bytes:
    content = json.dumps({"schema": 1, "open": asdict(opened) if opened else None})
    return content.encode().ljust(_SIZE - 1) + b"\n"
