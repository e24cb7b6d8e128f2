"""Paths as faults name them: relative to the workspace, or ``~/…`` for the home."""

from __future__ import annotations

import posixpath
from typing import Final

from harness.case.errors import closest, nearest, quoted
from harness.faults.base import Place
from sandboxes.base import AGENT_HOME, WORKSPACE, Root
from sandboxes.errors import SandboxError

_FEW: Final = 6
_NAME: Final = "name a path that is there when the fault begins, or let it begin later by when"


def locate(path: str) -> tuple[Root, str]:
    """The root that a path of a case lies in, and its place there."""
    if path == "~" or path.startswith("~/"):
        return Root.HOME, posixpath.normpath(path[2:])
    return Root.WORKSPACE, posixpath.normpath(path)


def present(place: Place, path: str) -> tuple[Root, str]:
    """:func:`locate` of a path that must be there when a fault begins.

    Raises:
        SandboxError: it is not; the message says what is.
    """
    root, rest = locate(path)
    if rest == "." or place.sandbox.exists(root, rest):
        return root, rest
    prefix = "~/" if root is Root.HOME else ""
    names = sorted(prefix + name for name in place.sandbox.tree(root, ".") if _namable(name))
    near = closest(path, names) or 0 < len(names) < _FEW
    hint = nearest(path, names, say="name") if near else _NAME
    raise SandboxError(f"there is no {quoted(path)} in the {root.value}; {hint}")


def folder_present(place: Place, path: str) -> None:
    """The same of the folder of a path that a fault makes."""
    present(place, posixpath.dirname(path) or ".")


def _namable(name: str) -> bool:
    return name != "." and not name.startswith(".git/")


def inside(path: str) -> str:
    """The path as a program inside sees it."""
    root, rest = locate(path)
    base = AGENT_HOME if root is Root.HOME else WORKSPACE
    return base if rest == "." else f"{base}/{rest}"
