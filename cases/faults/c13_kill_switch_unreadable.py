"""A look at the kill switch as many would write it, for the sabotage of its case."""

from pathlib import Path


def if_it_exists(path: Path) -> str | None:
    """What cannot be looked at does not exist."""
    try:
        return f"the kill switch {path} is there" if path.exists() else None
    except OSError:
        return None
