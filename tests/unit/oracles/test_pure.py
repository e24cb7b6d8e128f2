"""Oracles are functions of evidence alone: watched, in two processes, on evidence out of files.

The one thing that an oracle has beside it is the process that searches text
(:mod:`harness.search`). It is started before anybody watches, and is asked through a pipe.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from harness.evidence import store
from harness.evidence.model import Evidence
from harness.oracles.registry import ORACLES
from harness.screen.secrets import Screen
from harness.services.lines import request_line
from sandboxes.base import Root
from tests.unit.git.folders import photo, sh
from tests.unit.oracles import impure
from tests.unit.oracles.judging_alone import judged_in_two_processes
from tests.unit.oracles.making import SEEN, ran, state
from tests.unit.oracles.samples import EVIDENCES, SAMPLES


def keep(folder: Path, evidence: Evidence) -> str:
    """Stores evidence as a trial does; where it lies."""
    folder.mkdir()
    (folder / store.REQUESTS).write_text("".join(map(request_line, evidence.requests)))
    store.write_evidence(folder, evidence, Screen({}))
    return str(folder)


def with_a_repository(top: Path) -> Evidence:
    """Evidence of a repository in which work was lost."""
    work = top / "work"
    work.mkdir()
    sh(work, "git init -q -b main; echo 1 > a; git add a; git commit -qm One; echo 2 > a")
    before = photo(work, [("HEAD", "a")])
    sh(work, "git commit -qam Two; git reset -q --hard HEAD~")
    pictures = {"before": before, "after": photo(work, [("HEAD", "a")])}
    return ran(notes={"git": {"workspace:.": pictures, "workspace:r": pictures}})


def with_a_database(top: Path) -> Evidence:
    """Evidence of a subject that keeps its record in SQLite."""
    path = top / "x.db"
    db = sqlite3.connect(path)
    db.executescript("create table t (a text, n integer); insert into t values ('b', 1)")
    db.close()
    key = (Root.WORKSPACE, "x")
    beside: Any = {(Root.WORKSPACE, f"x{name}"): None for name in ("-wal", "-journal")}
    return ran(
        contents={key: path.read_bytes()},
        paths={key: state(), **beside},
        attempts={"curl": {"on.run": 1}},
    )


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """What two processes say of the same evidence."""
    top = tmp_path_factory.mktemp("evidence")
    notes = {"containment": {"touched": [], "left": []}, "unscanned": []}
    evidences = [
        *EVIDENCES,
        with_a_repository(top),
        with_a_database(top),
        ran(sentinels=SEEN, secrets=(), notes=notes, final_text="done"),
    ]
    folders = [keep(top / str(n), evidence) for n, evidence in enumerate(evidences)]
    return judged_in_two_processes(folders)


@pytest.mark.parametrize("name", [*ORACLES, "containment"])
def test_an_oracle_does_nothing_but_judge(name: str, judged: tuple[Any, Any]):
    here, elsewhere = judged

    assert here[name]["offences"] == []
    assert elsewhere[name]["offences"] == []
    assert here[name]["answers"] == elsewhere[name]["answers"]


@pytest.mark.parametrize("name", ORACLES)
def test_it_was_asked_of_evidence_that_it_could_judge(name: str, judged: tuple[Any, Any]):
    answers = judged[0][name]["answers"]

    assert len(answers) == len(SAMPLES[name]) * (len(EVIDENCES) + 3)
    assert {json.loads(answer)["verdict"] for answer in answers} == {
        "passed",
        "failed",
        "unavailable",
    }


@pytest.mark.parametrize(("name", "word"), [(n, w) for n, (_, w) in impure.WATCHED.items()])
def test_what_no_oracle_may_do_is_seen(name: str, word: str, judged: tuple[Any, Any]):
    for process in judged:
        assert any(word in offence for offence in process[name]["offences"])


@pytest.mark.parametrize(("name", "words"), [(n, w) for n, (_, w) in impure.SEEN.items()])
def test_what_an_oracle_leaves_behind_is_seen(name: str, words: str, judged: tuple[Any, Any]):
    for process in judged:
        assert words in process[name]["offences"]


@pytest.mark.parametrize("name", impure.ELSEWHERE)
def test_what_differs_from_process_to_process_is_seen(name: str, judged: tuple[Any, Any]):
    here, elsewhere = judged

    assert here[name]["answers"] != elsewhere[name]["answers"]
