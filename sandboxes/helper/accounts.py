"""The password file of a sandbox, with the agent's entry or without it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from sandboxes.helper import paths

_PATH = "etc/passwd"
_LONGEST = 1 << 20


@dataclass(slots=True)
class Accounts:
    """What the password file was, and what it was made, while the agent's entry is taken out."""

    whole: bytes = b""
    shown: bytes | None = None

    def name(self, root: int, uid: int, *, named: bool) -> None:
        """Give the agent its name, or take it, in the sandbox whose root folder is ``root``.

        The file is replaced as a whole, so nothing inside reads half of it. One that was
        changed inside meanwhile stays as it is.
        """
        if named is (self.shown is None):
            return
        fd = paths.open_file(root, _PATH)
        if fd is None:
            raise FileNotFoundError(f"the sandbox has no plain file /{_PATH}")
        with os.fdopen(fd, "rb") as file:
            text, status = file.read(_LONGEST), os.fstat(fd)
        item = {"path": _PATH, "kind": "file", "target": "", "mode": status.st_mode & 0o7777}
        if not named:
            self.whole, self.shown = text, _without(text, uid)
            paths.plant(root, item, self.shown, status.st_uid)
            return
        if text == self.shown:
            paths.plant(root, item, self.whole, status.st_uid)
        self.shown = None


def _without(text: bytes, uid: int) -> bytes:
    number = str(uid).encode()
    lines = text.splitlines(keepends=True)
    return b"".join(line for line in lines if line.split(b":")[2:3] != [number])
