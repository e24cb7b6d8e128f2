"""A host's disk on which there is no room for the evidence."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from harness.errors import EvidenceLost
from tests.attacks.form import Attack, Weaken, by_exit_code, shell, wrapped

_ROOT = ("user.root",)
_FLOOD = "head -c 3M /dev/urandom"


def _drops_what_does_not_fit() -> Weaken:
    """Evidence that cannot be written is thrown away, and nobody is told."""

    def around(write_bytes):
        def weak(path: Path, data: bytes) -> None:
            try:
                write_bytes(path, data)
            except EvidenceLost:
                with suppress(OSError):
                    path.unlink()

        return weak

    return wrapped("harness.evidence.store:write_bytes", around)


def _full(name: str, does: str, script: str, disk: str) -> Attack:
    return Attack(
        name,
        does,
        shell(script, [{"exit": 0}]),
        "error",
        "could not be written",
        "evidence that is not on disk is lost, and a verdict without evidence is an error",
        _drops_what_does_not_fit(),
        disk=disk,
        alone=True,
        needs=_ROOT,
        reads=by_exit_code,
    )


ATTACKS = (
    _full("disk-of-evidence-full", "prints more than there is room for", _FLOOD, "size=1m"),
    _full("no-room-for-a-copy", "makes a file of which no copy fits", f"{_FLOOD} > big", "size=1m"),
)
