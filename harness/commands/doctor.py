"""``shakeout doctor``: what works on this machine, and how to get what does not.

Everything it says comes from live probes; a sandbox is really made.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from harness.case.model import Case, SubjectRef, Where
from harness.commands.answers import printable
from harness.commands.shown import wrapped
from harness.commands.without import without
from harness.state import cases_folder
from harness.subjects.base import Missing
from harness.subjects.registry import SUBJECTS
from sandboxes.base import Probe
from sandboxes.capabilities import CAPABILITIES, Capability
from sandboxes.registry import BACKENDS

_COMMAND = "command"
_GRADES = {"root": "root grade: started as root", "user": "user grade: as an ordinary user"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def run(args: argparse.Namespace) -> int:
    """Probe, and say what was found; 3 where no backend works."""
    probes = [backend.probe() for backend in BACKENDS.values()]
    subjects = list(_subjects())
    code = 0 if any(probe.available for probe in probes) else 3
    if args.json:
        items = {"backends": [_backend_item(probe) for probe in probes], "subjects": subjects}
        sys.stdout.write(json.dumps({"schema": 1, "exit": code, "items": items}, indent=2) + "\n")
        return code
    for probe in probes:
        sys.stdout.write("".join(f"{line}\n" for line in _backend_lines(probe)))
    for subject in subjects:
        state = f"{subject['version']}" if subject["available"] else f"missing: {subject['reason']}"
        sys.stdout.write(f"subject {subject['name']}: {state}\n")
        if subject.get("remedy"):
            sys.stdout.write(f"    to get it: {subject['remedy']}\n")
    return code


def _backend_item(probe: Probe) -> dict[str, Any]:
    return {
        "name": probe.backend,
        "available": probe.available,
        "grade": probe.grade,
        "reason": probe.reason,
        "remedy": probe.remedy,
        "versions": dict(probe.versions),
        "image": probe.image or None,
        "capabilities": [
            {"name": c.name, "available": c.available, "detail": c.detail, "remedy": c.remedy}
            for c in probe.capabilities.values()
        ],
    }


def _backend_lines(probe: Probe) -> Iterator[str]:
    if not probe.available:
        yield f"sandbox {probe.backend}: missing: {probe.reason}"
        if probe.remedy:
            yield f"    to get it: {probe.remedy}"
        return
    versions = ", ".join(f"{name} {version}" for name, version in probe.versions.items())
    yield f"sandbox {probe.backend}: works, {_GRADES[probe.grade]} ({versions})"
    for cap in probe.capabilities.values():
        yield from _capability_lines(cap)


def _capability_lines(cap: Capability) -> Iterator[str]:
    """What it is; where it is missing also why, what that costs, and what mends it."""
    yield from wrapped(
        f"    {'yes' if cap.available else 'no':<3} {cap.name:<19} ", CAPABILITIES[cap.name]
    )
    if not cap.available:
        yield from wrapped("        why not: ", printable(cap.detail))
        yield from wrapped("        not possible: ", without(cap.name))
        if cap.remedy:
            yield from wrapped("        to get it: ", cap.remedy)


def _subjects() -> Iterator[dict[str, Any]]:
    folder = cases_folder()
    probe = Case("doctor", folder, Where(str(folder), 1, 1), {})
    for name, subject in SUBJECTS.items():
        if name == _COMMAND:
            continue
        found = subject.identify(SubjectRef(name), probe)
        if isinstance(found, Missing):
            yield {
                "name": name,
                "available": False,
                "reason": found.reason,
                "remedy": found.remedy,
            }
        else:
            yield {
                "name": name,
                "available": True,
                "version": found.version,
                "digest": found.digest,
            }
