"""Many trivial trials: how many a second, and whether the harness grows with their number."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ci.measure.figures import Figure, Unavailable
from sandboxes import clock, proc

TRIALS = 500
EARLY = 50
CASE = """\
schema: 1
case: trivial
title: The program ends with 0
subject: {command: ["true"]}
task: Nothing.
sandbox: {network: none}
expect:
  - {exit: 0}
"""


def figures() -> Iterator[Figure | Unavailable]:
    """Trials a second beside one worker, and memory at the end beside memory early."""
    with tempfile.TemporaryDirectory() as folder:
        case = Path(folder) / "trivial.yaml"
        case.write_text(CASE)
        try:
            alone = _run(case, Path(folder) / "alone", count=EARLY, workers=1)
            four = _run(case, Path(folder) / "four", count=TRIALS, workers=4)
        except RuntimeError as error:
            yield Unavailable("trivial trials", str(error))
            return
    yield Figure(
        "trivial trials, -n 4",
        TRIALS / four.seconds,
        EARLY / alone.seconds,
        "trials/s",
        "-n 1",
        goal=1,
        more_is_better=True,
    )
    yield Figure(
        f"memory at trial {TRIALS}", four.late, four.early, "MiB", f"at trial {EARLY}", goal=1.1
    )


class Run:
    """A run that has ended: how long it took and how large the harness was."""

    def __init__(self, seconds: float, early: float, late: float) -> None:
        self.seconds = seconds
        self.early = early
        self.late = late


def _run(case: Path, out: Path, *, count: int, workers: int) -> Run:
    shakeout = str(Path(sys.executable).with_name("shakeout"))
    argv = [shakeout, "run", str(case), "--repeat", str(count), "-n", str(workers)]
    began = clock.monotonic()
    child = proc.start([*argv, "--out", str(out)], env=proc.minimal_env())
    early = late = 0.0
    try:
        while child.wait(0.05) is None:
            late = _resident(child.pid) or late
            if not early and _ended(out) >= EARLY:
                early = late
        seconds = clock.monotonic() - began
    finally:
        child.end()
    _all_passed(out, count)
    return Run(seconds, early or late, late)


def _ended(out: Path) -> int:
    return sum(1 for _ in out.glob("trials/*/verdict.json"))


def _resident(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    sizes = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    return int(sizes[0]) / 1024 if sizes else 0.0


def _all_passed(out: Path, count: int) -> None:
    try:
        run = json.loads((out / "run.json").read_text())
    except OSError as error:
        message = f"the run left no run.json: {error}"
        raise RuntimeError(message) from error
    if run["counts"]["passed"] != count:
        message = f"{run['counts']['passed']} of {count} passed: {run['reasons']}"
        raise RuntimeError(message)
