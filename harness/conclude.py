"""The end of a run, however it was run: it is judged, and put on disk for every reader."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from harness.commands.answers import printable
from harness.evidence.documents import Document, TrialRecord, run_document
from harness.journal import Journal
from harness.record import Course, Marks, run_record
from harness.report.files import REPORTS, write_report
from harness.report.html.page import NAME as PAGE
from harness.report.html.page import write_page
from harness.sealing import run_claim
from verifiers.seals.errors import NotSealed
from verifiers.seals.sealer import Sealer

LOG = "log.jsonl"
RUN = "run.json"


More = Callable[[Document], Mapping[str, bytes]]


def conclude(
    sealer: Sealer,
    log: Journal,
    course: Course,
    trials: Sequence[TrialRecord],
    marks: Marks,
    more: More | None = None,
) -> Document:
    """Judge the run, write ``run.json`` and what other programs read of it, seal the whole.

    Args:
        sealer: of the run, attached.
        log: of the run; it is closed.
        course: how it went.
        trials: what became of each.
        marks: what to mark.
        more: makes further files of the document, by name.

    Returns:
        What ``run.json`` says; its ``exit`` is the run's exit code.
    """

    def written() -> Document:
        whole = sealer.broken is None
        unsealed = not whole and not sealer.refused
        record = run_record(course, trials, marks, sealed=whole, unsealed=unsealed)
        document = run_document(record)
        _write(sealer.folder, log, document, more)
        return document

    document = written()
    if sealer.broken is None:
        try:
            sealer.finish(run_claim(document, sealer.folder))
        except NotSealed as error:
            log.write("not-sealed", message=str(error))
            document = written()
    log.close()
    if sealer.broken is not None:
        sys.stderr.write(f"shakeout: the run is not sealed: {printable(str(sealer.broken))}\n")
    return document


def _write(folder: Path, log: Journal, document: Document, more: More | None) -> None:
    log.write("ended", exit=document["exit"], verdict=document["verdict"])
    (folder / RUN).write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    for name, data in more(document).items() if more else ():
        (folder / name).write_bytes(data)
    reports = {name: partial(write_report, folder, name, document) for name in REPORTS}
    for name, write in {**reports, PAGE: partial(write_page, folder, document)}.items():
        _write_report(folder / name, write, log)


def _write_report(path: Path, write: Callable[[], None], log: Journal) -> None:
    """Write a report; it is no evidence, so that where it fails no verdict changes."""
    try:
        path.unlink(missing_ok=True)
        write()
    except Exception as error:  # noqa: BLE001 - whatever it was, all else of the run is there
        why = "".join(traceback.format_exception_only(error)).strip()
        log.write("no-report", report=path.name, why=why)
        sys.stderr.write(
            f"shakeout: {path.name} could not be made, and is left out; verdicts and evidence are "
            f"complete without it: {printable(why)}\n"
        )
