"""Whether a sandbox was shown anything of the host that must stay out of its reach.

Read from the kernel's own list of the sandbox's mounts, taken from outside while it lived,
not from what the harness meant to mount.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class MountLine:
    """One mount: which part (``root``) of which file system (``device``) shows where.

    ``lower`` are the lower layers of an overlay, as paths; ``kind`` is the file system's.
    """

    device: str
    root: str
    point: str
    writable: bool
    lower: Sequence[str] = ()
    kind: str = ""


def parse_mountinfo(text: str) -> Iterator[MountLine]:
    """The mounts of a ``mountinfo`` file, see proc(5)."""
    for line in text.splitlines():
        fields = line.split(" ")
        if len(fields) > 6:
            writable = "rw" in fields[5].split(",")
            lower = _lower_layers(fields[-1])
            root, point, kind = _plain(fields[3]), _plain(fields[4]), fields[-3]
            yield MountLine(fields[2], root, point, writable, lower, kind)


def _lower_layers(options: str) -> tuple[str, ...]:
    found = re.search(r"(?:^|,)lowerdir=([^,]*)", options)
    return tuple(_plain(path) for path in found[1].split(":")) if found else ()


def _plain(path: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), path)


def place_of(path: Path, mountinfo: str) -> MountLine | None:
    """Where a path of this machine lies: its file system, and its place there."""
    best: MountLine | None = None
    for mount in parse_mountinfo(mountinfo):
        if path.is_relative_to(mount.point) and (
            best is None or len(mount.point) >= len(best.point)
        ):
            best = mount
    if best is None:
        return None
    inner = Path(best.root) / path.relative_to(best.point)
    return MountLine(best.device, str(inner), str(path), best.writable, kind=best.kind)


def shown(inside: str, here: str, home: Path) -> Sequence[str] | None:
    """Where a sandbox shows the user's home, in words; empty is right, ``None``: not known.

    Args:
        inside: ``mountinfo`` of the sandbox; empty where it could not be read.
        here: ``mountinfo`` of the harness.
        home: the user's home, resolved.
    """
    place = place_of(home, here)
    if not inside or place is None:
        return None
    return [f"{home} is shown at {m.point}" for m in parse_mountinfo(inside) if _shows(m, place)]


def _shows(mount: MountLine, home: MountLine) -> bool:
    """Whether a mount shows the home whole, or any part of it writable."""
    if any(Path(home.point).is_relative_to(layer) for layer in mount.lower):
        return True
    if mount.device != home.device:
        return False
    whole = Path(home.root).is_relative_to(mount.root)
    part = Path(mount.root).is_relative_to(home.root)
    return whole or (part and mount.writable)


def writable_parts(inside: str) -> Sequence[str]:
    """Mount points inside that can be written, for the journal."""
    return tuple(mount.point for mount in parse_mountinfo(inside) if mount.writable)
