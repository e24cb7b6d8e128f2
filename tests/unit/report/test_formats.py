"""JUnit, SARIF and CTRF: valid for their readers, and red exactly where the run is.

What the formats allow is written down here as far as it is used; nothing beyond it may appear.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from harness.evidence.documents import run_document
from harness.judge.exitcode import FailOn
from harness.report.ctrf import ctrf
from harness.report.files import REPORTS, write_report
from harness.report.junit import junit
from harness.report.sarif import sarif
from tests.unit.evidence import records
from tests.unit.evidence.records import run

ALL = run_document(run(*records.TRIALS))
PASSED = records.TRIALS[0]
RUNS: Mapping[str, Any] = {
    "all": run(*records.TRIALS),
    "raised": run(*records.TRIALS, fail_on=list(FailOn)),
    "nothing": run(),
    "passed": run(PASSED),
    "interrupted": run(PASSED, interrupted=True),
    "unsealed": run(PASSED, unsealed=True),
    "failed": run(records.record("x", records.FAILED)),
    "failed and unsealed": run(records.record("x", records.FAILED), unsealed=True),
    "timed out": run(records.record("x", records.TIMED_OUT)),
    "unavailable": run(records.record("x", records.UNAVAILABLE)),
    "error": run(records.record("x", records.ERROR)),
    "quarantined": run(records.record("x", records.FAILED, quarantine=records.QUARANTINE)),
    "known": run(
        records.record("x", records.WITHIN, subject=records.CODEX, known=(records.KNOWN,))
    ),
    "fixed": run(
        records.record("x", records.PASSED, subject=records.CODEX, known=(records.KNOWN,))
    ),
    "flaky": run(*records.TRIALS[-2:]),
}
DOCUMENTS = {name: run_document(made) for name, made in RUNS.items()}
HOSTILE = "\x1b[2J\x00 ]]> </failure> \ud800 \u202egnp [a](http://b) {0} &lt;"


def hostile() -> Any:
    """The run of everything, with text of a trial that no format can hold as it is."""
    trials = [
        {
            **trial,
            "message": HOSTILE,
            "broke": [{**one, "seen": HOSTILE * 1000} for one in trial["broke"]],
            "where": {"file": "/a b/\u00e4#?.yaml", "line": 3, "column": 1},
        }
        for trial in ALL["trials"]
    ]
    return {**ALL, "trials": trials}


DOCUMENTS["hostile"] = hostile()
every_run = pytest.mark.parametrize("name", DOCUMENTS)


# -- JUnit

#: Elements of Jenkins' schema: attributes that must be, that may be, and children.
TEXTS = {"type", "message"}
JENKINS: Mapping[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"time", "skipped", "timestamp", "hostname", "id", "package"},
        {"properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": (
        {"name"},
        {"time", "classname"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": (set(), TEXTS, set()),
    "error": (set(), TEXTS, set()),
    "skipped": (set(), TEXTS, set()),
    "system-out": (set(), set(), set()),
}


@every_run
def test_junit_keeps_to_the_schema_of_jenkins(name: str):
    top = ET.fromstring(junit(DOCUMENTS[name], lambda trial: HOSTILE))

    assert top.tag == "testsuites"
    for element in top.iter():
        must, may, children = JENKINS[element.tag]
        assert must <= set(element.attrib) <= must | may, element.tag
        assert {child.tag for child in element} <= children, element.tag
    for element in top.iter("testsuite"):
        assert re.fullmatch(r"[0-9]+\.[0-9]{3}", element.attrib["time"])
        assert datetime.fromisoformat(element.attrib["timestamp"]).tzinfo is None
        cases = element.findall("testcase")
        assert element.attrib["tests"] == str(len(cases))
        for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert element.attrib[key] == str(sum(case.find(tag) is not None for case in cases))


def test_junit_has_the_end_of_what_a_subject_printed_and_no_more(tmp_path: Path):
    trial = next(t for t in ALL["trials"] if t["weighs"] == "failed")
    folder = tmp_path / trial["dir"]
    folder.mkdir(parents=True)
    (folder / "stdout").write_bytes(b"x" * 100_000 + b"the end \x1b[2J")

    for name in REPORTS:
        write_report(tmp_path, name, ALL)

    cases = ET.parse(tmp_path / "junit.xml").getroot().iter("testcase")
    case = next(case for case in cases if case.attrib["name"] == trial["id"])
    shown = case.findtext("system-out") or ""
    assert shown.endswith("the end \ufffd[2J")
    assert len(shown) < 3000


# -- SARIF


def strict(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def listing(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


TEXT = {"type": "string", "minLength": 1}
WHOLE = {"type": "integer", "minimum": 0}
FROM_1 = {"type": "integer", "minimum": 1}
MESSAGE = strict({"text": TEXT})
UTC = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
DESCRIPTORS = listing(strict({"id": TEXT, "shortDescription": MESSAGE}), uniqueItems=True)
LOCATIONS = listing(
    strict(
        {
            "physicalLocation": strict(
                {
                    "artifactLocation": strict(
                        {"uri": {"type": "string", "pattern": r"^[A-Za-z0-9._~/%:@!$&'()*+,;=-]+$"}}
                    ),
                    "region": strict({"startLine": FROM_1, "startColumn": FROM_1}),
                }
            ),
            "logicalLocations": listing(strict({"fullyQualifiedName": TEXT, "kind": TEXT})),
        }
    )
)
NOTIFICATION = strict(
    {
        "descriptor": strict({"id": TEXT, "index": WHOLE}),
        "level": LEVEL,
        "message": MESSAGE,
        "locations": LOCATIONS,
    },
    "locations",
)
RESULT = strict(
    {
        "ruleId": TEXT,
        "ruleIndex": WHOLE,
        "level": LEVEL,
        "message": MESSAGE,
        "partialFingerprints": {"type": "object", "additionalProperties": TEXT},
        "properties": {"type": "object"},
        "locations": LOCATIONS,
        "suppressions": listing(
            strict(
                {
                    "kind": {"enum": ["inSource", "external"]},
                    "status": {"enum": ["accepted", "underReview", "rejected"]},
                    "justification": TEXT,
                }
            )
        ),
    },
    "locations",
    "suppressions",
)
SARIF = strict(
    {
        "$schema": TEXT,
        "version": {"const": "2.1.0"},
        "runs": listing(
            strict(
                {
                    "tool": strict(
                        {
                            "driver": strict(
                                {
                                    "name": TEXT,
                                    "version": TEXT,
                                    "rules": DESCRIPTORS,
                                    "notifications": DESCRIPTORS,
                                }
                            )
                        }
                    ),
                    "automationDetails": strict({"id": TEXT}),
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "invocations": listing(
                        strict(
                            {
                                "executionSuccessful": {"type": "boolean"},
                                "exitCode": {"type": "integer"},
                                "startTimeUtc": UTC,
                                "endTimeUtc": UTC,
                                "toolExecutionNotifications": listing(NOTIFICATION),
                            }
                        ),
                        minItems=1,
                    ),
                    "results": listing(RESULT),
                }
            ),
            minItems=1,
        ),
    }
)


def log(document: Any) -> Any:
    made = json.loads(sarif(document))
    Draft202012Validator(SARIF).validate(made)
    return made["runs"][0]


@every_run
def test_sarif_is_valid_and_its_indices_lead_to_what_they_name(name: str):
    made = log(DOCUMENTS[name])

    driver = made["tool"]["driver"]
    for result in made["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert len(result["message"]["text"]) < 6000
    for notice in made["invocations"][0]["toolExecutionNotifications"]:
        descriptor = notice["descriptor"]
        assert driver["notifications"][descriptor["index"]]["id"] == descriptor["id"]


@every_run
def test_sarif_is_clean_exactly_where_the_exit_code_is_0(name: str):
    made = log(DOCUMENTS[name])

    (invocation,) = made["invocations"]
    counting = [result for result in made["results"] if "suppressions" not in result]
    clean = not counting and invocation["executionSuccessful"]
    assert clean == (DOCUMENTS[name]["exit"] == 0)
    assert invocation["exitCode"] == DOCUMENTS[name]["exit"]


@pytest.mark.parametrize("name", ["unavailable", "error", "nothing", "interrupted", "unsealed"])
def test_what_was_not_looked_at_is_no_result_and_no_success(name: str):
    made = log(DOCUMENTS[name])

    assert made["results"] == []
    assert made["invocations"][0]["executionSuccessful"] is False
    assert made["invocations"][0]["toolExecutionNotifications"]


def test_a_result_is_at_the_line_and_column_of_its_expectation():
    (result,) = log(DOCUMENTS["failed"])["results"]

    assert result["ruleId"] == "home"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "cases/a%20%5Bb%5D.yaml"
    assert place["region"] == {"startLine": 9, "startColumn": 5}
    assert result["message"]["text"].startswith("home: expected the home as it was; saw removed")


@pytest.mark.parametrize(("name", "why"), [("known", "known: upstream"), ("quarantined", "in q")])
def test_what_the_exit_code_leaves_out_is_suppressed_with_the_reason(name: str, why: str):
    results = log(DOCUMENTS[name])["results"]

    assert results
    assert all(one["suppressions"][0]["justification"].startswith(why) for one in results)


def test_the_same_finding_has_the_same_fingerprint_in_each_run():
    again = run_document(run(records.record("x", records.FAILED), run="another", seed=8))

    first, second = (log(made)["results"][0] for made in (DOCUMENTS["failed"], again))
    assert first["partialFingerprints"] == second["partialFingerprints"]


# -- CTRF

STATUSES = ["passed", "failed", "skipped", "pending", "other"]
CTRF = strict(
    {
        "reportFormat": {"const": "CTRF"},
        "specVersion": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
        "reportId": TEXT,
        "timestamp": TEXT,
        "generatedBy": TEXT,
        "results": strict(
            {
                "tool": strict({"name": TEXT, "version": TEXT}),
                "summary": strict(
                    dict.fromkeys([*STATUSES, "tests", "flaky", "start", "stop"], WHOLE)
                ),
                "tests": listing(
                    strict(
                        {
                            "id": TEXT,
                            "name": TEXT,
                            "status": {"enum": STATUSES},
                            "duration": WHOLE,
                            "suite": listing({"type": "string"}, minItems=1),
                            "message": {"type": "string"},
                            "rawStatus": {"type": "string"},
                            "flaky": {"type": "boolean"},
                            "type": {"type": "string"},
                            "parameters": {"type": "object"},
                            "extra": {"type": "object"},
                            "trace": {"type": "string"},
                            "filePath": {"type": "string"},
                            "line": {"type": "integer"},
                        },
                        *("flaky", "type", "parameters", "extra", "trace", "filePath", "line"),
                    )
                ),
            }
        ),
        "extra": {"type": "object"},
    }
)


@every_run
def test_ctrf_is_valid_and_red_exactly_where_the_exit_code_is_not_0(name: str):
    report = json.loads(ctrf(DOCUMENTS[name]))
    Draft202012Validator(CTRF).validate(report)

    summary, tests = report["results"]["summary"], report["results"]["tests"]
    assert {status: summary[status] for status in STATUSES} == {
        status: sum(test["status"] == status for test in tests) for status in STATUSES
    }
    assert summary["tests"] == len(tests)
    assert summary["stop"] - summary["start"] == 61_890
    assert bool(summary["failed"]) == (DOCUMENTS[name]["exit"] != 0)
    assert summary["skipped"] == summary["pending"] == 0
    assert len({UUID(test["id"]) for test in tests}) == len(tests)


def test_ctrf_says_the_verdict_and_where_its_case_is():
    tests = json.loads(ctrf(ALL))["results"]["tests"]
    by_case = {test["suite"][0]: test for test in tests}

    assert (by_case["misses"]["status"], by_case["misses"]["rawStatus"]) == (
        "failed",
        "unavailable",
    )
    assert by_case["races"]["status"] == by_case["wipes-home-known"]["status"] == "other"
    assert by_case["wavers"]["flaky"] is True
    assert by_case["hangs"]["filePath"] == "cases/hangs.yaml"


# -- all of them


@pytest.mark.parametrize("made", [junit, sarif, ctrf], ids=["junit", "sarif", "ctrf"])
def test_nothing_of_a_trial_is_obeyed_by_who_shows_it(made: Any):
    raw = made(hostile()).decode("utf-8")
    text = json.dumps(json.loads(raw), ensure_ascii=False) if raw[0] == "{" else raw

    for character in ("\x1b", "\x00", "\u202e", "\ud800", "\\u001b", "\\ud800", "\\u202e"):
        assert character not in text
    if made is sarif:
        assert "](" not in text
