"""Which files a command line means, and which of their cases."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.case.errors import CaseErrors
from harness.case.find import find, is_case, is_suite, search
from harness.case.load import load_case, load_each
from harness.case.select import parse, select
from harness.case.suite import load_suite
from harness.commands import check
from harness.errors import UsageError
from tests.unit.case.examples import TABLES, write_case

SUITE = """\
suite: s
checks:
  - {id: C01, title: One, case: faults/one.yaml}
  - {id: C02, title: Two}
"""


def tree(folder: Path) -> None:
    for name in ("faults/one.yaml", "faults/two.yml", "schema/x.yaml", ".git/y.yaml", "z.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("case: a\n")
    (folder / "suite.yaml").write_text(SUITE)
    (folder / "loop").symlink_to(folder)


def test_a_folder_stands_for_every_case_beneath_it(tmp_path: Path):
    tree(tmp_path)
    found = find([tmp_path])

    assert found.files == (tmp_path / "faults/one.yaml", tmp_path / "faults/two.yml")
    assert found.of_suites == {(tmp_path / "faults/one.yaml").resolve()}
    assert found.missing == ()


def test_a_suite_stands_for_its_cases_and_names_what_is_not_written(tmp_path: Path):
    tree(tmp_path)
    found = find([tmp_path / "suite.yaml"])

    assert found.files == (tmp_path / "faults/one.yaml",)
    assert [(check.id, check.title) for check in found.missing] == [("C02", "Two")]
    assert str(found.missing[0].where).endswith("suite.yaml:4:5")


def test_a_file_named_in_several_ways_is_found_once(tmp_path: Path):
    tree(tmp_path)
    one = tmp_path / "faults/one.yaml"

    assert find([one, tmp_path / "faults/../faults/one.yaml", tmp_path / "suite.yaml"]).files == (
        one,
    )


def test_every_path_that_is_not_there_is_told(tmp_path: Path):
    with pytest.raises(CaseErrors) as caught:
        find([tmp_path / "a.yaml", tmp_path / "b"])

    assert [Path(error.where.file).name for error in caught.value.errors] == ["a.yaml", "b"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("suite: s\nchecks: [{id: C01, title: One, case: nope.yaml}]\n", "2:38: there is no file"),
        ("suite: s\nchecks: [{id: A1, title: a}, {id: A1, title: b}]\n", "2:35: .* second time"),
        ("suite: s\nchecks: [{id: a1, title: a}]\n", "2:15: 'a1' is no check id"),
        ("suite: s\nchecks: [{id: A1}]\n", "2:10: entry 1 of checks lacks title"),
        ("suite: s\n", "lacks checks"),
        ("suite: s\nchecks: []\n", "at least 1 entry"),
        ("checks: [{id: A1, title: a}]\n", "lacks suite"),
    ],
)
def test_a_bad_suite_is_refused_at_its_place(text: str, says: str, tmp_path: Path):
    path = tmp_path / "suite.yaml"
    path.write_text(text)

    with pytest.raises(CaseErrors, match=says):
        load_suite(path)


TEXTS = ("rate-limit-once", "A 429 is retried", "recovery", "http")


@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        ("rate", True),
        ("RATE", True),
        ("429", True),
        ("nope", False),
        ("not nope", True),
        ("not not rate", True),
        ("rate and nope", False),
        ("rate or nope", True),
        ("nope or rate and nope", False),
        ("(nope or rate) and http", True),
        ("not (rate and http)", False),
        ("notable", False),
        ("rate-limit and not(nope)", True),
    ],
)
def test_an_expression_means_what_it_says(expression: str, fits: bool):
    assert parse(expression)(TEXTS) is fits


@pytest.mark.parametrize(
    "expression", ["", " ", "and", "a b", "a and", "or a", "(a", "a)", "()", "not", "(" * 99 + "a"]
)
def test_what_is_no_expression_is_refused(expression: str):
    with pytest.raises(UsageError, match="expected"):
        parse(expression)


@given(st.lists(st.sampled_from(["and", "or", "not", "(", ")", "a", "b"]), max_size=12))
def test_any_words_are_an_expression_or_refused(words: list[str]):
    expression = " ".join(words)
    try:
        test = parse(expression)
    except UsageError:
        return
    python = " ".join({"a": "True", "b": "False"}.get(word, word) for word in words)

    assert test(["a"]) is eval(python)


def test_cases_are_selected_by_id_tag_and_title(tmp_path: Path):
    text = "case: {0}\ntitle: {1}\ntags: [{2}]\nsubject: codex\n"
    cases = [
        load_case(write_case(tmp_path, text.format(*words), f"{words[0]}.yaml"), TABLES)
        for words in (("one", "First", "x"), ("two", "Second", "x"), ("three", "Third", "y"))
    ]

    assert [case.id for case in select(cases, "x and not first")] == ["two"]
    assert len(select(cases, None)) == 3
    assert select(cases, "nothing") == ()


@pytest.mark.parametrize("mark", ["log.jsonl", "run.json"])
@pytest.mark.parametrize("name", ["out/x", "evidence", "a/b/c"])
def test_the_folder_of_a_run_is_not_searched_whatever_it_is_called(
    name: str, mark: str, tmp_path: Path
):
    tree(tmp_path)
    run = tmp_path / name
    trial = run / "trials/one.codex.bubblewrap"
    (trial / "subject/workspace").mkdir(parents=True)
    (run / mark).write_text("{}\n")
    for path in ("case.yaml", "subject/workspace/case.yaml", "subject/workspace/suite.yaml"):
        (trial / path).write_text("case: a\n")
    (tmp_path / "latest").symlink_to(run)

    assert find([tmp_path]).files == (tmp_path / "faults/one.yaml", tmp_path / "faults/two.yml")
    for inside in (run, run / "trials", trial, trial / "subject", tmp_path / "latest"):
        assert find([inside]).files == ()
    assert find([trial / "case.yaml"]).files == (trial / "case.yaml",)


def test_a_folder_called_trials_or_out_holds_cases_like_any_other(tmp_path: Path):
    for name in ("trials/a.yaml", "out/b.yaml", "out/log.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("case: a\n")

    assert find([tmp_path]).files == (tmp_path / "out/b.yaml", tmp_path / "trials/a.yaml")


def test_what_is_wrong_keeps_nothing_back_of_what_is_right(tmp_path: Path):
    (tmp_path / "good.yaml").write_text("case: good\nsubject: codex\n")
    (tmp_path / "bad.yaml").write_text("case: bad\n")
    (tmp_path / "suite.yaml").write_text("suite: s\nchecks: [{id: C01}]\n")

    found, errors = search([tmp_path, tmp_path / "gone.yaml"])
    cases, invalid = load_each(found.files)

    assert [case.id for case in cases] == ["good"]
    assert {Path(error.where.file).name for error in errors} == {"suite.yaml", "gone.yaml"}
    assert {Path(error.where.file).name for error in invalid} == {"bad.yaml"}


def test_what_is_no_regular_file_is_not_opened_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    fifo, lost = tmp_path / "x.yaml", tmp_path / "lost.yaml"
    os.mkfifo(fifo)
    lost.symlink_to("nowhere")

    assert not is_case(fifo)
    parser = argparse.ArgumentParser()
    check.configure(parser)
    assert check.run(parser.parse_args(["--cases-only", str(fifo), str(lost)])) == 0
    assert capsys.readouterr().err == (
        f"{fifo}:1:1: left out, since it is no regular file\n"
        f"{lost}:1:1: left out, since there is no such file\n"
    )


def test_a_file_that_cannot_be_read_may_be_a_case_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "suite.yaml"
    path.write_text("")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    assert not is_case(path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        assert is_case(path)
        assert is_suite(path)
