"""What is said of a trial and of a run has exactly its published shape."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from harness import code, sealing
from harness.case.model import Case, SubjectRef, Where
from harness.evidence.documents import run_document
from harness.judge.judging import Kind, TrialVerdict
from harness.plan import Trial
from harness.sabotage.sabotaged import Sabotaged
from harness.subjects.registry import SUBJECTS
from tests.unit.evidence import records
from verifiers.seals.envelope import Link, Statement, statement
from verifiers.seals.sealer import Claim

TOP = Path(__file__).parents[3]
GOLDEN = TOP / "tests" / "golden"
SCHEMA = json.loads((TOP / "cases/schema/attestation.schema.json").read_text())
FILES = [{"name": "case.yaml", "size": 6, "sha256": "1" * 64}]
PLACE = Link(3, "2" * 64, 1_927_944_306.789)


def trial(kind: Kind = Kind.TRIAL, sabotaged: Sabotaged | None = None) -> Trial:
    return Trial(
        id=f"rate-limit-once.agentd.bubblewrap{'' if kind is Kind.TRIAL else f'.{kind}'}",
        kind=kind,
        case=Case("rate-limit-once", Path("x.yaml"), Where("x.yaml", 1, 1), {}),
        ref=SubjectRef("agentd"),
        subject=SUBJECTS["command"],
        identity=records.AGENTD,
        backend="bubblewrap",
        grade="root",
        image="",
        capabilities=frozenset(),
        seed=7,
        repeat=1,
        group="rate-limit-once.agentd.bubblewrap",
        sabotaged=sabotaged,
    )


def said(claim: Claim, **found: object) -> Statement:
    predicate = {"run": "20310203t040506z-0a1b2c", **claim.predicate, **found}
    return statement(claim.kind, claim.subject, predicate, PLACE)


def of_trial(made: Trial, judged: TrialVerdict, folder: Path) -> Statement:
    (folder / "case.yaml").write_text("case: x")
    claim = sealing.trial_claim(made, folder, judged, records.EVIDENCE)
    return said(claim, folder=f"trials/{made.id}", files=FILES)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Statement]:
    system = {"name": "Debian", "kernel": "6.1", "machine": "x86_64"}
    monkeypatch.setattr(sealing, "system", lambda: system)
    monkeypatch.setattr(code, "code_digest", lambda: "sha256:" + "d" * 64)
    document = run_document(records.run(*records.TRIALS, sealed=True))
    (tmp_path / "run.json").write_text("{}")
    folders = [{"name": "trials/x", "seq": 1, "sha256": "3" * 64}]
    image = replace(trial(), backend="docker", image="sha256:" + "e" * 64)
    nobody = replace(trial(), identity=None, backend="", grade="")
    return {
        "passed": of_trial(trial(), records.PASSED, tmp_path),
        "failed": of_trial(image, records.FAILED, tmp_path),
        "unavailable": of_trial(nobody, records.LACKING, tmp_path),
        "sabotage": of_trial(trial(Kind.SABOTAGE, records.NO_ROW), records.WITHIN, tmp_path),
        "run": said(sealing.run_claim(document, tmp_path), files=FILES, folders=folders),
    }


@pytest.mark.parametrize("name", ["passed", "failed", "unavailable", "sabotage", "run"])
def test_the_golden_file_is_what_is_said_and_keeps_the_schema(made, name: str):
    """``GOLDEN=write`` writes the files anew; read the difference before committing it."""
    text = json.dumps(made[name], indent=2) + "\n"
    path = GOLDEN / f"attestation-{name}.json"
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text()
    Draft202012Validator(SCHEMA).validate(made[name])


def test_a_sabotaged_trial_is_never_attested_and_never_about_the_subject_as_it_is(made, tmp_path):
    spoilt = trial(Kind.SABOTAGE, records.NO_ROW)
    toothless = replace(records.PASSED, attestable=False)
    content = of_trial(spoilt, toothless, tmp_path)

    assert content["predicate"]["verdict"] is None
    assert content["predicate"]["attested"] is False
    assert content["predicate"]["sabotage"]["verdict"] == "passed"
    assert content["predicate"]["subject"]["digest"] == records.AGENTD.digest
    assert content["predicate"]["sabotage"]["digest"] == records.NO_ROW.digest
    assert content["subject"][0]["digest"]["sha256"] not in records.AGENTD.digest


def test_the_schema_refuses_a_sabotaged_trial_that_is_attested(made):
    check = Draft202012Validator(SCHEMA)
    for key, value in (("attested", True), ("verdict", "passed")):
        predicate = {**made["sabotage"]["predicate"], key: value}
        assert not check.is_valid({**made["sabotage"], "predicate": predicate})
