"""Reads the labelled failures: one file for each class, the file's name is the class.

A record starts with ``== tool exit-code`` (``-`` for none); its error output follows, then, behind
``-- stdout``, its normal output. ``\\e`` is the escape character.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runtime.recovery.classes import Failure, FailureClass

FOLDER = Path(__file__).with_name("failures")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A failure and the class that a reader gave it."""

    id: str
    label: FailureClass
    failure: Failure


def labelled() -> list[Labelled]:
    """All of them."""
    return [record for path in sorted(FOLDER.glob("*.txt")) for record in _records(path)]


def _records(path: Path) -> list[Labelled]:
    found = []
    parts = path.read_text(encoding="utf-8").replace("\\e", "\x1b").split("\n== ")
    for number, part in enumerate(parts):
        head, _, body = part.removeprefix("== ").partition("\n")
        tool, code = head.rsplit(" ", 1)
        streams = {"stderr": "", "stdout": ""}
        at = "stderr"
        for line in body.splitlines(keepends=True):
            if line.startswith("-- "):
                at = line[3:].strip()
            else:
                streams[at] += line
        failure = Failure(
            tool, None if code == "-" else int(code), streams["stdout"], streams["stderr"]
        )
        found.append(Labelled(f"{path.stem}-{number}", FailureClass(path.stem), failure))
    return found
