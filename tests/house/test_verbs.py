"""The verbs of ci/ are few, can be run, and refuse what they don't know."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.house.checkout import ROOT

VERBS = ("setup", "suite", "test", "check", "engine", "bench")
SCRIPTS = [ROOT / "ci" / verb for verb in VERBS] + [
    ROOT / ".ci/run",
    ROOT / "ci/parts/as-user",
    *(ROOT / "ci/parts" / part for part in ("agents", "npm", "wheel")),
]


def run(*argv: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv, cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_can_be_run_and_stops_at_the_first_error(script: Path):
    text = script.read_text()

    assert os.access(script, os.X_OK)
    assert text.startswith("#!/usr/bin/env bash\n# ")
    assert "set -euo pipefail" in text or "exec bash" in text
    assert run("bash", "-n", script).returncode == 0


def test_the_contributor_s_guide_names_every_verb():
    guide = (ROOT / "CONTRIBUTING.md").read_text()

    assert set(re.findall(r"`ci/([a-z]+)[`\s]", guide)) == set(VERBS)


def test_the_machine_runs_what_a_person_runs():
    (line,) = (
        line
        for line in (ROOT / ".ci/run").read_text().splitlines()
        if line and not line.startswith("#")
    )

    assert line.startswith("exec bash ")
    assert line.rstrip('"').endswith("/ci/test")


@pytest.mark.parametrize("verb", ["setup", "engine"])
def test_an_unknown_option_is_bad_usage(verb: str):
    ended = run(ROOT / "ci" / verb, "--nonsense")

    assert ended.returncode == 2
    assert "--nonsense" in ended.stderr
    assert "usage" in ended.stderr


def test_the_locked_requirements_are_installed_here():
    asked = run(ROOT / ".venv/bin/python", "-m", "pip", "check")

    assert asked.returncode == 0, asked.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_reads_the_checkout_and_cannot_write_it():
    script = 'test -r pyproject.toml && ! touch pyproject.toml && touch "$HOME/x" && id -u'
    ended = run("bash", ROOT / "ci/parts/as-user", "bash", "-c", script)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "65534"


def test_the_contributor_s_guide_names_only_paths_that_are_there():
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    paths = [path for path in re.findall(r"`([\w./-]+/[\w./-]+)`", guide) if "<" not in path]

    assert paths != []
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_set_up_is_quick_and_silent_where_nothing_is_to_do():
    run(ROOT / "ci/setup", "--no-agents")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    again = run(ROOT / "ci/setup", "--no-agents")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)

    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1


def test_the_workflow_pins_its_actions_and_grants_nothing_by_default():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    jobs = workflow["jobs"]
    used = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]

    assert used != []
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in used)
    assert workflow["permissions"] == {}
    assert all(job["timeout-minutes"] <= 90 for job in jobs.values())
    assert set(jobs["done"]["needs"]) == set(jobs) - {"done"}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_says_how_it_is_used_and_does_nothing_else(verb: str):
    ended = run(ROOT / "ci" / verb, "--help")

    assert ended.returncode == 0
    assert ended.stderr == ""
    assert f"  ci/{verb}" in ended.stdout
    assert "set -euo" not in ended.stdout


DOCKER = """#!/bin/sh
case "$*" in
  "-H unix:///named version "*) echo 1.2.3 ;;
  "image inspect "*) sed -n 's/^IN_BASE=//p' ci/engine ;;
  *) exit 1 ;;
esac
"""


def test_the_engine_that_is_named_is_the_one_that_is_used(tmp_path: Path):
    for name in ("ci/engine", "ci/parts/lib.sh", "ci/parts/help.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "docker").write_text(DOCKER)
    (tmp_path / "docker").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"

    ended = run("bash", tmp_path / "ci/engine", "start", PATH=path, DOCKER_HOST="unix:///named")

    assert (ended.returncode, ended.stdout) == (0, "DOCKER_HOST=unix:///named\n"), ended.stderr
