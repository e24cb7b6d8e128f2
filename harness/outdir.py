"""The folder of a run: where it goes, and that nothing in it is ever overwritten."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from harness.errors import UsageError
from sandboxes import clock

LATEST = "latest"


def open_folder(wanted: str | None, run: str) -> Path:
    """The run's folder, empty, and absolute.

    Args:
        wanted: ``--out``; by default ``out/<run>`` below the current folder, with a link
            ``out/latest`` to it.
        run: the run's id.

    Raises:
        UsageError: it exists and holds something, or cannot be made.
    """
    folder = Path(wanted) if wanted else Path("out") / run
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(
                f"--out {folder} is not empty; name a new folder, a run's evidence is never overwritten"
            )
    except OSError as error:
        raise UsageError(f"--out {folder} cannot be used: {error.strerror}") from error
    if not wanted:
        _link_latest(folder)
    return folder.resolve()


def _link_latest(folder: Path) -> None:
    link = folder.parent / LATEST
    fresh = folder.parent / f".{LATEST}-{folder.name}"
    with suppress(OSError):
        fresh.symlink_to(folder.name)
        fresh.replace(link)


def run_id() -> str:
    """A new run's id: the UTC time and some chance, sortable by name."""
    moment = clock.stamp()[:19].replace("-", "").replace(":", "")
    return f"{moment}z-{os.urandom(3).hex()}".lower()
