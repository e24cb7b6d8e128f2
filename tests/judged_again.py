"""What every test that runs the command leaves behind is judged again, from its files alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from harness.again.rejudge import rejudge
from harness.again.run_folder import read_run
from harness.conclude import RUN


def runs(top: Path) -> Iterator[Path]:
    """Every folder of a run that has come to its end, below ``top``."""
    for folder, folders, files in os.walk(top):
        if RUN in files:
            yield Path(folder)
            folders.clear()


def differences(folder: Path) -> Sequence[str]:
    """Where a run's evidence does not give what is on record."""
    run = read_run(folder)
    trials = rejudge(run, known=run.known)
    assert len(trials) == len(run.document["trials"])
    told = [f"{trial.id}: {difference}" for trial in trials for difference in trial.differences]
    return [*run.problems, *told]


@pytest.fixture(autouse=True)
def _judged_again(request: pytest.FixtureRequest) -> Iterator[None]:
    """Judge again what the test has run, but for a test that tampers with evidence itself."""
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    if folder is None or request.node.get_closest_marker("tampers"):
        return
    assert {run: told for run in runs(folder) if (told := differences(run))} == {}
