"""The GitHub Action: its scripts are run as they stand, with its inputs as their environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

TOP = Path(__file__).resolve().parents[3]
ACTION = yaml.safe_load((TOP / "action.yml").read_text())
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"] if "id" in step}
GOOD = """\
case: good
subject: {command: [sh, -c, "echo 42 > report.txt"]}
expect: [{file: {path: report.txt, equals: "42\\n"}}]
"""
BAD = GOOD.replace("good", "bad").replace("echo 42", "echo 41")
LACKS = "case: lacks\nsubject: {command: [no-such-program]}\nexpect: [{exit: 0}]\n"


@dataclass(frozen=True)
class Ran:
    code: int
    outputs: Mapping[str, str]
    summary: str
    err: str


@dataclass(frozen=True)
class Runner:
    """What a hosted runner gives a step: folders, files to write to, and an environment."""

    folder: Path

    def environment(self, step: str, inputs: Mapping[str, str]) -> dict[str, str]:
        defaults = {name: given["default"] for name, given in ACTION["inputs"].items()}
        assert inputs.keys() <= defaults.keys()
        values = {f"inputs.{name}": value for name, value in {**defaults, **inputs}.items()}
        values["steps.setup.outputs.venv"] = sys.prefix
        values["github.action_path"] = str(TOP)
        given = STEPS[step]["env"]
        return {name: values[text.strip("${} ")] for name, text in given.items()}

    def __call__(self, step: str, **inputs: str) -> Ran:
        temp, work = self.folder / "temp", self.folder / "work"
        temp.mkdir(exist_ok=True)
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.touch()
        chosen = {name.replace("_", "-"): value for name, value in inputs.items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", STEPS[step]["run"]],
            cwd=work,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.folder),
                "SHAKEOUT_STATE": str(self.folder / "state"),
                "RUNNER_TEMP": str(temp),
                **{name: str(path) for name, path in files.items()},
                **self.environment(step, chosen),
            },
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        lines = files["GITHUB_OUTPUT"].read_text().splitlines()
        outputs = dict(line.split("=", 1) for line in lines)
        summary = files["GITHUB_STEP_SUMMARY"].read_text()
        return Ran(done.returncode, outputs, summary, done.stderr)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    work = tmp_path / "work"
    (work / "cases").mkdir(parents=True)
    for name, text in (("good", GOOD), ("bad", BAD), ("lacks", LACKS)):
        (work / "cases" / f"{name}.yaml").write_text(text)
    return Runner(tmp_path)


def document(ran: Ran) -> Any:
    return json.loads((Path(ran.outputs["folder"]) / "run.json").read_text())


def test_no_script_holds_an_expression():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_every_input_is_used():
    used = json.dumps(ACTION["runs"]["steps"])

    assert [name for name in ACTION["inputs"] if f"inputs.{name}" not in used] == []


def test_it_runs_what_it_is_told_and_says_what_became_of_it(runner: Runner):
    ran = runner("run", paths="cases/good.yaml\n\n  cases/bad.yaml\n", args="--seed 7 -n '2'")

    made = document(ran)
    assert ran.code == made["exit"] == int(ran.outputs["exit-code"]) == 1
    assert (made["selected"], made["seed"]) == (2, 7)
    kept = {path.name for path in Path(ran.outputs["folder"]).iterdir()}
    assert {"run.json", "junit.xml", "results.sarif", "ctrf.json", "log.jsonl"} <= kept
    assert "### ❌ shakeout: failed, exit code 1" in ran.summary
    assert "bad.command" in ran.summary


def test_more_can_be_asked_to_count_as_failed(runner: Runner):
    ran = runner("run", paths="cases/lacks.yaml", fail_on="unavailable, error", summary="false")

    assert ran.code == 1
    assert document(ran)["trials"][0]["verdict"] == "unavailable"
    assert ran.summary == ""


def test_it_can_show_teeth_instead(runner: Runner):
    case = runner.folder / "work" / "cases" / "good.yaml"
    silent = 'replace_subject: {command: ["true"]}'
    case.write_text(f"{GOOD}sabotage: [{{name: silent, breaks: [file], {silent}}}]\n")

    ran = runner("run", paths="cases/good.yaml", teeth="true")

    assert ran.code == 0, ran.err
    assert {trial["kind"] for trial in document(ran)["trials"]} >= {"trial", "sabotage"}


SUDO = """\
#!/bin/sh
[ "$1" = chown ] && exit
kept=,${1#--preserve-env=},
shift
for name in $(env | cut -d= -f1); do
  case $kept,PATH,HOME, in *,"$name",*) ;; *) unset "$name" ;; esac
done
exec "$@"
"""


def test_root_gets_what_the_job_chose(runner: Runner, monkeypatch: pytest.MonkeyPatch):
    programs = runner.folder / "programs"
    programs.mkdir()
    for name, text in (("sudo", SUDO), ("id", "#!/bin/sh\necho 1000\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)

    ran = runner("run", paths="cases/good.yaml")

    assert ran.code == 0, ran.err
    assert (runner.folder / "state" / "keys" / "key.pub").is_file()
    assert "SHAKEOUT_IMAGE,SHAKEOUT_RUNTIME" in STEPS["run"]["run"]


@pytest.mark.parametrize("name", ["paths", "args", "fail_on", "sandbox"])
def test_an_input_is_never_run(runner: Runner, name: str):
    evil = "$(touch pwned) `touch pwned` ; touch pwned # ' \" \n\0".replace("\0", "touch pwned")
    inputs = {"paths": "cases/good.yaml", name: evil}

    ran = runner("run", **inputs)

    assert ran.code != 0
    assert not list(runner.folder.rglob("pwned"))


@pytest.mark.long
def test_it_sets_itself_up(runner: Runner):
    ran = runner("setup")

    assert ran.code == 0, ran.err
    shakeout = Path(ran.outputs["venv"]) / "bin" / "shakeout"
    listed = subprocess.run([shakeout, "list"], capture_output=True, text=True, check=True)
    assert "k3-containment" in listed.stdout
