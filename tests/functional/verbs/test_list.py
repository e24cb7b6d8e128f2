"""``shakeout list``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.functional.verbs.shakeout import shakeout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text(
        "case: alpha\ntitle: The first\ntags: [x, y]\nsubjects: [codex, claude-code]\n"
        "faults: [{fault: model.reset}]\n"
    )
    (tmp_path / "b.yaml").write_text("case: beta\ntitle: The second\ntags: [x]\nsubject: codex\n")
    (tmp_path / "suite.yaml").write_text(
        "suite: s\nchecks: [{id: C01, title: One, case: a.yaml}, {id: C02, title: Two}]\n"
    )
    return tmp_path


def test_items_say_what_a_case_is(folder: Path):
    ended = shakeout("list", "a.yaml", "--json", cwd=folder)

    assert ended.json == {
        "schema": 1,
        "exit": 0,
        "items": [
            {
                "id": "alpha",
                "title": "The first",
                "tags": ["x", "y"],
                "subjects": ["codex", "claude-code"],
                "faults": ["model.reset"],
                "file": "a.yaml",
            }
        ],
    }


@pytest.mark.parametrize(
    ("expression", "ids"),
    [
        ("x", ["alpha", "beta"]),
        ("x and not y", ["beta"]),
        ("first or beta", ["alpha", "beta"]),
        ("two", ["C02"]),
    ],
)
def test_a_selection_is_by_id_tag_and_title(expression: str, ids: list[str], folder: Path):
    ended = shakeout("list", "suite.yaml", ".", "-k", expression, "--json", cwd=folder)

    assert [item["id"] for item in ended.json["items"]] == ids


def test_a_check_that_is_not_written_is_listed_as_such(folder: Path):
    ended = shakeout("list", "suite.yaml", cwd=folder)

    assert ended.code == 0
    assert ended.out.splitlines() == [
        "alpha  codex, claude-code  [x, y]",
        "    The first",
        "    a.yaml",
        "C02",
        "    Two",
        "    not written yet",
    ]


def test_a_title_cannot_command_the_terminal(folder: Path):
    (folder / "c.yaml").write_text('case: c\ntitle: "\\e[2Jgone\\nd"\nsubject: codex\n')
    ended = shakeout("list", "c.yaml", cwd=folder)

    assert ended.out.splitlines() == [
        "c  codex",
        "    \N{REPLACEMENT CHARACTER}[2Jgone d",
        "    c.yaml",
    ]


def test_an_empty_selection_is_exit_3(folder: Path):
    ended = shakeout("list", ".", "-k", "nothing", cwd=folder)

    assert ended.code == 3
    assert "-k 'nothing' matches no id, tag or title" in ended.err


def test_a_bad_expression_is_exit_2(folder: Path):
    ended = shakeout("list", ".", "-k", "a and", cwd=folder)
    as_json = shakeout("list", ".", "-k", "a and", "--json", cwd=folder)

    assert ended.code == 2
    assert "expected a word, came its end" in ended.err
    assert as_json.json["exit"] == 2
    assert as_json.json["errors"][0]["hint"].startswith("write words with and, or, not")


def test_an_invalid_file_is_exit_2(folder: Path):
    (folder / "c.yaml").write_text("case: c\n")
    ended = shakeout("list", ".", cwd=folder)
    as_json = shakeout("list", ".", "--json", cwd=folder)

    assert ended.code == 2
    assert "c.yaml:1:1: the case lacks subject" in ended.err
    assert [line.split()[0] for line in ended.out.splitlines() if line[0] != " "] == [
        "alpha",
        "beta",
    ]
    assert (as_json.code, as_json.json["exit"]) == (2, 2)
    assert [item["id"] for item in as_json.json["items"]] == ["alpha", "beta"]
    assert as_json.json["errors"][0]["file"] == "c.yaml"


def test_all_32_checks_are_listed_by_default(tmp_path: Path):
    ended = shakeout("list", "--json", cwd=tmp_path)
    written = {item["id"].upper().partition("-")[0] for item in ended.json["items"]}

    assert ended.code == 0
    assert {*(f"C{n:02}" for n in range(1, 24)), *(f"K{n}" for n in range(1, 10))} <= written


def test_the_list_is_readable_in_80_columns_and_names_every_subject(folder: Path):
    long = " ".join(["word"] * 40)
    (folder / "c.yaml").write_text(
        f"case: {'c' * 60}\ntitle: {long}\ntags: [{', '.join(f't{n}' for n in range(40))}]\n"
        "subjects: [codex, claude-code, {command: [sh]}]\n"
    )
    ended = shakeout("list", "c.yaml", cwd=folder)
    every = shakeout("list", cwd=folder.parents[0])

    assert max(map(len, ended.out.splitlines())) <= 80
    assert "codex, claude-code, command" in " ".join(ended.out.split())
    assert ended.out.split().count("word") == 40
    assert all(len(line) <= 80 or " " not in line.strip() for line in every.out.splitlines())


@pytest.mark.parametrize("verb", ["list", "check", "run"])
def test_a_verb_says_which_path_it_takes_by_default(verb: str, tmp_path: Path):
    said = " ".join(shakeout(verb, "--help", cwd=tmp_path).out.split())
    default = {
        "list": "cases/suite.yaml, and all of cases/",
        "check": "all of cases/",
        "run": "the suite that comes with shakeout",
    }

    assert f"(default: {default[verb]})" in said
