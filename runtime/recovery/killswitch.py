"""The kill switch: a file that stops acting before the next attempt, just by being there."""

from __future__ import annotations

from pathlib import Path


def tripped(path: Path) -> str | None:
    """Why nothing may be tried, or ``None`` where nothing is there.

    Only "does not exist" means that it is not tripped. What cannot be looked at counts as
    tripped: no right to, a loop of links, a file where a folder should be, a broken disk. A link
    that leads nowhere is there.
    """
    try:
        path.lstat()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        return f"the kill switch {path} cannot be looked at: {said}"
    return f"the kill switch {path} is there"
