"""Writes what other programs read of a run into its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from harness.report.ctrf import ctrf
from harness.report.junit import junit
from harness.report.sarif import sarif
from verifiers.seals.reading import Absent, Unfit, ending

Document = Mapping[str, Any]

JUNIT: Final = "junit.xml"
SARIF: Final = "results.sarif"
CTRF: Final = "ctrf.json"
_OUTPUTS: Final = ("stdout", "stderr")
_SHOWN: Final = 2000


#: Makes each report of a run and its folder, by the name of its file.
REPORTS: Final[Mapping[str, Callable[[Document, Path], bytes]]] = {
    JUNIT: lambda run, folder: junit(run, lambda trial: _printed(folder, trial)),
    SARIF: lambda run, _: sarif(run),
    CTRF: lambda run, _: ctrf(run),
}


def write_report(folder: Path, name: str, run: Document) -> None:
    """Write one of :data:`REPORTS` into the folder of its run."""
    (folder / name).write_bytes(REPORTS[name](run, folder))


def _printed(folder: Path, trial: Document) -> str:
    """The end of what the subject of a trial printed, as it is stored."""
    outputs = _OUTPUTS if trial["dir"] else ()
    ends = {name: _end(folder, f"{trial['dir']}/{name}") for name in outputs}
    return "\n\n".join(f"the end of its {name}:\n{end}" for name, end in ends.items() if end)


def _end(folder: Path, name: str) -> str:
    with suppress(OSError, Absent, Unfit):
        return ending(folder, name, _SHOWN).decode("utf-8", "replace").strip()
    return ""
