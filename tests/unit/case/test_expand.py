"""One case to those that are tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.case.expand import expand
from harness.case.load import case_of, load_case
from harness.case.model import Case, SubjectRef
from harness.case.yaml import parse
from harness.errors import UsageError
from tests.unit.case.examples import TABLES, write_case

VARIED = """\
case: x
subjects: [codex, {claude-code: {model: m}}]
faults:
  - {fault: model.status, with: {retry_after: "1"}, each: {status: [429, 503]}}
  - {id: cut, fault: model.truncate, each: {after_events: [0, 1, 2]}}
"""


def varied(folder: Path, text: str = VARIED) -> Case:
    return load_case(write_case(folder, text), TABLES)


def test_a_plain_case_is_its_only_variant(tmp_path: Path):
    case = varied(tmp_path, "case: x\nsubject: codex\n")

    ((variant, number),) = expand(case)

    assert number is None
    assert variant == case


def test_each_subject_meets_each_combination_in_the_files_order(tmp_path: Path):
    tried = [
        (
            variant.subjects[0].name,
            number,
            variant.faults[0].params["status"],
            variant.faults[1].params["after_events"],
        )
        for variant, number in expand(varied(tmp_path))
    ]

    combinations = [(1, 429, 0), (2, 429, 1), (3, 429, 2), (4, 503, 0), (5, 503, 1), (6, 503, 2)]
    assert tried == [
        (subject, *combination)
        for subject in ("codex", "claude-code")
        for combination in combinations
    ]


def test_a_variant_has_one_subject_and_nothing_left_to_vary(tmp_path: Path):
    case = varied(tmp_path)
    for variant, _ in expand(case):
        assert len(variant.subjects) == 1
        assert variant.each == {}
        assert variant.faults[0].params["retry_after"] == "1"
    assert case.each == {
        "model.status": {"status": [429, 503]},
        "cut": {"after_events": [0, 1, 2]},
    }


def test_the_document_of_a_variant_loads_as_that_variant(tmp_path: Path):
    for variant, _ in expand(varied(tmp_path)):
        again = case_of(
            parse("", "x.yaml").__class__("x.yaml", variant.document, {}, {}),
            variant.source,
            TABLES,
        )

        assert again.subjects == variant.subjects
        assert again.faults == variant.faults
        assert again.each == {}


def test_a_named_subject_replaces_those_of_the_case(tmp_path: Path):
    variants = expand(varied(tmp_path), "agentd", TABLES)

    assert len(variants) == 6
    assert {variant.subjects[0].name for variant, _ in variants} == {"agentd"}
    assert variants[0][0].subjects[0].params == {"act": False}


def test_a_named_subject_that_the_case_has_keeps_its_parameters(tmp_path: Path):
    variants = expand(varied(tmp_path), "claude-code", TABLES)

    assert {one.subjects[0].params["model"] for one, _ in variants} == {"m"}
    assert variants[0][0].subjects == (SubjectRef("claude-code", {"model": "m"}),)


@pytest.mark.parametrize(("name", "says"), [("cdex", "did you mean codex"), ("command", "argv")])
def test_a_subject_that_cannot_replace_is_refused(name: str, says: str, tmp_path: Path):
    with pytest.raises(UsageError, match=says):
        expand(varied(tmp_path), name, TABLES)
