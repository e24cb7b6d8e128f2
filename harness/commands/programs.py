"""Programs of a case that are known not to be there, or not to be programs, before anything runs.

Known is what the case plants and mounts: a path in the workspace or in a mount. A name that is
looked up on PATH, and what an earlier step may have made, only the sandbox can tell.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from harness.case import yaml
from harness.case.errors import CaseError, closest, nearest, quoted
from harness.case.model import Case
from harness.case.yaml_build import Keys
from harness.subjects.command import filled, in_workspace, locate
from sandboxes.base import WORKSPACE, Kind

_MOST: Final = 1000
_NAME: Final = "name a file of workspace.files or workspace.mount, or a program on PATH"


@dataclass(frozen=True, slots=True)
class _Program:
    """A program as it is written: where, what, and whether as the subject, which mounts serve."""

    path: Keys
    name: str
    subject: bool


def wrong_programs(case: Case) -> Iterator[CaseError]:
    """An error at each program that cannot be run."""
    found = [(one, wrong) for one in _programs(case) if (wrong := _wrong(one, case))]
    if found:
        doc = yaml.read(case.source)
        for one, (message, hint) in found:
            yield CaseError(doc.where(one.path), message, hint)


def _programs(case: Case) -> Iterator[_Program]:
    written = case.document
    for path, value in _subjects(written):
        if isinstance(value, dict) and "command" in value:
            yield _first((*path, "command", 0), value["command"], case, subject=True)
    for number, step in enumerate(written.get("steps", ())):
        if step == "start":
            return
        if "run" in step:
            yield _first(("steps", number, "run", 0), step["run"], case, subject=False)
            return


def _subjects(written: Mapping[str, Any]) -> Iterator[tuple[Keys, Any]]:
    if "subject" in written:
        yield ("subject",), written["subject"]
    for number, value in enumerate(written.get("subjects", ())):
        yield ("subjects", number), value
    for number, sabotage in enumerate(written.get("sabotage", ())):
        yield ("sabotage", number, "replace_subject"), sabotage.get("replace_subject")


def _first(path: Keys, argv: Sequence[str], case: Case, *, subject: bool) -> _Program:
    return _Program(path, filled(argv, case)[0], subject)


def _wrong(program: _Program, case: Case) -> tuple[str, str] | None:
    """What is wrong with a program, and what to write; ``None``: nothing that is known."""
    name = program.name
    if "/" not in name:
        return None
    if program.subject and not PurePosixPath(name).is_absolute():
        place = locate(name, case)
    elif PurePosixPath(WORKSPACE, name).is_relative_to(WORKSPACE):
        place = str(PurePosixPath(WORKSPACE, name)) if in_workspace(name, case) else None
        if place is None and program.subject and _made_earlier(case):
            return None
    else:
        place = locate(name, case)
    where = "no mount and not in the workspace" if program.subject else "no file of the workspace"
    if place is None:
        return f"the program {quoted(name)} is in {where}", _nearest(program, case)
    if not _executable(PurePosixPath(place), case):
        hint = _make_executable(PurePosixPath(place), case)
        return f"the program {quoted(name)} is not executable", hint
    return None


def _make_executable(place: PurePosixPath, case: Case) -> str:
    """What to do to a program that is there and may not be run."""
    for source, target in case.workspace.mounts.items():
        if place.is_relative_to(target):
            return f"chmod +x {source / place.relative_to(target)}"
    return 'begin it with #!, or give it mode: "0755"'


def _made_earlier(case: Case) -> bool:
    """Whether a step before the start may have made the program."""
    before = itertools.takewhile(lambda step: step.kind != "start", case.steps)
    return any(step.kind == "run" for step in before)


def _executable(place: PurePosixPath, case: Case) -> bool:
    for file in case.workspace.files:
        if PurePosixPath(WORKSPACE, file.path) == place:
            return file.kind is Kind.LINK or bool(file.mode & 0o111)
    for source, target in case.workspace.mounts.items():
        if place.is_relative_to(target):
            return bool((source / place.relative_to(target)).stat().st_mode & 0o111)
    return True


def _nearest(program: _Program, case: Case) -> str:
    absolute = PurePosixPath(program.name).is_absolute()
    names = dict.fromkeys(_names(case, absolute=absolute, mounted=program.subject))
    name = program.name if absolute else f"./{PurePosixPath(program.name)}"
    return nearest(name, names) if closest(name, names) or 0 < len(names) < 6 else _NAME


def _names(case: Case, *, absolute: bool, mounted: bool) -> Iterator[str]:
    """What could have been meant."""
    for file in case.workspace.files:
        if file.kind is not Kind.DIR:
            yield f"{WORKSPACE}/{file.path}" if absolute else f"./{file.path}"
    if not mounted:
        return
    for source, target in case.workspace.mounts.items():
        for inner in _files(source):
            name = str(inner) if str(inner) != "." else source.name
            yield str(PurePosixPath(target, inner)) if absolute else f"./{name}"


def _files(source: Path) -> Iterator[Path]:
    """The files of a mount, relative to it; not more than anybody would look through."""
    inner = source.rglob("*") if source.is_dir() else iter([source])
    yield from (one.relative_to(source) for one in itertools.islice(inner, _MOST) if one.is_file())
