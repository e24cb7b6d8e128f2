"""The end of a run, however it was run: it is judged, and put on disk for every reader."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from harness.evidence.documents import Document, TrialRecord, run_document
from harness.journal import Journal
from harness.record import Course, Marks, run_record
from harness.report.files import write_reports

LOG = "log.jsonl"
RUN = "run.json"


def conclude(
    folder: Path, log: Journal, course: Course, trials: Sequence[TrialRecord], marks: Marks
) -> Document:
    """Judge the run, write ``run.json`` and what other programs read of it, close the log.

    Args:
        folder: of the run.
        log: of the run.
        course: how it went.
        trials: what became of each.
        marks: what to mark.

    Returns:
        What ``run.json`` says; its ``exit`` is the run's exit code.
    """
    document = run_document(run_record(course, trials, marks))
    log.write("ended", exit=document["exit"], verdict=document["verdict"])
    log.close()
    write_reports(folder, document)
    (folder / RUN).write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    return document
