"""The hook for pre-commit, run as git would have it run: with the files of a commit."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

TOP = Path(__file__).resolve().parents[3]
(HOOK,) = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text())
CASE = "case: good\nsubject: {command: ['true']}\nexpect: [{exit: 0}]\n"
COMPOSE = "services: {web: {image: nginx}}\nsecrets: {token: {file: t}}\n"
WORKFLOW = "name: ci\non: [push]\njobs: {one: {steps: []}}\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    return tmp_path


def git(folder: Path, *words: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *words], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def commit(folder: Path, **files: str) -> subprocess.CompletedProcess[str]:
    """Stage the files, and run the hook on those of its types."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_yaml", ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(folder, "add", "-A")
    assert HOOK["types"] == ["yaml"]
    staged = git(folder, "diff", "--cached", "--name-only", "-z", "--diff-filter=ACMRT")
    names = [name for name in staged.split("\0") if re.search(r"\.ya?ml$", name)]
    program, *words = shlex.split(HOOK["entry"])
    return subprocess.run(
        [Path(sys.prefix) / "bin" / program, *words, *names],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_other_files_are_left_alone(repository: Path):
    done = commit(repository, compose_yaml=COMPOSE, **{".github__ci_yaml": WORKFLOW})

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_valid_case_is_let_through(repository: Path):
    done = commit(repository, cases__good_yaml=CASE, compose_yaml=COMPOSE)

    assert done.returncode == 0
    assert "cases/good.yaml: valid" in done.stdout
    assert "compose" not in done.stdout


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (CASE.replace("expect:", "expct:"), "cases/bad.yaml:3:1: "),
        (CASE.replace("case:", "cas:"), "cases/bad.yaml:1:1: "),
        ("case: bad\nexpect: [\n", "cases/bad.yaml:3:1: is no YAML"),
    ],
)
def test_an_invalid_case_is_held_up_with_its_place(repository: Path, text: str, place: str):
    done = commit(repository, cases__bad_yaml=text, compose_yaml=COMPOSE)

    assert done.returncode == 2
    assert place in done.stderr


def test_a_suite_is_checked_and_another_tool_s_file_of_that_name_is_not(repository: Path):
    suite = "suite: ours\nchecks: [{id: C1, title: t, case: gone.yaml}]\n"

    assert commit(repository, other__suite_yaml="tests: [a, b]\n").returncode == 0
    done = commit(repository, cases__suite_yaml=suite)
    assert done.returncode == 2
    assert "there is no file 'gone.yaml'" in done.stderr


@pytest.mark.tampers
def test_evidence_that_is_committed_is_no_case(repository: Path):
    kept = {"kept__run.json": "{}", "kept__trials__a__case_yaml": "case: a\nsubject: x\n"}

    assert commit(repository, **kept).returncode == 0
