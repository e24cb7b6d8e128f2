"""How long the command takes to say what it does, beside an interpreter that does nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ci.measure.figures import Figure, Unavailable, alternate
from sandboxes import proc

ROUNDS = 20


def figures() -> Iterator[Figure | Unavailable]:
    """``shakeout --help`` beside ``python -c pass``."""
    shakeout = str(Path(sys.executable).with_name("shakeout"))
    if not proc.run([shakeout, "--help"]).ok:
        yield Unavailable("shakeout --help", "it does not end with 0")
        return
    ours, beside = alternate(
        ROUNDS,
        lambda: _run(shakeout, "--help"),
        lambda: _run(sys.executable, "-c", "pass"),
    )
    yield Figure("shakeout --help", ours, beside, "ms", "python -c pass", goal=2)


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
