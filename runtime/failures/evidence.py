"""Why each class is in the closed set: the evidence that it was added with, out of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from runtime.recovery.classes import FailureClass

_FILE: Final = Path(__file__).with_name("evidence.yaml")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a class was added with.

    Attributes:
        founding: whether the set began with it.
        share: its part of the records counted then, from 0 to 1.
        records: how many were counted.
        occurrences: how often it was met, where the whole was not counted.
    """

    founding: bool = False
    share: float | None = None
    records: int | None = None
    occurrences: int | None = None

    def __post_init__(self) -> None:
        counted = self.occurrences or (self.share and self.records)
        if not self.founding and not counted:
            raise ValueError("a class joins with a share of records, or with occurrences")

    @property
    def told(self) -> str:
        """The evidence in words; nothing for a class that the set began with."""
        if self.founding:
            return ""
        if self.occurrences:
            return f"joined with {self.occurrences} occurrences"
        return f"joined with {self.share:.0%} of {self.records} records"


def evidence(text: str | None = None) -> Mapping[FailureClass, Evidence]:
    """The evidence of every class.

    Args:
        text: the file's, by default that of the package.

    Raises:
        ValueError: for a class without evidence, or evidence without a class.
    """
    written = yaml.safe_load(_FILE.read_text(encoding="utf-8") if text is None else text)
    found = {FailureClass(name): Evidence(**fields) for name, fields in written.items()}
    if missing := set(FailureClass) - found.keys():
        raise ValueError(f"no evidence for {', '.join(sorted(missing))}")
    return found
