"""``run.json`` as SARIF 2.1.0: a result for each broken expectation, at its place in its case.

What was unavailable or an error is a notification of the tool's execution, which then was not
successful: that a viewer shows no result never means that all is well. What the exit code leaves
out is a result that is suppressed, with the reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from harness.oracles.registry import ORACLES
from harness.report.findings import OTHER_RULES, Finding, Notice, findings, notices
from harness.report.html.words import reason_in_words

Document = Mapping[str, Any]

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_FINGERPRINT: Final = "shakeoutExpectation/v1"


def sarif(run: Document) -> bytes:
    """The log of a run."""
    found, kept = list(findings(run)), list(notices(run))
    rules = list(dict.fromkeys(finding.rule for finding in found))
    reasons = list(dict.fromkeys(notice.reason for notice in kept))
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver(run, rules, reasons)},
                "automationDetails": {"id": f"shakeout/{run['run']}"},
                "columnKind": "unicodeCodePoints",
                "invocations": [_invocation(run, kept, reasons)],
                "results": [_result(finding, rules) for finding in found],
            }
        ],
    }
    return json.dumps(log, indent=1).encode() + b"\n"


def _driver(run: Document, rules: list[str], reasons: list[str]) -> Document:
    return {
        "name": "shakeout",
        "version": run["harness"]["version"],
        "rules": [{"id": rule, "shortDescription": {"text": _about(rule)}} for rule in rules],
        "notifications": [
            {"id": reason, "shortDescription": {"text": reason_in_words(reason) or reason}}
            for reason in reasons
        ],
    }


def _about(rule: str) -> str:
    oracle = ORACLES.get(rule)
    return oracle.summary if oracle is not None else OTHER_RULES[rule]


def _invocation(run: Document, kept: list[Notice], reasons: list[str]) -> Document:
    counting = [notice for notice in kept if not notice.accepted]
    return {
        "executionSuccessful": not counting and run["exit"] in {0, 1},
        "exitCode": run["exit"],
        "startTimeUtc": run["started"],
        "endTimeUtc": run["ended"],
        "toolExecutionNotifications": [_notification(notice, reasons) for notice in kept],
    }


def _notification(notice: Notice, reasons: list[str]) -> Document:
    trial = notice.trial
    text = f"{trial['id']}: {notice.message}" if trial else notice.message
    made: dict[str, Any] = {
        "descriptor": {"id": notice.reason, "index": reasons.index(notice.reason)},
        "level": "note" if notice.accepted else "error",
        "message": {"text": _unlinked(text)},
    }
    if trial and (where := trial["about"] or trial["where"]):
        made["locations"] = [_location(where, trial)]
    return made


def _result(finding: Finding, rules: list[str]) -> Document:
    trial = finding.trial
    identity = "\0".join((trial["case"], str(trial["subject"]["name"]), finding.about))
    made: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rules.index(finding.rule),
        "level": "error",
        "message": {"text": _unlinked(finding.message)},
        "partialFingerprints": {_FINGERPRINT: hashlib.sha256(identity.encode()).hexdigest()},
        "properties": dict(_properties(trial)),
    }
    if finding.where:
        made["locations"] = [_location(finding.where, trial)]
    if finding.accepted:
        made["suppressions"] = [
            {"kind": "external", "status": "accepted", "justification": finding.accepted}
        ]
    return made


def _properties(trial: Document) -> Iterator[tuple[str, object]]:
    yield "trial", trial["id"]
    yield "evidence", trial["dir"]
    yield "verdict", trial["verdict"]
    yield "reasons", list(trial["reasons"])
    yield "seed", trial["seed"]
    if trial["flaky"]:
        yield "flaky", True


def _location(where: Document, trial: Document) -> Document:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(where["file"])},
            "region": {"startLine": where["line"], "startColumn": where["column"]},
        },
        "logicalLocations": [{"fullyQualifiedName": trial["id"], "kind": "test"}],
    }


def _uri(path: str) -> str:
    """A path as a reference: relative ones stay relative, to where the run was started."""
    quoted = quote(path.encode("utf-8", "surrogateescape"))
    if path.startswith("/"):
        return f"file://{quoted}"
    return f"./{quoted}" if "%3A" in quoted.partition("/")[0] else quoted


def _unlinked(text: str) -> str:
    """A message in which nothing is a link, since viewers make some of ``[text](target)``."""
    return text.replace("](", "] (")
