"""The folder of a run: where it goes, and that nothing in it is ever overwritten."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from harness.errors import UsageError
from harness.state import exposing, state_folder
from sandboxes import clock

LATEST = "latest"


def open_folder(wanted: str | None, run: str) -> Path:
    """The run's folder, made, empty, and absolute.

    Args:
        wanted: ``--out``; by default ``out/<run>`` below the current folder, with a link
            ``out/latest`` to it.
        run: the run's id.

    Raises:
        UsageError: it exists and holds something, or cannot be made.
    """
    folder = run_folder(wanted, run)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {folder} cannot be used: {error.strerror}") from error
    if not wanted:
        link_latest(folder)
    return folder


def run_folder(wanted: str | None, run: str, option: str = "--out") -> Path:
    """Where the run's folder is to be, absolute; nothing is made.

    Args:
        wanted: as for :func:`open_folder`.
        run: likewise.
        option: how the user names it.

    Raises:
        UsageError: it exists and holds something, or cannot be looked at.
    """
    folder = Path(wanted) if wanted else Path("out") / run
    try:
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(
                f"{option} {folder} is not empty; name a new folder, a run's evidence is never "
                "overwritten"
            )
    except OSError as error:
        raise UsageError(f"{option} {folder} cannot be used: {error.strerror}") from error
    return folder.resolve()


def refuse_shown(wanted: str | None, shown: Iterable[Path]) -> None:
    """Refuse a folder that a subject would be shown: it could read what is expected of it.

    Args:
        wanted: as for :func:`open_folder`.
        shown: what the sandboxes show of this machine.

    Raises:
        UsageError: the folder lies in one of these.
    """
    folder = Path(wanted or "out").resolve()
    for source in shown:
        if folder.is_relative_to(source.resolve()):
            where = f"--out {wanted}" if wanted else "the default --out"
            raise UsageError(
                f"{where} lies in {source}, which a case mounts: its subject could read what is "
                "expected of it; name a folder outside, or mount less"
            )


def refuse_shown_state(shown: Iterable[Path]) -> None:
    """Refuse a state folder that a subject would be shown: it could sign whatever it likes.

    Args:
        shown: what the sandboxes show of this machine.

    Raises:
        UsageError: the folder lies in one of these, or one of these in it.
    """
    if source := exposing(shown):
        raise UsageError(
            f"the state folder {state_folder()} would be shown to subjects by {source}, and the key "
            "that seals lies in it; set SHAKEOUT_STATE to a folder outside, or mount less"
        )


def link_latest(folder: Path) -> None:
    """Have ``latest``, beside a run's folder, lead to it."""
    link = folder.parent / LATEST
    fresh = folder.parent / f".{LATEST}-{folder.name}"
    with suppress(OSError):
        fresh.symlink_to(folder.name)
        fresh.replace(link)


def run_id() -> str:
    """A new run's id: the UTC time and some chance, sortable by name."""
    moment = clock.stamp()[:19].replace("-", "").replace(":", "")
    return f"{moment}z-{os.urandom(3).hex()}".lower()
