"""The end of a run, however it was run: it is judged, and put on disk for every reader."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.commands.answers import printable
from harness.evidence.documents import Document, TrialRecord, run_document
from harness.journal import Journal
from harness.record import Course, Marks, run_record
from harness.report.files import write_reports
from harness.report.html.page import NAME as PAGE
from harness.report.html.page import write_page

LOG = "log.jsonl"
RUN = "run.json"


More = Callable[[Document], Mapping[str, bytes]]


def conclude(
    folder: Path,
    log: Journal,
    course: Course,
    trials: Sequence[TrialRecord],
    marks: Marks,
    more: More | None = None,
) -> Document:
    """Judge the run, write ``run.json`` and what other programs read of it, close the log.

    Args:
        folder: of the run.
        log: of the run.
        course: how it went.
        trials: what became of each.
        marks: what to mark.
        more: makes further files of the document, by name.

    Returns:
        What ``run.json`` says; its ``exit`` is the run's exit code.
    """
    document = run_document(run_record(course, trials, marks))
    log.write("ended", exit=document["exit"], verdict=document["verdict"])
    write_reports(folder, document)
    for name, data in more(document).items() if more else ():
        (folder / name).write_bytes(data)
    (folder / RUN).write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    _write_page(folder, log, document)
    log.close()
    return document


def _write_page(folder: Path, log: Journal, document: Document) -> None:
    """Write ``report.html``; it is no evidence, so that where it fails no verdict changes."""
    try:
        write_page(folder, document)
    except Exception as error:  # noqa: BLE001 - whatever it was, all else of the run is there
        why = "".join(traceback.format_exception_only(error)).strip()
        log.write("no-report", why=why)
        sys.stderr.write(
            f"shakeout: {PAGE} could not be made, and is left out; verdicts and evidence are "
            f"complete without it: {printable(why)}\n"
        )
