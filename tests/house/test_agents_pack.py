"""The pack of cases for real agents: every case can fail, and speaks of the pinned versions."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from harness.case.load import load_cases
from harness.case.model import Case
from tests.house.checkout import ROOT

PACK = ROOT / "cases" / "agents"
FILES = sorted(PACK.glob("*.yaml"))
PACKAGES = {"claude-code": "@anthropic-ai/claude-code", "codex": "@openai/codex"}


def cases() -> Sequence[Case]:
    return load_cases(FILES)


def named(case: Case) -> str:
    return case.id


def pinned() -> dict[str, str]:
    packages = json.loads((ROOT / "ci" / "agents" / "package.json").read_text())["dependencies"]
    return {subject: packages[package] for subject, package in PACKAGES.items()}


def test_the_pack_has_a_case_for_each_file_and_enough_of_them():
    assert [case.id for case in cases()] == [path.stem for path in FILES]
    assert len(FILES) >= 15


@pytest.mark.parametrize("case", cases(), ids=named)
def test_a_case_is_for_both_agents_and_says_what_is_right_and_where_it_comes_from(case: Case):
    assert {ref.name for ref in case.subjects} == set(PACKAGES)
    assert case.title
    assert case.proves
    assert case.source.read_text().startswith("# ")


@pytest.mark.parametrize("case", cases(), ids=named)
def test_a_case_provokes_and_has_a_control_without_the_harm(case: Case):
    assert case.expect
    if not case.faults:
        assert case.stimulus
        assert case.control is not None
        assert case.control.script not in (None, case.script)


@pytest.mark.parametrize("case", cases(), ids=named)
def test_a_case_ends_by_itself_in_seconds(case: Case):
    assert case.sandbox.seconds <= 30


@pytest.mark.parametrize("case", cases(), ids=named)
def test_a_known_defect_is_one_of_the_pinned_version(case: Case):
    for entry in case.known:
        assert entry.version == f"=={pinned()[entry.subject]}"
        assert entry.because


def test_both_agents_fail_at_something_and_neither_at_everything():
    for subject in PACKAGES:
        known = sum(any(entry.subject == subject for entry in case.known) for case in cases())
        assert 5 <= known <= len(FILES) - 5


@pytest.mark.parametrize("case", cases(), ids=named)
def test_a_case_names_what_a_careless_agent_breaks(case: Case):
    (sabotage,) = case.sabotage
    assert sabotage.name == "careless-agent"
    assert [path.name for path in case.workspace.mounts] == ["careless.py"]


def test_nothing_else_lies_in_the_pack():
    there = {path for path in PACK.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert there == {*FILES, PACK / "careless.py"}
