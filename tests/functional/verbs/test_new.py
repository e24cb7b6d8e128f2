"""``shakeout new``."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.case.load import load_case
from sandboxes.registry import BACKENDS
from tests.functional.verbs.shakeout import shakeout

needs_a_sandbox = pytest.mark.skipif(
    not any(backend.probe().available for backend in BACKENDS.values()),
    reason="no sandbox can be made here; see shakeout doctor",
)


def test_a_new_case_is_valid_and_says_how_to_run_it(tmp_path: Path):
    made = shakeout("new", "my-first", cwd=tmp_path)
    checked = shakeout("check", "my-first.yaml", cwd=tmp_path)

    assert made.code == 0
    assert "shakeout run my-first.yaml" in made.out
    assert checked.code == 0, checked.err


def test_a_new_case_brings_its_agent_a_fault_and_expectations(tmp_path: Path):
    shakeout("new", "x", "--dir", "some/where", cwd=tmp_path)

    case = load_case(tmp_path / "some/where/x.yaml")

    assert case.id == "x"
    compile(case.workspace.files[0].content, "agent.py", "exec")
    assert case.subjects[0].argv == ("python3", "agent.py", "{task}", "{model}")
    assert case.faults[0].params["status"] == 503
    assert len(case.expect) >= 3


@needs_a_sandbox
def test_a_new_case_passes_and_its_fault_is_what_it_is_about(tmp_path: Path):
    shakeout("new", "x", cwd=tmp_path)

    ended = shakeout("run", "x.yaml", "--json", cwd=tmp_path)
    uninjected = shakeout("run", "x.yaml", "--json", "--no-inject", cwd=tmp_path)

    assert (ended.code, ended.json["verdict"]) == (0, "passed"), ended.out
    assert (uninjected.code, uninjected.json["reasons"]) == (3, ["fault-not-delivered"])


@needs_a_sandbox
def test_the_clean_control_of_a_new_case_passes_and_expects_no_less(tmp_path: Path):
    shakeout("new", "x", cwd=tmp_path)

    ended = shakeout("run", "x.yaml", "--control", "--json", cwd=tmp_path)
    case = load_case(tmp_path / "x.yaml")

    assert ended.code == 0, ended.out
    assert {trial["kind"]: trial["verdict"] for trial in ended.json["trials"]} == {
        "trial": "passed",
        "control": "passed",
    }
    assert case.control is not None
    assert case.control.expect is not None
    assert [one.id for one in case.control.expect] == [one.id for one in case.expect]


@needs_a_sandbox
def test_a_new_case_has_shown_that_it_can_fail(tmp_path: Path):
    made = shakeout("new", "x", cwd=tmp_path)

    ended = shakeout("teeth", "x.yaml", "--json", cwd=tmp_path)

    assert "shakeout teeth x.yaml" in made.out
    assert ended.code == 0, ended.out
    assert [each["bites"] for each in ended.json["sabotages"]] == [True]


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path):
    (tmp_path / "x.yaml").write_text("mine")
    ended = shakeout("new", "x", cwd=tmp_path)

    assert ended.code == 2
    assert "there is a x.yaml already" in ended.err
    assert (tmp_path / "x.yaml").read_text() == "mine"


def test_a_link_is_not_written_through(tmp_path: Path):
    (tmp_path / "x.yaml").symlink_to(tmp_path / "elsewhere")

    assert shakeout("new", "x", cwd=tmp_path).code == 2
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("name", ["", "A", "a/b", "../a", "a b", "a.yaml", "-", "a" * 65, "é"])
def test_what_is_no_case_id_is_refused_and_nothing_is_written(name: str, tmp_path: Path):
    ended = shakeout("new", "--", name, cwd=tmp_path)

    assert ended.code == 2
    assert "is no case id" in ended.err
    assert list(tmp_path.rglob("*.yaml")) == []
