"""What can be left inside from outside, and taken back; a part of every sandbox with a keeper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sandboxes import wall
from sandboxes.base import Lock, Manifest, Planted, Root
from sandboxes.channel import Channel
from sandboxes.entries import Entries, item


class Leaving:
    """Asks the keeper; each call is one of the contract's."""

    _keeper: Channel
    _entries: Entries

    def tree(self, root: Root, path: str) -> Manifest:
        """A path, and all below it."""
        return self._entries.manifest(self._ask("tree", root=root.value, path=path)["tree"])

    def cut(self, root: Root, path: str, size: int) -> int:
        """Cut a file down in its place."""
        return int(self._ask("cut", root=root.value, path=path, size=size)["number"])

    def leave(self, root: Root, planted: Planted, *, instead: bool = False) -> int:
        """Make a path where nothing is."""
        body = {"op": "leave", "root": root.value, "item": item(planted), "instead": instead}
        return int(self._keeper.ask(body, planted.content).body["number"])

    def hold(self, root: Root, path: str, locks: Sequence[Lock]) -> int:
        """Lock a file from outside."""
        asked = [asdict(lock) for lock in locks]
        return int(self._ask("hold", root=root.value, path=path, locks=asked)["number"])

    def save(self, root: Root, path: str, name: str) -> None:
        """Keep a copy of a file or folder."""
        self._ask("save", root=root.value, path=path, name=name)

    def revert(self, root: Root, path: str, name: str) -> int:
        """Put what was saved in its place."""
        return int(self._ask("revert", root=root.value, path=path, name=name)["number"])

    def programs(self, name: str, path: str) -> Sequence[str]:
        """Every place where a program is found."""
        return list(self._ask("programs", name=name, path=path)["places"])

    def hide(self, path: str) -> int:
        """Take a program away."""
        return int(self._ask("hide", path=path)["number"])

    def burden(self, path: str, seconds: float | None) -> int:
        """Have each start of a program leave a child behind."""
        milliseconds = -1 if seconds is None else round(seconds * 1000)
        body = {"op": "burden", "path": path, "milliseconds": milliseconds}
        return int(self._keeper.ask(body, wall.lingerer().read_bytes()).body["number"])

    def lingering(self) -> Sequence[int]:
        """The children that watched programs have left behind."""
        return list(self._ask("lingering")["pids"])

    def undo(self, number: int) -> None:
        """Take back what was cut, left or reverted."""
        self._ask("undo", number=number)

    def _ask(self, operation: str, **arguments: object) -> dict[str, Any]:
        return self._keeper.ask({"op": operation, **arguments}).body
