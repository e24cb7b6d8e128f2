"""What of a folder was most likely meant by a path that is not there."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Final

from harness.case.errors import closest

_MOST: Final = 1000


def did_you_mean(
    path: Path, otherwise: str, suffixes: tuple[str, ...] = ("",), beside: Path = Path()
) -> str:
    """A hint for a path that is not there.

    Args:
        path: as it was written.
        otherwise: the hint where it is there, or where nothing beside it is near.
        suffixes: how names of files end that could be meant; folders always can.
        beside: what the path is relative to.
    """
    whole = beside / path
    try:
        if whole.exists():
            return otherwise
        there = list(itertools.islice(whole.parent.iterdir(), _MOST))
        names = [one.name for one in there if one.is_dir() or one.name.endswith(suffixes)]
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return otherwise
    near = closest(path.name, set(names) - {path.name})  # which can be a link that leads nowhere
    return otherwise if near is None else f"did you mean {path.parent / near}?"
