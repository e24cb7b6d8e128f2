"""Paths as faults name them: relative to the workspace, or ``~/…`` for the home."""

from __future__ import annotations

import posixpath

from sandboxes.base import AGENT_HOME, WORKSPACE, Root


def locate(path: str) -> tuple[Root, str]:
    """The root that a path of a case lies in, and its place there."""
    if path == "~" or path.startswith("~/"):
        return Root.HOME, posixpath.normpath(path[2:])
    return Root.WORKSPACE, posixpath.normpath(path)


def inside(path: str) -> str:
    """The path as a program inside sees it."""
    root, rest = locate(path)
    base = AGENT_HOME if root is Root.HOME else WORKSPACE
    return base if rest == "." else f"{base}/{rest}"
