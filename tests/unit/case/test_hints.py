"""Hints for what is misspelt: on the command line, in paths, and where one mistake makes another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness import cli
from harness.case.errors import CaseErrors
from harness.case.find import find
from harness.case.load import load_case
from harness.nearby import did_you_mean


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["chek"], "unknown 'chek'; did you mean check?"),
        (["zzzzz"], "unknown 'zzzzz'; write one of run, teeth, check, "),
        (["run", "--sedd", "3", "--jsn"], "arguments: --sedd --jsn; did you mean --seed --json?"),
        (["run", "--otu=x"], "unrecognized arguments: --otu=x; did you mean --out?"),
        (["run", "--zzzzzz"], "unrecognized arguments: --zzzzzz\n"),
        (["run", "--sandbox", "dcker"], "unknown 'dcker'; did you mean docker?"),
        (["evidence", "verfy"], "unknown 'verfy'; did you mean verify?"),
        (["evidence", "verify", "--jsn", "x"], "--jsn; did you mean --json?"),
        (["--vesion"], "unrecognized arguments: --vesion; did you mean --version?"),
    ],
)
def test_a_misspelt_word_is_told_what_was_meant(
    words: Sequence[str], says: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)

    assert ended.value.code == 2
    assert says in capsys.readouterr().err


def test_a_path_that_is_not_there_is_told_what_lies_beside_it(tmp_path: Path):
    (tmp_path / "first.yaml").write_text("case: first\n")
    (tmp_path / "first.txt").touch()
    (tmp_path / "latest").mkdir()

    for wrong, hint in (("frist.yaml", "first.yaml"), ("first.yml", "first.yaml")):
        with pytest.raises(CaseErrors, match=f"no such file; did you mean {tmp_path / hint}[?]"):
            find([tmp_path / wrong])
    with pytest.raises(CaseErrors, match="no such file; name a case or a folder"):
        find([tmp_path / "elsewhere"])
    assert did_you_mean(tmp_path / "latst", "", ()) == f"did you mean {tmp_path / 'latest'}?"
    assert did_you_mean(Path("latst"), "", (), tmp_path) == "did you mean latest?"
    for unknown in (tmp_path / "latest", tmp_path / "no" / "where", Path("a\0b")):
        assert did_you_mean(unknown, "other") == "other"


def errors(folder: Path, more: str) -> list[str]:
    path = folder / "a.yaml"
    path.write_text(f"case: a\nsubject: codex\n{more}")
    with pytest.raises(CaseErrors) as caught:
        load_case(path)
    return [str(error).removeprefix(f"{path}:") for error in caught.value.errors]


SABOTAGE = 'sabotage: [{{name: s, breaks: [{}], replace_subject: {{command: ["true"]}}}}]\n'


def test_what_breaks_is_not_told_to_be_misspelt_as_its_oracle_is(tmp_path: Path):
    listed = "expect: [{filez: {path: a}}, {exit: 0}]\n"
    oracle = "3:11: unknown oracle 'filez'; did you mean file?"

    assert errors(tmp_path, listed + SABOTAGE.format("file")) == [oracle]
    assert errors(tmp_path, listed + SABOTAGE.format("filez")) == [
        oracle,
        "4:31: no expectation has the id 'filez'; did you mean file?",
    ]


def test_what_is_no_oracle_is_proposed_nowhere(tmp_path: Path):
    assert errors(tmp_path, "expect: [{zzzz: 1}, {exit: 0}]\n" + SABOTAGE.format("yyyy")) == [
        "3:11: unknown oracle 'zzzz'; shakeout explain oracles lists them",
        "4:31: no expectation has the id 'yyyy'; write exit",
    ]
