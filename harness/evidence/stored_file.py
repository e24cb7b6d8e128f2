"""Reads a file of stored evidence, which may be anything by now."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from harness.errors import EvidenceLost

_MOST = 1 << 29


def read_stored(path: Path) -> bytes:
    """All of a regular file; no link is followed, and nothing that is no file waited for.

    Raises:
        EvidenceLost: it is none, is larger than anything we write, or cannot be read.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(file, "rb") as stream:  # noqa: PTH123 - it is open already
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise EvidenceLost(f"{path} is no regular file")
            if found.st_size > _MOST:
                raise EvidenceLost(f"{path} has {found.st_size} bytes, more than is ever written")
            return stream.read(_MOST)
    except OSError as error:
        raise EvidenceLost(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # a NUL or half a character in the name
        raise EvidenceLost(f"{path} cannot be read: {error}") from error
