"""Exit codes: evidence of second rank, asked where no text says anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runtime.recovery.classes import Classified, Failure, FailureClass

_NETWORK: Final = FailureClass.NETWORK

# By the tool that documents them; * stands for shells, whose codes any command can bring along.
_CODES: Final[Mapping[tuple[str, int], FailureClass]] = {
    ("*", 126): FailureClass.PERMISSION_DENIED,
    ("*", 127): FailureClass.MISSING_DEPENDENCY,
    ("curl", 2): FailureClass.BAD_ARGUMENTS,
    ("curl", 3): FailureClass.BAD_ARGUMENTS,
    **{("curl", code): _NETWORK for code in (5, 6, 7, 18, 28, 35, 52, 55, 56)},
    ("curl", 67): FailureClass.AUTH,
    ("wget", 4): _NETWORK,
    ("wget", 6): FailureClass.AUTH,
    ("rsync", 10): _NETWORK,
    ("rsync", 30): _NETWORK,
    ("rsync", 35): _NETWORK,
}
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "shell"})


def by_exit(failure: Failure) -> Classified:
    """The class that a code alone stands for, where both streams are silent; else unknown."""
    code = failure.exit_code
    if code is not None and not len(failure.error) and not len(failure.output):
        tool = "*" if failure.tool in _SHELLS else failure.tool
        if cls := _CODES.get((tool, code)):
            return Classified(cls, None, f"exit.{code}")
    return Classified(FailureClass.UNKNOWN, None, "no-evidence")
