"""Where the harness keeps state of its own, and where it was installed.

Nothing else outside a run's folder and the user's cache is ever written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

#: What a sandbox shows of the machine's own system.
_ALWAYS_SHOWN = (Path("/usr"), Path("/etc"))
PACKAGE = Path(__file__).resolve().parent


def checkout() -> Path | None:
    """The checkout that this module runs from; ``None`` when it is installed."""
    top = PACKAGE.parent
    return top if (top / "pyproject.toml").is_file() and (top / "cases").is_dir() else None


def cases_folder() -> Path:
    """The folder of the cases and schemas that come with the harness."""
    top = checkout()
    return (top or PACKAGE.parent) / "cases"


def state_folder() -> Path:
    """``$SHAKEOUT_STATE``, else ``.shakeout/`` of the checkout, else the XDG state folder."""
    if chosen := os.environ.get("SHAKEOUT_STATE"):
        return Path(chosen)
    if top := checkout():
        return top / ".shakeout"
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "shakeout"


def exposing(shown: Iterable[Path]) -> Path | None:
    """What of ``shown`` would let a subject see the state folder, in which the key lies.

    Args:
        shown: what sandboxes show of this machine, beside what they always do.
    """
    state = state_folder().resolve()
    for source in (*_ALWAYS_SHOWN, *shown):
        resolved = source.resolve()
        if state.is_relative_to(resolved) or resolved.is_relative_to(state):
            return source
    return None
