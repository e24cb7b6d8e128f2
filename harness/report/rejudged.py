"""What ``shakeout judge`` found, as a document and as a table for people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import IO, Any

from rich import box
from rich.table import Table
from rich.text import Text

from harness.again.rejudge import Rejudged
from harness.again.run_folder import RunFolder
from harness.again.seal import INTACT, Seal
from harness.code import harness_document
from harness.evidence.forms import SCHEMA
from harness.judge.exitcode import INTERRUPTED, NOT_SEALED, FailOn, judge_run
from harness.plural import plural
from harness.report.table import STYLES, console_for, plain
from verifiers.verdicts import Reason, Verdict

Document = Mapping[str, Any]


def rejudged_document(
    run: RunFolder, seal: Seal, trials: Sequence[Rejudged], fail_on: Collection[FailOn]
) -> dict[str, Any]:
    """Everything that was found; its ``exit`` is the process's exit code."""
    judged = partial(
        judge_run,
        interrupted=run.document.get("exit") == INTERRUPTED,
        unsealed=run.document.get("exit") == NOT_SEALED and _not_sealed(run),
        toothless=run.document.get("toothless", ()),
    )
    problems = [*run.problems]
    differs = any(trial.differences for trial in trials)
    then = judged([replace(t, known=t.then).outcome for t in trials], fail_on=run.fail_on).exit
    if run.document and not (problems or differs) and then != run.document["exit"]:
        problems.append(f"run.json says exit code {run.document['exit']}, its trials make {then}")
    outcomes = [trial.outcome for trial in trials]
    whole = judged(outcomes, fail_on=fail_on, differs=differs or bool(problems or seal.problems))
    return {
        "schema": SCHEMA,
        "exit": whole.exit,
        "verdict": whole.verdict.value,
        "reasons": list(whole.reasons),
        "folder": str(run.folder),
        "seal": {"state": seal.state, "told": seal.told, "problems": list(seal.problems)},
        "problems": problems,
        "harness": harness_document(),
        "trials": [
            _trial(trial, weight, flaky=trial.group in whole.flaky)
            for trial, weight in zip(trials, whole.weights, strict=True)
        ],
    }


def _not_sealed(run: RunFolder) -> bool:
    return Reason.NOT_SEALED in run.document["reasons"]


def _trial(trial: Rejudged, weight: Verdict | None, *, flaky: bool) -> dict[str, Any]:
    version, digest = trial.harness
    return {
        "id": trial.id,
        "dir": trial.dir,
        "kind": trial.kind.value,
        "stored": {"verdict": trial.stored, "reasons": list(trial.stored_reasons)},
        "verdict": trial.judged.verdict.value,
        "reasons": list(trial.judged.reasons),
        "message": trial.judged.message,
        "same": not trial.differences,
        "differences": list(trial.differences),
        "known": trial.known.mark.value if trial.known else None,
        "quarantined": trial.quarantined,
        "flaky": flaky,
        "weighs": None if weight is None else weight.value,
        "harness": {"version": version, "digest": digest},
    }


def print_rejudged(document: Document, out: IO[str], width: int | None = None) -> None:
    """Write the table, what differs, and how it ended.

    Args:
        document: what was found.
        out: where to.
        width: as for :func:`~harness.report.table.print_run`: where there is no terminal, no line
            is broken.
    """
    console, wraps = console_for(out, width), width is not None or out.isatty()
    if wraps and document["trials"]:
        console.print(_table(document["trials"]))
    for line in (*(() if wraps else map(_block, document["trials"])), *_lines(document)):
        console.print(line, soft_wrap=not wraps)


def _block(trial: Document) -> Text:
    """A trial without columns."""
    stored = trial["stored"]["verdict"] or "nothing"
    text = plain(f"{trial['verdict']:<{len(Verdict.UNAVAILABLE.value)}} ", STYLES[trial["verdict"]])
    text.append_text(plain(trial["id"]))
    text.append("\n    ").append_text(plain(trial["message"]))
    if not trial["same"]:
        text.append("\n    ").append_text(plain(f"NOT as on record, which is {stored}"))
    for line in trial["differences"]:
        text.append("\n    ").append_text(plain(line))
    return text


def _table(trials: Sequence[Document]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in ("evidence", "on record", "judged now", "same", "why"):
        table.add_column(heading, overflow="fold", ratio=3 if heading == "why" else None)
    for trial in trials:
        stored = trial["stored"]["verdict"]
        same = Text("yes") if trial["same"] else Text("NO", "bold red")
        table.add_row(
            plain(trial["id"]),
            plain(stored or "nothing", STYLES.get(stored, "bold red")),
            plain(trial["verdict"], STYLES[trial["verdict"]]),
            same,
            Text("\n").join(map(plain, [trial["message"], *trial["differences"]])),
        )
    return table


def _lines(document: Document) -> list[Text]:
    seal = document["seal"]
    lines = [plain(line, "bold red") for line in (*seal["problems"], *document["problems"])]
    lines.append(plain(seal["told"], "green" if seal["state"] == INTACT else "yellow"))
    ours = document["harness"]["digest"]
    for version, digest in dict.fromkeys(
        (trial["harness"]["version"], trial["harness"]["digest"]) for trial in document["trials"]
    ):
        if digest and digest != ours:
            lines.append(plain(f"the evidence is of another Shakeout: {version}, {digest}"))
    same = sum(trial["same"] for trial in document["trials"])
    judged = f"{same} of {len(document['trials'])} verdicts are those on record"
    lines.append(plain(f"{document['folder']}: {judged}"))
    lines.append(plain(_conclusion(document, same), "bold"))
    return lines


def _conclusion(document: Document, same: int) -> str:
    """The verdict; where it is not that of the trials: what is wrong, and what that means."""
    end = f"verdict {document['verdict']}, exit code {document['exit']}"
    seal, differ = document["seal"], len(document["trials"]) - same
    if seal["problems"]:
        wrong = f"{seal['told'].partition(';')[0]} ({plural(len(seal['problems']), 'thing')} above)"
        return (
            f"{end}: {wrong}, so what was judged may not be what the run wrote, and proves nothing"
        )
    if differ:
        return f"{end}: the record and the evidence do not belong together in {plural(differ, 'trial')}"
    if document["problems"]:
        return f"{end}: run.json does not belong to these trials, as said above"
    return end
