"""Repositories that a case cannot mean are refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.case.errors import CaseErrors
from harness.case.load import load_case
from harness.case.tables import installed

HEAD = "case: c\nsubject: {command: [x]}\n"
REMOTE = "services: {git: {origin: {repos: {app: {files: {a: x}}}}}}\n"
WRONG = {
    "workspace: {git: {remote: origin/none}}\n" + REMOTE: "no repository",
    "workspace: {git: {remote: origin/app}}\n": "no repository",
    "workspace: {git: {staged: {../a: x}}}\n": "no path in a repository",
    "workspace: {git: {dirty: {.git/config: x}}}\n": "no path in a repository",
    "workspace: {git: {dirty: {a: x, a/b: x}}}\n": "lies in a",
    "services: {git: {o: {repos: {r: {tags: {v: none}}}}}}\n": "no branch",
    "services: {git: {o: {repos: {r: {empty: true, files: {a: x}}}}}}\n": "is empty",
    "services: {github: {g: {repos: {o/r: {pulls: [{title: t, head: none}]}}}}}\n": "no branch",
    "expect: [{git: {remote: o/r, clean: true}}]\n": "no work tree",
    "expect: [{git: {repo: ../x, clean: true}}]\n": "no path inside",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_cannot_be_made_is_refused_with_its_place(tmp_path: Path, text: str):
    path = tmp_path / "c.yaml"
    path.write_text(HEAD + text)

    with pytest.raises(CaseErrors) as refused:
        load_case(path, installed())

    (error, *_) = refused.value.errors
    assert WRONG[text] in error.message
    assert error.where.line > 2
