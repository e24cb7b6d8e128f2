"""Which code of the harness this is."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from harness import __version__
from harness.state import PACKAGE

#: The packages that the harness is made of.
PACKAGES: Final = ("harness", "sandboxes", "verifiers")


@functools.cache
def code_digest() -> str:
    """``sha256:…`` over every module of the harness, its layers below included."""
    total = hashlib.sha256()
    for path in _modules(PACKAGE.parent):
        total.update(f"{path.relative_to(PACKAGE.parent)}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return f"sha256:{total.hexdigest()}"


def harness_document() -> Mapping[str, str]:
    """The harness itself: its version, and the digest of its code."""
    return {"version": __version__, "digest": code_digest()}


def _modules(top: Path) -> list[Path]:
    return sorted(path for name in PACKAGES for path in (top / name).rglob("*.py"))
