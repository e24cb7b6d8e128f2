"""A sandbox under examination, for the checks of what it can do."""

from __future__ import annotations

import os
from dataclasses import dataclass

from sandboxes.base import ProcessSpec, Sandbox

PATIENCE = 2.0


class Missing(Exception):
    """A capability is not there; the message says why."""


@dataclass(slots=True)
class Bench:
    """A sandbox under examination."""

    sandbox: Sandbox
    grade: str

    def run(self, *argv: str, user: str = "agent", watched: bool = False) -> tuple[int | None, str]:
        """Run a program to its end; its code and what it wrote."""
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb") as output:
            try:
                number = self.start(*argv, fd=writing, user=user, watched=watched)
            finally:
                os.close(writing)
            code = self.end(number)
            os.set_blocking(reading, False)
            return code, (output.read() or b"").decode("utf-8", "replace")

    def end(self, number: int) -> int | None:
        """Wait for one program; its code, or ``None`` where a signal ended it."""
        while ended := self.sandbox.wait(PATIENCE):
            if ended.process == number:  # and not one that a check left behind
                return ended.exit_code
        raise Missing(f"a program did not end within {PATIENCE:g} s")

    def start(self, *argv: str, fd: int, user: str = "agent", watched: bool = False) -> int:
        """Start a program with both streams on one descriptor."""
        env = {"PATH": "/usr/bin:/bin", "HOME": "/home/agent", "LC_ALL": "C"}
        return self.sandbox.start(ProcessSpec(argv, env, fd, fd, user=user, watched=watched))


def expect(truth: bool, why: str) -> None:
    """Be content, or say what is missing."""
    if not truth:
        raise Missing(why)
