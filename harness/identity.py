"""Whether the code that runs is the Shakeout that was asked for.

A second checkout that comes earlier on the path (``PYTHONPATH``, the current folder, a ``.pth``
file) would be loaded instead, in whole or in part, and judge in its place. Asked for is what is
installed; where nothing is, the folder out of which ``harness`` itself came, if no other is on
the path. Every module must be the source file of its name in that one folder, over which the
digest in ``run.json`` is taken, so that the digest is of what runs. Where the installation has
hashes on record, as from a wheel, every loaded file must have its own; an editable checkout may
differ from its last commit, and the digest says so.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

from harness.code import PACKAGES, changed_since
from harness.state import PACKAGE

_PROJECT = "shakeout"
_HEAD = 16  # of a compiled module: magic number, flags, and what it was compiled from
_LOOK = "look at PYTHONPATH, the current folder and .pth files"


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for.

    Attributes:
        root: the folder with our packages in it.
        recorded: hashes of files, as the installation has them; empty for an editable one.
    """

    root: Path
    recorded: Mapping[Path, metadata.FileHash | None]


def wrong_code() -> str:
    """What is loaded and is not what was asked for, in words; empty where all of it is.

    What was once found is not looked at again, but for files that were changed meanwhile.
    """
    roots = _installed()
    if len(roots) > 1:
        return f"shakeout is installed in {' and in '.join(map(str, roots))}; leave one on the path"
    asked = next(iter(roots.values()), None) or Asked(PACKAGE.parent, {})
    if not roots and (other := _another(asked.root)):
        return f"shakeout is in {other} and in {asked.root}, and neither is installed; {_LOOK}"
    for name, module in _loaded():
        if wrong := _misplaced(name, module, asked.root) or _altered(name, module, asked):
            return wrong
    if file := changed_since():
        return f"{file} was changed after this run had loaded it; run it again"
    return ""


@functools.cache
def _installed() -> Mapping[Path, Asked]:
    """Every installation on the path, by its folder."""
    found = map(_asked, metadata.distributions(name=_PROJECT))
    return {asked.root: asked for asked in reversed([*found])}


def _asked(installed: metadata.Distribution) -> Asked:
    text = installed.read_text("direct_url.json")
    source = json.loads(text) if text else {}
    root = Path(str(installed.locate_file("")))
    if source.get("dir_info", {}).get("editable"):
        root = Path(unquote(urlsplit(source["url"]).path))
    root = root.resolve()
    tops = [root / name for name in PACKAGES]
    files = {Path(str(installed.locate_file(file))).resolve(): file for file in _record(installed)}
    recorded = {
        path: file.hash
        for path, file in files.items()
        if any(path.is_relative_to(top) for top in tops)
    }
    return Asked(root, recorded)


def _record(installed: metadata.Distribution) -> list[metadata.PackagePath]:
    """Its files, where hashes of them are on record; a built checkout has a mere list."""
    return list(installed.files or ()) if installed.read_text("RECORD") else []


@functools.cache
def _another(root: Path) -> Path | None:
    """Another folder on the path that holds all of our packages."""
    for entry in sys.path:
        folder = Path(entry).resolve()
        if folder != root and all((folder / name / "__init__.py").is_file() for name in PACKAGES):
            return folder
    return None


def _loaded() -> Iterator[tuple[str, ModuleType]]:
    """Every module of ours, also the one that runs as the program, by its own name."""
    for key, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        name = spec.name if key == "__main__" and spec is not None else key
        if name.partition(".")[0] in PACKAGES:
            yield name, module


@functools.cache
def _misplaced(name: str, module: ModuleType, root: Path) -> str:
    """Whether a module did not come out of its source file in ``root``."""
    place = root.joinpath(*name.split("."))
    file = getattr(module, "__file__", None)
    if file is None:
        folders = [Path(folder).resolve() for folder in getattr(module, "__path__", ())]
        if folders == [place]:  # a folder without code, opened for the files in it
            return ""
        file = ", ".join(map(str, folders)) or "nowhere"
    elif Path(file).resolve() in {place / "__init__.py", place.with_name(f"{place.name}.py")}:
        return _compiled(name) if _forged(module, Path(file)) else ""
    return (
        f"{name} was loaded from {file}, and shakeout is in {root}; another checkout comes "
        f"first on the path: {_LOOK}"
    )


def _compiled(name: str) -> str:
    return (
        f"{name} was loaded compiled, and not from its source; remove __pycache__ and run it again"
    )


def _forged(module: ModuleType, source: Path) -> bool:
    """Whether it was compiled from something else, by a file that Python does not check."""
    compiled = getattr(module, "__cached__", None)
    try:
        with Path(compiled or "").open("rb") as file:
            head = file.read(_HEAD)
        by_hash = int.from_bytes(head[4:8], "little") & 1
        return bool(by_hash) and head[8:] != importlib.util.source_hash(source.read_bytes())
    except OSError:
        return False  # nothing was compiled, or there is no source any more, which is found


def _altered(name: str, module: ModuleType, asked: Asked) -> str:
    """Whether a module, which lies where it should, does not hash to what is on record."""
    file = getattr(module, "__file__", None)
    if not asked.recorded or file is None:
        return ""
    path = Path(file).resolve()
    recorded = asked.recorded.get(path)
    if recorded is None:
        return f"{name} was loaded from {file}, which is no file of the installed shakeout"
    if _differing(path, recorded.mode, recorded.value):
        return f"{file} was changed since shakeout was installed; install it again"
    return ""


@functools.cache
def _differing(path: Path, mode: str, value: str) -> bool:
    made = base64.urlsafe_b64encode(hashlib.new(mode, path.read_bytes()).digest())
    return made.rstrip(b"=").decode() != value
