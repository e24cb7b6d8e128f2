"""Every bad file is refused at its exact place, with what to write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from harness.case import yaml as reader
from harness.case.errors import CaseErrors
from harness.case.load import load_case, load_cases
from tests.unit.case.bad import BAD, Bad
from tests.unit.case.examples import EXAMPLE, TABLES, write_case


def refused(path: Path) -> CaseErrors:
    with pytest.raises(CaseErrors) as caught:
        load_case(path, TABLES)
    return caught.value


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_a_bad_file_is_refused_at_its_place_with_what_to_write(bad: Bad, tmp_path: Path):
    errors = refused(write_case(tmp_path, bad.clean)).errors

    assert [(error.where.line, error.where.column) for error in errors] == bad.places
    for error, says in zip(errors, bad.says, strict=True):
        assert re.search(says, str(error)), str(error)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("with: {code: 429}", "did you mean status: 429?"),
        ("code: 429", "what the fault is made with goes under with: {status: 429}"),
        ("status: 429", "what the fault is made with goes under with: {status: 429}"),
    ],
)
def test_a_status_in_the_wrong_place_is_told_the_right_one(tmp_path: Path, written: str, says: str):
    text = f"case: x\nsubject: codex\nfaults: [{{fault: model.status, {written}}}]\n"
    with pytest.raises(CaseErrors) as caught:
        load_case(write_case(tmp_path, text))

    assert [error.hint for error in caught.value.errors] == [says]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_without_the_c_library_the_same_files_are_refused(
    bad: Bad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reader, "_LOADER", yaml.SafeLoader)

    refused(write_case(tmp_path, bad.clean))


def test_there_are_many_bad_files_with_names_of_their_own():
    names = [bad.name for bad in BAD]

    assert len(names) >= 60
    assert len({(bad.name, bad.text) for bad in BAD}) == len(names)


def test_all_errors_of_a_file_are_told_at_once(tmp_path: Path):
    text = (
        EXAMPLE.replace("case: rate", "cas: rate")
        .replace("request: 2", "reqest: 2")
        .replace("after_events: 3", "after_events: x")
        .replace("home: untouched", "home: untuched")
        .replace("GET /report, reply: {status: 429", "get /report, reply: {status: 429")
        .replace("asked-twice, file", "asked-twce, file")
    )

    errors = refused(write_case(tmp_path, text)).errors

    assert sorted({error.where.line for error in errors}) == [1, 22, 25, 29, 34]


def test_errors_of_all_files_are_told_at_once(tmp_path: Path):
    one = write_case(tmp_path, "case: a\nsubject: nobody\n", "a.yaml")
    two = write_case(tmp_path, "case: b\nsubject: codex\ntags: x\n", "b.yaml")

    with pytest.raises(CaseErrors) as caught:
        load_cases([one, two], TABLES)

    assert {Path(error.where.file).name for error in caught.value.errors} == {"a.yaml", "b.yaml"}


def test_an_id_used_by_two_files_is_refused_with_both_places(tmp_path: Path):
    one = write_case(tmp_path, "case: a\nsubject: codex\n", "a.yaml")
    two = write_case(tmp_path, "title: again\ncase: a\nsubject: codex\n", "b.yaml")

    with pytest.raises(CaseErrors) as caught:
        load_cases([one, two], TABLES)

    (error,) = caught.value.errors
    assert str(error).startswith(f"{two}:2:7: the case id a is in use already, at {one}:1:7")


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    (error,) = refused(tmp_path / "absent.yaml").errors

    assert "No such file" in str(error)


def test_what_is_no_regular_file_is_not_read(tmp_path: Path):
    assert "no regular file" in str(refused(tmp_path))
    assert "no regular file" in str(refused(Path("/dev/zero")))
