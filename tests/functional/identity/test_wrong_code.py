"""Another checkout earlier on the path judges nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).resolve().parents[3]
CASE = "case: good\nsubject: {command: ['true']}\nexpect: [{exit: 0}]\n"
RUN = [sys.executable, "-m", "harness", "run", "good.yaml", "--json"]
ITEMS = [sys.executable, "-m", "pytest", "-q", "-p", "harness.pytest_plugin", "good.yaml"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.yaml").write_text(CASE)
    return tmp_path


def ran(folder: Path, argv: list[str], **env: str) -> subprocess.CompletedProcess[str]:
    kept = {"PATH": os.environ["PATH"], "HOME": str(folder), "SHAKEOUT_STATE": str(folder / "s")}
    return subprocess.run(
        argv,
        cwd=folder,
        env={**kept, **env},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def other_checkout(folder: Path, *packages: str) -> Path:
    """The whole of ours, or some of its packages, in another place."""
    other = folder / "other"
    for package in packages:
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(TOP / package, other / package, ignore=unwanted)
    return other


def trial(text: str) -> Any:
    (only,) = json.loads(text)["trials"]
    return only


def test_another_checkout_on_the_path_is_refused_and_named(folder: Path):
    other = other_checkout(folder, "harness", "sandboxes", "verifiers", "cases")

    done = ran(folder, RUN, PYTHONPATH=str(other))

    refused = trial(done.stdout)
    assert (done.returncode, refused["verdict"]) == (4, "error")
    assert refused["reasons"] == ["wrong-code"]
    assert f"was loaded from {other}/" in refused["message"]
    assert f"shakeout is in {TOP};" in refused["message"]


def test_one_package_of_another_checkout_is_refused_too(folder: Path):
    other = other_checkout(folder, "verifiers")

    refused = trial(ran(folder, RUN, PYTHONPATH=str(other)).stdout)

    assert refused["reasons"] == ["wrong-code"]
    assert f"verifiers was loaded from {other}/verifiers/__init__.py" in refused["message"]


def test_the_plugin_of_pytest_is_refused_likewise(folder: Path):
    other = other_checkout(folder, "harness", "sandboxes", "verifiers", "cases")

    done = ran(folder, ITEMS, PYTHONPATH=str(other))

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "verdict: error (wrong-code)" in done.stdout


def test_the_installed_code_runs(folder: Path):
    assert trial(ran(folder, RUN).stdout)["verdict"] == "passed"


def test_what_lies_in_the_current_folder_is_not_loaded(folder: Path):
    (folder / "yaml.py").write_text("raise SystemExit('the yaml of the current folder')\n")
    other_checkout(folder, "verifiers").joinpath("verifiers").rename(folder / "verifiers")

    done = ran(folder, RUN)

    assert trial(done.stdout)["verdict"] == "passed", done.stderr
