"""Writes what other programs read of a run into its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from harness.report.junit import junit

Document = Mapping[str, Any]

#: Each file with what makes it of ``run.json``.
REPORTS: Final[Mapping[str, Callable[[Document], bytes]]] = {
    "junit.xml": junit,
}


def write_reports(folder: Path, run: Document) -> None:
    """Write every report of a run into its folder."""
    for name, report in REPORTS.items():
        (folder / name).write_bytes(report(run))
