"""Whether the code that runs is the Shakeout that is installed here.

A second checkout that comes earlier on the path (``PYTHONPATH``, the current folder, a ``.pth``
file) would be loaded instead, in whole or in part, and judge in its place.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

from harness.code import PACKAGES

_PROJECT = "shakeout"


@functools.cache
def wrong_code() -> str:
    """What is loaded and is not what is installed, in words; empty where all of it is.

    Where Shakeout is not installed at all, as in a folder that is only named in ``PYTHONPATH``,
    every module must at least come out of one folder.
    """
    loaded = dict(_loaded())
    if not loaded:
        return "nothing of shakeout is loaded from a file"
    try:
        installed = metadata.distribution(_PROJECT)
    except metadata.PackageNotFoundError:
        return _out_of(loaded, _top(*next(iter(loaded.items()))))
    if (checkout := _checkout(installed)) is not None:
        return _out_of(loaded, checkout)
    return _out_of(loaded, Path(str(installed.locate_file("")))) or _changed(loaded, installed)


def _loaded() -> Iterator[tuple[str, Path]]:
    """Every module of ours that came out of a file."""
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] in PACKAGES and file is not None:
            yield name, Path(file).resolve()


def _top(name: str, file: Path) -> Path:
    """The folder out of which a module was loaded."""
    levels = name.count(".") + (file.name == "__init__.py")
    return file.parents[levels]


def _out_of(loaded: dict[str, Path], top: Path) -> str:
    top = top.resolve()
    for name, file in loaded.items():
        if not file.is_relative_to(top):
            return (
                f"{name} was loaded from {file}, and shakeout is in {top}; another checkout comes "
                "first on the path: look at PYTHONPATH, the current folder and .pth files"
            )
    return ""


def _checkout(installed: metadata.Distribution) -> Path | None:
    """The checkout that an editable installation leads to."""
    text = installed.read_text("direct_url.json")
    source = json.loads(text) if text else {}
    if not source.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(source["url"]).path))


def _changed(loaded: dict[str, Path], installed: metadata.Distribution) -> str:
    """The first file that does not hash to what the installation has on record."""
    recorded = {
        Path(str(installed.locate_file(file))).resolve(): file.hash
        for file in installed.files or ()
    }
    for name, file in loaded.items():
        digest = recorded.get(file)
        if digest is None:
            return f"{name} was loaded from {file}, which is no file of the installed shakeout"
        made = base64.urlsafe_b64encode(hashlib.new(digest.mode, file.read_bytes()).digest())
        if made.rstrip(b"=").decode() != digest.value:
            return f"{file} was changed since shakeout was installed; install it again"
    return ""
