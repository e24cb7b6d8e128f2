"""Where the program of a command is, and what is wrong with one that is known not to run.

Known is what the case plants and mounts: a path in the workspace or in a mount. A name that is
looked up on PATH, and what an earlier step may have made, only the sandbox can tell.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final

from harness.case.errors import closest, nearest, quoted
from harness.case.grammar import fill
from harness.case.model import Case, Where
from harness.errors import Lack, Unavailable
from harness.live.inside import MODEL_URL
from sandboxes.base import AGENT_HOME, WORKSPACE, Kind, Planted
from sandboxes.errors import CommandNotFound
from verifiers.verdicts import Reason

_MOST: Final = 1000
_NAME: Final = "name a file of workspace.files or workspace.mount, or a program on PATH"


def filled(argv: Sequence[str], case: Case) -> list[str]:
    """An argv, its placeholders replaced."""
    values = {"task": case.task, "model": MODEL_URL, "workspace": WORKSPACE, "home": AGENT_HOME}
    return [fill(word, values) for word in argv]


def locate(program: str, case: Case) -> str | None:
    """Where the program is inside; a bare name as it is; ``None``: known not to be there."""
    if program.startswith("/"):
        return program if _shown(PurePosixPath(program), case.workspace.mounts) else None
    for source, target in case.workspace.mounts.items():
        if source.is_file() and source.name == program:
            return target
        if _within(source, program):
            return str(PurePosixPath(target, program))
    if in_workspace(program, case):
        return str(PurePosixPath(WORKSPACE, program))
    return None if "/" in program else program


def in_workspace(program: str, case: Case) -> bool:
    """Whether a path, relative to the workspace or absolute, is a file that it starts with."""
    inside = PurePosixPath(WORKSPACE, program)
    return _planted(inside, case.workspace.files) or _mounted(inside, case.workspace.mounts)


def _shown(path: PurePosixPath, mounts: Mapping[Path, str]) -> bool:
    """Whether an absolute path may be there: only what lies in a mount is known."""
    under = any(path.is_relative_to(target) for target in mounts.values())
    return not under or _mounted(path, mounts)


def _mounted(path: PurePosixPath, mounts: Mapping[Path, str]) -> bool:
    return any(
        path.is_relative_to(target) and _within(source, str(path.relative_to(target)))
        for source, target in mounts.items()
    )


def _within(source: Path, program: str) -> bool:
    """Whether a file of the mount has that name, none outside of it."""
    return ".." not in PurePosixPath(program).parts and (source / program).is_file()


def _planted(path: PurePosixPath, files: Sequence[Planted]) -> bool:
    return any(path == PurePosixPath(WORKSPACE, f.path) for f in files if f.kind is not Kind.DIR)


@contextmanager
def programs_at(where: Where | None) -> Iterator[None]:
    """Say of a program that the body could not start where the case names it, and what to write.

    Raises:
        Unavailable: there is no such program inside, or it is not executable.
    """
    try:
        yield
    except CommandNotFound as error:
        raise Unavailable([Lack(Reason.TOOL_MISSING, str(error), _NAME, where)]) from error


def wrong(name: str, case: Case, *, subject: bool = True) -> tuple[str, str] | None:
    """What is wrong with a program, and what to write; ``None``: nothing that is known.

    Args:
        name: placeholders replaced.
        case: what plants and mounts it.
        subject: whether it is started as the subject, which is looked for in the mounts too.
    """
    if "/" not in name:
        return None
    if subject and not PurePosixPath(name).is_absolute():
        place = locate(name, case)
    elif PurePosixPath(WORKSPACE, name).is_relative_to(WORKSPACE):
        place = str(PurePosixPath(WORKSPACE, name)) if in_workspace(name, case) else None
        if place is None and subject and _made_earlier(case):
            return None
    else:
        place = locate(name, case)
    where = "no mount and not in the workspace" if subject else "no file of the workspace"
    if place is None:
        return f"the program {quoted(name)} is in {where}", _nearest(name, case, mounted=subject)
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


def _nearest(program: str, case: Case, *, mounted: bool) -> str:
    absolute = PurePosixPath(program).is_absolute()
    names = dict.fromkeys(_names(case, absolute=absolute, mounted=mounted))
    name = program if absolute else f"./{PurePosixPath(program)}"
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
