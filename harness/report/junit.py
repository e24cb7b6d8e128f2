"""``run.json`` as JUnit XML, for continuous integration.

A test case is red exactly where its trial raises the exit code. So ``failed`` and
``timed_out`` are failures, ``unavailable`` and ``error`` are errors, a known defect that is
fixed or a flaky trial is a failure. A trial that the exit code leaves out (known, or in
quarantine) is ``skipped``, since that is neither green nor red, and its message says why and
what it came to; nothing else ever is. What concerns the run as a whole (interrupted, not
sealed, nothing that counts) is a test case of its own, so that no report is green where the
exit code is not 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET

Document = Mapping[str, Any]

#: Characters that XML 1.0 cannot hold.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FAILURES = {"failed", "timed_out"}
_ERRORS = {"unavailable", "error"}


def junit(run: Document) -> bytes:
    """The XML of a run that was tried (exit 2 has no report)."""
    cases = [_case(trial) for trial in run["trials"]]
    if (whole := _whole(run, cases)) is not None:
        cases.append(whole)
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
        "time": f"{sum(trial['seconds'] or 0.0 for trial in run['trials']):.3f}",
    }
    top = ET.Element("testsuites", {"name": "shakeout", **counts})
    suite = ET.SubElement(
        top, "testsuite", {"name": _safe(run["run"]), "timestamp": run["started"], **counts}
    )
    facts = {"seed": run["seed"], "exit": run["exit"], "verdict": run["verdict"]}
    _properties(suite, facts)
    suite.extend(cases)
    ET.indent(top)
    xml: bytes = ET.tostring(top, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _case(trial: Document) -> ET.Element:
    names = {"classname": _safe(trial["case"]), "name": _safe(trial["id"])}
    case = ET.Element("testcase", {**names, "time": f"{trial['seconds'] or 0.0:.3f}"})
    _properties(case, dict(_facts(trial)))
    weight = trial["weighs"]
    if weight in _FAILURES | _ERRORS:
        tag = "failure" if weight in _FAILURES else "error"
        attributes = {"type": _type(trial), "message": _safe(_message(trial))}
        ET.SubElement(case, tag, attributes).text = _safe("\n".join(_details(trial)))
    elif weight is None:
        ET.SubElement(case, "skipped", {"message": _safe(_left_out(trial))})
    return case


def _details(trial: Document) -> Iterator[str]:
    yield from trial["reasons"]
    for broken in trial["broke"]:
        yield f"{broken['id']}: expected {broken['expected']}; saw {broken['seen']}"
    if trial["dir"]:
        yield f"evidence: {trial['dir']}"


def _left_out(trial: Document) -> str:
    """Why the exit code leaves a trial out, and what it came to."""
    if trial["quarantine"]:
        why = f"in quarantine until {trial['quarantine']['until']}: {trial['quarantine']['reason']}"
    else:
        entries = trial["known"]["entries"] if trial["known"] else ()
        why = "known: " + "; ".join(entry["because"] for entry in entries)
    return f"{why} ({trial['verdict']}: {trial['message']})"


def _facts(trial: Document) -> Iterator[tuple[str, object]]:
    yield "evidence", trial["dir"]
    yield "verdict", trial["verdict"]
    yield "kind", trial["kind"]
    for part in ("subject", "sandbox"):
        for key, value in trial[part].items():
            if value is not None:
                yield f"{part}.{key}", value
    yield "seed", trial["seed"]
    yield "repeat", trial["repeat"]
    if trial["known"]:
        yield trial["known"]["mark"], "true"
    if trial["quarantine"]:
        yield "quarantine", trial["quarantine"]["until"]
    if trial["flaky"]:
        yield "flaky", "true"


def _type(trial: Document) -> str:
    if trial["known"] and trial["known"]["mark"] == "known-fixed":
        return "known-fixed"
    return "flaky" if trial["flaky"] and trial["verdict"] == "passed" else str(trial["verdict"])


def _message(trial: Document) -> str:
    match _type(trial):
        case "known-fixed":
            return "the known defect did not show; remove its entry from the case"
        case "flaky":
            return f"repeats came to different verdicts; this one: {trial['message']}"
        case _:
            return str(trial["message"])


def _whole(run: Document, cases: list[ET.Element]) -> ET.Element | None:
    """What makes the exit code other than 0 though no trial does."""
    red = any(len(case) and case[-1].tag in {"failure", "error"} for case in cases)
    if run["exit"] == 0 or (red and run["exit"] not in {4, 130}):
        return None
    if red and run["exit"] == 4 and "not-sealed" not in run["reasons"]:
        return None
    whole = ET.Element("testcase", {"classname": "shakeout", "name": "run"})
    reason = {130: "interrupted", 3: "nothing-ran", 4: "not-sealed"}.get(run["exit"], "run")
    ET.SubElement(whole, "error", {"type": reason, "message": f"exit code {run['exit']}"})
    return whole


def _properties(parent: ET.Element, facts: Mapping[str, object]) -> None:
    properties = ET.SubElement(parent, "properties")
    for name, value in facts.items():
        ET.SubElement(properties, "property", {"name": name, "value": _safe(str(value))})


def _safe(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
