"""Programs of a case that are known not to be there, or not to be programs, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.case import yaml
from harness.case.errors import CaseError
from harness.case.model import Case
from harness.case.yaml_build import Keys
from harness.subjects.programs import filled, wrong

#: The first word of a command as it is written: where, and what is wrong with it.
_Found = tuple[Keys, tuple[str, str]]


def wrong_programs(case: Case) -> Iterator[CaseError]:
    """An error at each program that cannot be run."""
    found = list(_found(case))
    if found:
        doc = yaml.read(case.source)
        for path, (message, hint) in found:
            yield CaseError(doc.where(path), message, hint)


def _found(case: Case) -> Iterator[_Found]:
    written = case.document
    for path, value in _subjects(written):
        argv = value.get("command") if isinstance(value, dict) else None
        if argv and (known := wrong(filled(argv, case)[0], case)):
            yield (*path, "command", 0), known
    for number, step in enumerate(written.get("steps", ())):
        if step == "start":
            return
        if "run" in step:
            if known := wrong(filled(step["run"], case)[0], case, subject=False):
                yield ("steps", number, "run", 0), known
            return


def _subjects(written: Mapping[str, Any]) -> Iterator[tuple[Keys, Any]]:
    if "subject" in written:
        yield ("subject",), written["subject"]
    for number, value in enumerate(written.get("subjects", ())):
        yield ("subjects", number), value
    for number, sabotage in enumerate(written.get("sabotage", ())):
        yield ("sabotage", number, "replace_subject"), sabotage.get("replace_subject")
