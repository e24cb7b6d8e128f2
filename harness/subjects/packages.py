"""Packages of a Python project, shown in a sandbox each by itself.

Shown are the project's own packages and those of every distribution that it needs, so that
nothing else of the machine comes with them; and nothing of them is imported to find them.
"""

from __future__ import annotations

import functools
import importlib.metadata as metadata
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from packaging.requirements import Requirement

from harness.state import PACKAGE
from harness.subjects import tree
from harness.subjects.base import Identity, Missing
from sandboxes.base import Mount

#: The project that the harness and ``agentd`` are both installed with.
PROJECT: Final = "shakeout"
_SYSTEM = Path("/usr")
_DERIVED = "__pycache__"


@dataclass(frozen=True, slots=True)
class Packages:
    """What is shown of a project.

    Attributes:
        inside: the folder that it lies in.
        own: its packages, by name.
    """

    inside: str
    own: tuple[str, ...]

    def identify(self, name: str) -> Identity | Missing:
        """The project's version, and the digest of all that is shown of it."""
        try:
            version, shown = metadata.version(PROJECT), _shown(self)
        except metadata.PackageNotFoundError as error:
            return Missing(f"the package {error.name} is not installed", "ci/setup")
        lines = (
            line for target, source in sorted(shown.items()) for line in _lines(target, source)
        )
        return Identity(name, version, tree.digest_of(lines))

    def mounts(self) -> list[Mount]:
        """All that is shown."""
        return [Mount(source, target) for target, source in _shown(self).items()]


def interpreter() -> tuple[str, Sequence[Mount]]:
    """The Python that runs the harness, and what has to be shown of it."""
    prefix = Path(sys.base_prefix)
    program = prefix / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    shown = [] if prefix.is_relative_to(_SYSTEM) else [Mount(prefix, str(prefix))]
    return str(program), shown


@functools.cache
def _shown(packages: Packages) -> Mapping[str, Path]:
    """Path inside to path here: the project's own packages, and all that they need."""
    found = [*(path for name in _needed() for path in _tops(name)), *map(_beside, packages.own)]
    return {f"{packages.inside}/{path.name}": path for path in found}


def _beside(name: str) -> Path:
    """Where a package of the project lies: beside the harness, whatever comes first on a path."""
    folder = PACKAGE.parent / name
    if not folder.is_dir():
        raise metadata.PackageNotFoundError(name)
    return folder


def _needed() -> set[str]:
    """The names of the distributions that the project needs, directly or not."""
    names: set[str] = set()
    waiting = [Requirement(PROJECT)]
    while waiting:
        wanted = waiting.pop()
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if name in names and not wanted.extras:
            continue
        names.add(name)
        for text in metadata.distribution(name).requires or ():
            further = Requirement(text)
            extras = wanted.extras or {""}
            if further.marker is None or any(further.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(further)
    return names - {PROJECT}


def _tops(name: str) -> Iterator[Path]:
    """The files and folders of a distribution that lie directly beside the others."""
    found = metadata.distribution(name)
    tops = {PurePosixPath(file).parts[0] for file in found.files or ()}
    for top in sorted(tops - {"..", _DERIVED}):
        path = Path(str(found.locate_file(top)))
        if path.exists():
            yield path


def _lines(target: str, source: Path) -> Iterator[bytes]:
    """What is shown at a place, but for what Python derives from it."""
    for file in [source] if source.is_file() else _files(source):
        yield f"{target} {file.relative_to(source)} {tree.digest(file)}".encode()


def _files(top: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(top):
        names[:] = sorted(name for name in names if name != _DERIVED)
        yield from (Path(folder, name) for name in sorted(files))
