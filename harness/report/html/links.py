"""Links from the report to the files beside it; whatever their names are, they lead nowhere else."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from urllib.parse import quote

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,200}")


def href(*parts: str) -> str:
    """A relative link to a file below the run's folder, every odd byte percent-encoded.

    It begins with ``./``, so that no name can be read as a scheme, and has no ``..`` in it.
    """
    names = [name for part in parts for name in part.split("/") if name not in ("", ".", "..")]
    return "./" + "/".join(_quoted(name) for name in names)


def anchor(trial: str, number: int) -> str:
    """The id of a trial's part of the page: its name where that is harmless, else its number."""
    return f"trial-{trial}" if _NAME.fullmatch(trial) else f"trial-number-{number}"


@lru_cache(1024)
def _quoted(name: str) -> str:
    return quote(_bytes(name), safe="")


def _bytes(name: str) -> bytes:
    try:
        return os.fsencode(name)
    except UnicodeEncodeError:  # half a character, which no file has in its name
        return name.encode("utf-8", "replace")
