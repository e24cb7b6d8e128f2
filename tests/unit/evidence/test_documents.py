"""verdict.json, run.json and what is made from them have exactly their published shapes."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator, ValidationError

from harness.evidence import forms
from harness.evidence.conclusion import Asked, conclusion
from harness.evidence.documents import run_document, usage_document, verdict_document
from harness.journal import NAME, Journal, read_journal
from harness.judge.exitcode import FailOn
from harness.report.ctrf import ctrf
from harness.report.junit import junit
from harness.report.sarif import sarif
from harness.report.table import OfSuite, print_run
from tests.unit.evidence import records
from tests.unit.evidence.records import run
from tests.unit.evidence.test_store import FULL
from verifiers.verdicts import Reason, Verdict

TOP = Path(__file__).parents[3]
GOLDEN = TOP / "tests" / "golden"
SCHEMAS = TOP / "cases" / "schema"

RUN = run_document(run(*records.TRIALS))
ERRORS = [
    {"file": "a.yaml", "line": 3, "column": 5, "message": "unknown key 'expct'", "hint": "expect"}
]


SUITE = OfSuite(frozenset({"rate-limit-once", "hangs"}), 32)


def table(document: Any, suite: OfSuite | None = None) -> str:
    out = io.StringIO()
    print_run(document, out, suite, width=200)
    return out.getvalue()


def text(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


MADE = {
    "run.json": text(RUN),
    "run-empty.json": text(run_document(run())),
    "run-invalid.json": text(usage_document(ERRORS)),
    "verdict-passed.json": text(verdict_document("t", records.PASSED, records.EVIDENCE)),
    "verdict-failed.json": text(verdict_document("t", records.FAILED, records.EVIDENCE)),
    "verdict-timed-out.json": text(verdict_document("t", records.TIMED_OUT, records.EVIDENCE)),
    "verdict-unavailable.json": text(
        verdict_document("t", records.LACKING, None, [records.MISSED])
    ),
    "junit.xml": junit(RUN).decode(),
    "results.sarif": sarif(RUN).decode(),
    "ctrf.json": ctrf(RUN).decode(),
    "table.txt": table(RUN, SUITE),
}


@pytest.mark.parametrize("name", MADE)
def test_the_golden_file_is_what_is_made(name: str):
    """``GOLDEN=write`` writes the files anew; read the difference before committing it."""
    if os.environ.get("GOLDEN") == "write":
        (GOLDEN / name).write_text(MADE[name])
    assert MADE[name] == (GOLDEN / name).read_text()


def validator(name: str, definition: str | None = None) -> Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    if definition:
        schema = {"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]}
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", [name for name in MADE if name.startswith(("run", "verdict"))])
def test_every_golden_document_keeps_its_published_schema(name: str):
    kind = "run" if name.startswith("run") else "verdict"
    validator(kind).validate(json.loads((GOLDEN / name).read_text()))


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("files.json", [forms.change_form(change) for change in FULL.changes]),
        ("processes.json", forms.processes_form(FULL.processes)),
        ("network.json", forms.network_form(FULL.network)),
        ("evidence.json", forms.rest_form(FULL, dict.fromkeys(FULL.contents, "subject/x"))),
    ],
)
def test_every_file_of_the_evidence_keeps_its_published_schema(name: str, document: object):
    validator("evidence", name).validate(json.loads(json.dumps(document)))


def test_the_journal_keeps_its_published_schema(tmp_path: Path):
    journal = Journal(tmp_path / NAME)
    journal.write("armed", fault="cut")
    journal.close()

    for event in read_journal(tmp_path / NAME):
        validator("evidence", "journal.jsonl line").validate(event)


@pytest.mark.parametrize("key", RUN)
def test_a_run_without_one_of_its_keys_is_refused(key: str):
    with pytest.raises(ValidationError):
        validator("run").validate({k: v for k, v in RUN.items() if k != key})


def test_the_schema_knows_every_reason_and_no_other():
    document = json.loads(MADE["verdict-passed.json"])
    check = validator("verdict")
    for reason in (*Reason, "limit", "broke:a-2"):
        check.validate({**document, "reasons": [str(reason)]})
    for reason in ("broke:", "broke:A", "slow"):
        assert not check.is_valid({**document, "reasons": [reason]})


def test_the_counts_are_plain_and_the_marks_beside_them():
    counts = RUN["counts"]

    assert counts == {
        "passed": 4, "failed": 4, "timed_out": 1, "unavailable": 4, "error": 1,
        "known": 1, "quarantined": 1, "flaky": 1,
    }  # fmt: skip
    assert sum(list(counts.values())[:5]) == len(RUN["trials"])


def weighs(document: Any) -> dict[str, str | None]:
    return {trial["id"].split(".")[0]: trial["weighs"] for trial in document["trials"]}


def test_every_trial_says_what_it_weighs():
    found = weighs(RUN)

    assert found["wipes-home-known"] is None
    assert found["races"] is None
    assert found["spares-home-known"] == "failed"
    assert found["wavers"] == "failed"
    assert found["rate-limit-once"] == "passed"
    assert (
        weighs(run_document(run(*records.TRIALS, fail_on=[FailOn.KNOWN])))["wipes-home-known"]
        == "failed"
    )


# -- JUnit


def red(document: Any) -> set[str]:
    """Test cases that are red."""
    top = ET.fromstring(junit(document))
    return {
        case.attrib["name"].split(".")[0]
        for case in top.iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    }


def test_a_test_case_is_red_exactly_where_its_trial_raises_the_exit_code():
    assert red(RUN) == {
        "wipes-home", "spares-home-known", "hangs", "misses", "unseen", "lacks", "leaves", "wavers"
    }  # fmt: skip


@pytest.mark.parametrize(
    "made",
    [
        run(),
        run(records.TRIALS[0]),
        run(records.TRIALS[0], interrupted=True),
        run(records.TRIALS[0], unsealed=True),
        run(records.record("x", records.FAILED), unsealed=True),
        run(records.record("x", records.ERROR)),
        run(records.record("x", records.FAILED, quarantine=records.QUARANTINE)),
        run(records.record("x", records.WITHIN, subject=records.CODEX, known=(records.KNOWN,))),
        run(*records.TRIALS),
    ],
)
def test_the_report_is_green_exactly_where_the_exit_code_is_0(made):
    document = run_document(made)

    assert bool(red(document)) == (document["exit"] != 0)


def test_the_xml_holds_no_character_that_xml_cannot_hold():
    top = ET.fromstring(junit(RUN))
    messages = [e.attrib["message"] for e in top.iter("failure")]

    assert any("<b>[red]&\ufffd[31m.bashrc\ufffd" in message for message in messages)
    suite = top.find("testsuite")
    assert suite is not None
    assert int(suite.attrib["tests"]) == len(RUN["trials"])
    assert (int(suite.attrib["failures"]), int(suite.attrib["errors"])) == (5, 4)


def test_every_test_case_names_its_evidence():
    top = ET.fromstring(junit(RUN))
    for case, trial in zip(top.iter("testcase"), RUN["trials"], strict=True):
        assert f"evidence: {trial['dir']}" in (case.findtext("system-out") or "").splitlines()


# -- the table


def test_nothing_of_a_subject_is_markup_or_a_control_character():
    shown = table(RUN)

    assert "[red]&" in shown
    assert "\x1b" not in shown
    assert "\x00" not in shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_colours_and_no_escape_of_the_subject(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    print_run(RUN, out)

    assert "\x1b[" in out.getvalue()
    assert "\x1b[31m.bashrc" not in out.getvalue()


def test_the_summary_counts_the_suite_and_says_the_exit_code():
    shown = table(RUN, SUITE)

    assert "\nsuite: 2 of 32 checks are written, 1 passed\n" in shown
    assert "verdict failed, exit code 1" in shown
    assert "of these 1 known, 1 quarantined, 1 flaky" in shown
    assert "nothing was selected" in table(run_document(run()))


def test_a_narrow_terminal_breaks_no_id_up():
    out = io.StringIO()

    print_run(RUN, out, width=60)

    assert all(trial["dir"] in out.getvalue().replace("\n", "") for trial in RUN["trials"])
    assert max(map(len, out.getvalue().splitlines())) <= 60


def test_a_run_with_known_defects_alone_says_so():
    only_known = [t for t in RUN["trials"] if t["known"] and t["known"]["mark"] == "known"]
    words = conclusion(Asked.RUN, 0, Verdict.FAILED, len(only_known))
    run = {**RUN, "trials": only_known, "exit": 0, "verdict": "failed", "conclusion": words}

    assert "nothing failed but known defects" in table(run)


def test_everything_that_broke_is_told():
    trial = next(t for t in RUN["trials"] if t["broke"])
    more = {"id": "claims", "expected": "no false claim", "seen": "it says that all is well"}
    run = {**RUN, "trials": [{**trial, "broke": [*trial["broke"], more]}]}

    assert "claims: expected no false claim; saw it says that all is well" in table(run)


@pytest.mark.parametrize("columns", [None, "80"])
def test_a_log_gets_each_path_on_one_line(monkeypatch: pytest.MonkeyPatch, columns: str | None):
    monkeypatch.setenv("COLUMNS", columns) if columns else monkeypatch.delenv("COLUMNS", False)
    out = io.StringIO()
    print_run(RUN, out)
    lines = out.getvalue().splitlines()

    for trial in RUN["trials"]:
        (line,) = (line for line in lines if line.endswith(f" {trial['dir']}"))
        assert line.startswith(trial["verdict"])
    assert any(line.endswith("cases/a [b].yaml:9:5") for line in lines)
    assert not any(line != line.rstrip() for line in lines[:-3])


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_is_wider_than_the_screen_and_no_id_is_broken(width: int):
    out = io.StringIO()
    print_run(RUN, out, width=width)

    assert max(map(len, out.getvalue().splitlines())) <= width
    assert all(trial["dir"] in out.getvalue() for trial in RUN["trials"])
