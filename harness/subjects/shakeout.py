"""Shakeout itself: the harness that is running, in a sandbox, with sandboxes of its own.

Shown are its own code and the packages that it needs, each by itself, so that nothing else of
the machine comes with them. In the home lies what an installation would leave on record, by which
it can tell whether the code that it has loaded is that. It runs in the user grade, in a case that
has ``nest``.
"""

from __future__ import annotations

import functools
import importlib.metadata as metadata
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement

from harness import __version__
from harness.case.grammar import fill
from harness.case.model import Case, SubjectRef
from harness.code import PACKAGES
from harness.extension import Schema
from harness.state import PACKAGE
from harness.subjects import tree
from harness.subjects.base import Dialect, Identity, Launch, Missing
from harness.subjects.distinfo import dist_info
from sandboxes.base import AGENT_HOME, WORKSPACE, Mount, Planted

_INSIDE = "/opt/shakeout"
_PROJECT = "shakeout"
_PARTS = (*PACKAGES, "cases")
_SYSTEM = Path("/usr")
_DERIVED = "__pycache__"

_SCHEMA: Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "args": {
            "type": "array",
            "items": {"type": "string"},
            "default": ["{task}"],
            "description": "the words after shakeout; {task}, {workspace} and {home} are replaced",
        },
        "via": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "a program that is started with the command behind it, as env starts one",
        },
    },
}


class Shakeout:
    """The adapter of the harness itself."""

    name = "shakeout"
    summary = "Shakeout itself: the code that runs the case, with sandboxes of its own inside."
    schema = _SCHEMA
    dialect = Dialect()

    def identify(self, ref: SubjectRef, case: Case) -> Identity | Missing:  # noqa: ARG002
        """Its version, and the digest of its code and of every package that it needs."""
        try:
            shown = _shown()
        except metadata.PackageNotFoundError as error:
            return Missing(f"the package {error.name} is not installed", "ci/setup")
        lines = (
            line for target, source in sorted(shown.items()) for line in _lines(target, source)
        )
        return Identity(self.name, __version__, tree.digest_of(lines))

    def launch(self, ref: SubjectRef, case: Case) -> Launch:
        """``VIA shakeout ARGS``, its state kept out of home and workspace."""
        values = {"task": case.task, "workspace": WORKSPACE, "home": AGENT_HOME}
        via = ref.params.get("via", ())
        words = [fill(word, values) for word in ref.params.get("args", ["{task}"])]
        interpreter, mounts = _interpreter()
        mounts += [Mount(source, target) for target, source in _shown().items()]
        env = {
            "PYTHONPATH": _INSIDE,
            "PYTHONDONTWRITEBYTECODE": "1",
            "SHAKEOUT_STATE": "/tmp/shakeout",  # noqa: S108 - of the sandbox
        }
        argv = [*via, interpreter, "-m", "harness", *words]
        return Launch(argv, env, home=_on_record(), mounts=mounts)

    def final_text(self, stdout: bytes) -> str | None:
        """All that it printed."""
        return stdout.decode("utf-8", "replace") if stdout else None


def _interpreter() -> tuple[str, list[Mount]]:
    """The Python that runs us, and what has to be shown of it."""
    prefix = Path(sys.base_prefix)
    program = prefix / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    shown = [] if prefix.is_relative_to(_SYSTEM) else [Mount(prefix, str(prefix))]
    return str(program), shown


def _on_record() -> Sequence[Planted]:
    """That it is installed, in the home's own part of Python's path."""
    site = PurePosixPath(
        f".local/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    )
    packages = {f"{_INSIDE}/{name}": PACKAGE.parent / name for name in PACKAGES}
    return dist_info(_PROJECT, __version__, _INSIDE, packages, site)


@functools.cache
def _shown() -> Mapping[str, Path]:
    """Path inside to path here: our packages, and everything that they need."""
    ours = {f"{_INSIDE}/{name}": PACKAGE.parent / name for name in _PARTS}
    needed = {f"{_INSIDE}/{path.name}": path for name in _needed() for path in _tops(name)}
    return needed | ours


def _needed() -> set[str]:
    """The names of the distributions that ours needs, directly or not."""
    names: set[str] = set()
    waiting = [Requirement(_PROJECT)]
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
    return names - {_PROJECT}


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
    files = [source] if source.is_file() else sorted(source.rglob("*"))
    for file in files:
        if file.is_file() and _DERIVED not in file.parts:
            yield f"{target} {file.relative_to(source)} {tree.digest(file)}".encode()
