"""Removes what killed runs have left: the harness's own labelled things, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from sandboxes.registry import BACKENDS


def sweep() -> Sequence[str]:
    """Sweep every backend; gives what was removed, in words."""
    return tuple(line for backend in BACKENDS.values() for line in backend.sweep())
