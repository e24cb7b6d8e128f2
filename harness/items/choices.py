"""What a pytest session was asked for: its options, and what is chosen once for all processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.commands.options import add_weighing, seed_of
from harness.errors import UsageError
from harness.judge.exitcode import FailOn
from harness.outdir import run_folder, run_id
from harness.plan import Selection
from harness.record import Marks
from sandboxes.registry import BACKENDS


@dataclass(frozen=True, slots=True)
class Choices:
    """How the cases of a session are run.

    Attributes:
        run: id of the run that the session is.
        folder: of the run; not made yet.
        default: whether nobody named that folder.
        selection: how cases become trials.
        marks: what is marked, and what counts as failed.
        inject: whether faults are armed.
        worker: name of this process among those of the session; empty in the first.
    """

    run: str
    folder: Path
    default: bool
    selection: Selection
    marks: Marks
    inject: bool
    worker: str

    def for_workers(self) -> dict[str, Any]:
        """What another process of the session has to be told, as plain data."""
        return {"run": self.run, "folder": str(self.folder), "seed": self.selection.seed}


def add_options(parser: pytest.Parser) -> None:
    """Add the options of ``shakeout run`` that make sense in pytest."""
    add = parser.getgroup("shakeout", "shakeout: cases as items").addoption
    add("--shakeout-out", metavar="DIR", help="the run's folder; new or empty")
    add("--shakeout-sandbox", choices=["auto", *BACKENDS], default="auto", help="where to run")
    add("--shakeout-subject", metavar="NAME", help="run every case with this subject")
    add("--shakeout-seed", type=int, metavar="N", help="of everything chosen by chance")
    add("--shakeout-repeat", type=_count, default=1, metavar="N", help="do each trial N times")
    add("--shakeout-control", action="store_true", help="run each clean control beside its case")
    add("--shakeout-no-inject", action="store_true", help="arm no fault")
    add_weighing(add, "--shakeout-")


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ValueError
    return int(text)


def choices(config: pytest.Config) -> Choices:
    """What the options say; a worker takes from its first process what was chosen there.

    Raises:
        pytest.UsageError: the run's folder cannot be used.
    """
    option = config.option
    told: Mapping[str, Any] | None = getattr(config, "workerinput", {}).get("shakeout")
    seed = option.shakeout_seed
    if told is not None:
        run, folder, seed = told["run"], Path(told["folder"]), told["seed"]
    else:
        run = run_id()
        seed = seed_of(seed)
        folder = _folder(option.shakeout_out, run)
    return Choices(
        run=run,
        folder=folder,
        default=option.shakeout_out is None,
        selection=Selection(
            subject=option.shakeout_subject,
            backend=option.shakeout_sandbox,
            repeat=option.shakeout_repeat,
            seed=seed,
            control=option.shakeout_control,
        ),
        marks=Marks(
            known=not option.shakeout_no_known,
            fail_on=[FailOn(word) for word in option.shakeout_fail_on],
        ),
        inject=not option.shakeout_no_inject,
        worker=getattr(config, "workerinput", {}).get("workerid", ""),
    )


def _folder(wanted: str | None, run: str) -> Path:
    try:
        return run_folder(wanted, run, option="--shakeout-out")
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error
