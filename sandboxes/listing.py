"""What a collector saw of files: values, as they are listed from outside."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class Kind(enum.StrEnum):
    """What a path is; ``other`` covers sockets, fifos and devices."""

    FILE = "file"
    DIR = "dir"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """One path as the collector saw it; ``mtime_ns`` is for people, never compared."""

    kind: Kind
    mode: int
    uid: int
    gid: int
    size: int
    sha256: str | None = None  # files only
    target: str | None = None  # links only
    mtime_ns: int = 0


#: Paths relative to the root, surrogate-escaped, to what they are. The root itself is ``.``.
Manifest = Mapping[str, Entry]


@dataclass(frozen=True, slots=True)
class SystemChange:
    """A path outside home and workspace that was added, changed or removed.

    Attributes:
        path: absolute path inside, surrogate-escaped.
        before: ``None`` where it was not there.
        after: ``None`` where it is gone.
    """

    path: str
    before: Entry | None
    after: Entry | None


@dataclass(frozen=True, slots=True)
class Listing:
    """The trees at one moment.

    Attributes:
        home: the whole home.
        workspace: the whole workspace.
        system: what changed elsewhere (``/tmp`` always; all else with ``files.system``).
    """

    home: Manifest
    workspace: Manifest
    system: Sequence[SystemChange] = ()
