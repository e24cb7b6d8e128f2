"""Paths as they travel between the harness and the keeper of a sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandboxes.base import AGENT_UID, Entry, Kind, Manifest, Planted

_KINDS = {kind.value: kind for kind in Kind}


def item(planted: Planted) -> dict[str, Any]:
    """A planted path as the keeper reads it; its content travels beside."""
    return {
        "path": planted.path,
        "kind": planted.kind.value,
        "size": len(planted.content),
        "target": planted.target,
        "mode": planted.mode,
    }


@dataclass(frozen=True, slots=True)
class Entries:
    """Makes entries of the keeper's rows; the agent has one uid, whatever the kernel's is."""

    agent: int

    def manifest(self, rows: Mapping[str, list[Any]]) -> Manifest:
        """Of rows by their paths."""
        return {path: self.known(row) for path, row in rows.items()}

    def maybe(self, row: list[Any] | None) -> Entry | None:
        """Of a row that may be missing."""
        return None if row is None else self.known(row)

    def known(self, row: list[Any]) -> Entry:
        """Of one row."""
        kind, mode, uid, gid, *rest = row
        return Entry(_KINDS[kind], mode, self.user(uid), self.user(gid), *rest)

    def user(self, number: int) -> int:
        """What a uid or gid of the kernel's is called."""
        return AGENT_UID if number == self.agent else number
