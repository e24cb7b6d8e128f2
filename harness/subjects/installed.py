"""Where the pinned real agents are installed.

``ci/setup`` puts them into ``.agents/`` of the checkout. An installed Shakeout has no
checkout, so ``$SHAKEOUT_AGENTS`` and the user's cache are looked at as well. Each agent is
one program in a package of its own for each machine; it is run as it is, without Node.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.subjects.base import Missing

REMEDY = "run ci/setup in a checkout of shakeout"


@dataclass(frozen=True, slots=True)
class Package:
    """What an agent is called by npm, and where its program lies in ``node_modules``.

    Attributes:
        name: the package that has the version.
        programs: globs below ``node_modules``, the first that matches wins.
        shown: how many folders above the program are shown with it inside the sandbox.
    """

    name: str
    programs: Sequence[str]
    shown: int = 0


@dataclass(frozen=True, slots=True)
class Installed:
    """An agent that is there.

    Attributes:
        version: as its package says.
        program: its program on the host.
        shown: the file or folder to show inside the sandbox.
    """

    version: str
    program: Path
    shown: Path

    def inside(self, target: str) -> str:
        """Path of the program where :attr:`shown` is mounted at ``target``."""
        if self.shown == self.program:
            return target
        return f"{target}/{self.program.relative_to(self.shown)}"


def roots(env: Mapping[str, str] = os.environ) -> Sequence[Path]:
    """Folders that may hold ``node_modules``, in order of preference."""
    named = env.get("SHAKEOUT_AGENTS")
    if named:
        return (Path(named).absolute(),)
    cache = Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return (Path(__file__).resolve().parents[2] / ".agents", cache / "shakeout" / "agents")


def find(package: Package, folders: Sequence[Path] | None = None) -> Installed | Missing:
    """Find an agent: its version and its program, or say where it was looked for."""
    looked = roots() if folders is None else folders
    for root in looked:
        modules = root / "node_modules"
        version = _version(modules / package.name / "package.json")
        program = _program(modules, package.programs)
        if version and program:
            shown = program.parents[package.shown - 1] if package.shown else program
            return Installed(version, program, shown)
    places = " or ".join(str(root) for root in looked)
    return Missing(f"{package.name} is not installed in {places}", REMEDY)


def _version(manifest: Path) -> str | None:
    try:
        version = json.loads(manifest.read_bytes())["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return version if isinstance(version, str) else None


def _program(modules: Path, globs: Sequence[str]) -> Path | None:
    for pattern in globs:
        for path in sorted(modules.glob(pattern)):
            if path.is_file() and os.access(path, os.X_OK):
                return path.resolve()
    return None
