"""The file that a sabotage shows with other content: where it is, and whether it is there."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

from harness.case.errors import closest, nearest, quoted
from harness.case.model import Case
from harness.live.sentinels import SENTINELS
from sandboxes.base import AGENT_HOME, WORKSPACE, Kind, Mount, Planted

_MOST: Final = 1000
_COMMAND: Final = "command"
_NAME: Final = "name a file of workspace.mount, workspace.files or home"


def inside(path: str) -> PurePosixPath:
    """Where a path of ``change`` is in the sandbox: ``~/…`` in the home, else from the workspace."""
    under = AGENT_HOME if path.startswith("~/") else WORKSPACE
    return PurePosixPath(under, path.removeprefix("~/"))


def showing(mounts: Sequence[Mount], place: PurePosixPath) -> Mount | None:
    """The mount that shows a place: the innermost one."""
    fitting = [mount for mount in mounts if place.is_relative_to(mount.target)]
    return max(fitting, key=lambda mount: len(mount.target), default=None)


def original(mount: Mount, place: PurePosixPath) -> Path:
    """The file of this machine that a mount shows at a place."""
    return mount.source / place.relative_to(mount.target)


def wrong_change(change: Mapping[str, Any], case: Case) -> tuple[str, str] | None:
    """Why a ``change`` is known to change nothing, and what to write; ``None``: nothing is known.

    What an adapter mounts or plants beside the case is not known here.
    """
    path, place = str(change["path"]), inside(str(change["path"]))
    mounts = [Mount(source, target) for source, target in case.workspace.mounts.items()]
    mount = showing(mounts, place)
    if mount is not None:
        file = original(mount, place)
        content = file.read_bytes() if file.is_file() and not file.is_symlink() else None
    elif place.is_relative_to(WORKSPACE):
        content = _content(case.workspace.files, str(place.relative_to(WORKSPACE)))
    elif any(ref.name != _COMMAND for ref in case.subjects) or _sentinel(place):
        return None
    elif place.is_relative_to(AGENT_HOME):
        content = _content(case.home, str(place.relative_to(AGENT_HOME)))
    else:
        content = None
    if content is None:
        return f"there is no file {quoted(path)} to change", _instead(path, case)
    if content == str(change["content"]).encode():
        return f"{quoted(path)} has that content already", "write content that it does not have"
    return None


def _content(planted: Sequence[Planted], name: str) -> bytes | None:
    files = (one for one in planted if one.path == name and one.kind is Kind.FILE)
    return next((file.content for file in files), None)


def _sentinel(place: PurePosixPath) -> bool:
    return any(place == PurePosixPath(AGENT_HOME, name) for name in SENTINELS)


def _instead(path: str, case: Case) -> str:
    names = list(dict.fromkeys(_there(case)))
    return nearest(path, names) if closest(path, names) or 0 < len(names) < 6 else _NAME


def _there(case: Case) -> Iterator[str]:
    """The files that could be changed."""
    for source, target in case.workspace.mounts.items():
        for file in itertools.islice(source.rglob("*") if source.is_dir() else [source], _MOST):
            if file.is_file() and not file.is_symlink():
                yield str(PurePosixPath(target, file.relative_to(source)))
    yield from (one.path for one in case.workspace.files if one.kind is Kind.FILE)
    yield from (f"~/{one.path}" for one in case.home if one.kind is Kind.FILE)
