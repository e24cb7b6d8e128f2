"""``run.json`` as JUnit XML, for continuous integration.

A test case is red exactly where its trial raises the exit code. So ``failed`` and
``timed_out`` are failures, ``unavailable`` and ``error`` are errors, a known defect that is
fixed or a flaky trial is a failure. A trial that the exit code leaves out (known, or in
quarantine) is ``skipped``, since that is neither green nor red, and its message says why and
what it came to; nothing else ever is. What concerns the run as a whole (interrupted, not
sealed, nothing that counts) is a test case of its own, so that no report is green where the
exit code is not 0.

Jenkins' schema has no properties of a test case: what is to be known of a trial is in its
``system-out``, a line for each, and beneath it the end of what the subject printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET

from harness.report.beside import wavering_of
from harness.report.findings import LACKING, RED, details, left_out, whole
from harness.report.plain import plain, short

Document = Mapping[str, Any]
#: Gives the end of what the subject of a trial printed.
Printed = Callable[[Document], str]


def junit(run: Document, printed: Printed = lambda _trial: "") -> bytes:
    """The XML of a run that was tried (exit 2 has no report)."""
    wavers = wavering_of(run)
    cases = [_case(trial, wavers.get(trial["id"], ""), printed) for trial in run["trials"]]
    if (reason := whole(run)) is not None:
        cases.append(_whole(*reason))
    time = f"{sum(trial['seconds'] or 0.0 for trial in run['trials']):.3f}"
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "time": time,
    }
    skipped = {"skipped": str(sum(case.find("skipped") is not None for case in cases))}
    named = {"name": _safe(run["run"]), "timestamp": run["started"].removesuffix("Z")}
    top = ET.Element("testsuites", {"name": "shakeout", **counts})
    suite = ET.SubElement(top, "testsuite", {**named, **counts, **skipped})
    facts = {"seed": run["seed"], "exit": run["exit"], "verdict": run["verdict"]}
    _properties(suite, facts)
    suite.extend(cases)
    ET.indent(top)
    xml: bytes = ET.tostring(top, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _case(trial: Document, wavers: str, printed: Printed) -> ET.Element:
    names = {"classname": _safe(trial["case"]), "name": _safe(trial["id"])}
    case = ET.Element("testcase", {**names, "time": f"{trial['seconds'] or 0.0:.3f}"})
    weight = trial["weighs"]
    if weight in RED | LACKING:
        tag = "failure" if weight in RED else "error"
        attributes = {"type": _type(trial), "message": _safe(short(_message(trial, wavers)))}
        ET.SubElement(case, tag, attributes).text = _safe("\n".join(_details(trial)))
    elif weight is None:
        came_to = f"{left_out(trial)} ({trial['verdict']}: {short(trial['message'])})"
        ET.SubElement(case, "skipped", {"message": _safe(came_to)})
    lines = [f"{name}: {value}" for name, value in _facts(trial)]
    if weight != "passed" and (end := printed(trial)):
        lines += ["", end]
    ET.SubElement(case, "system-out").text = _safe("\n".join(lines))
    return case


def _details(trial: Document) -> Iterator[str]:
    yield from trial["reasons"]
    yield from details(trial)
    if trial["dir"]:
        yield f"evidence: {trial['dir']}"


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


def _message(trial: Document, wavers: str) -> str:
    if _type(trial) == "known-fixed":
        return "the known defect did not show; remove its entry from the case"
    if trial["flaky"]:
        return f"repeats {wavers}; this one: {trial['message']}"
    return str(trial["message"])


def _whole(reason: str, message: str) -> ET.Element:
    """A test case for the run, where something other than its trials raises the exit code."""
    case = ET.Element("testcase", {"classname": "shakeout", "name": "run"})
    ET.SubElement(case, "error", {"type": reason, "message": message})
    return case


def _properties(parent: ET.Element, facts: Mapping[str, object]) -> None:
    properties = ET.SubElement(parent, "properties")
    for name, value in facts.items():
        ET.SubElement(properties, "property", {"name": name, "value": _safe(str(value))})


def _safe(text: str) -> str:
    return plain(text)
