"""Which code of the harness this is."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from harness.state import PACKAGE


@functools.cache
def code_digest() -> str:
    """``sha256:…`` over every module of the harness, its layers below included."""
    total = hashlib.sha256()
    for path in _modules(PACKAGE.parent):
        total.update(f"{path.relative_to(PACKAGE.parent)}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return f"sha256:{total.hexdigest()}"


def _modules(top: Path) -> list[Path]:
    packages = ("harness", "sandboxes", "verifiers")
    return sorted(path for name in packages for path in (top / name).rglob("*.py"))
