"""Which case files a command line means: files, folders, suites.

A folder stands for every case beneath it. A suite stands for its cases, and says which of
its checks are not written yet. The folder of a run, wherever it lies and whatever it is called,
is evidence: the ``case.yaml`` of its trials and what a subject wrote are no cases.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.case import suite
from harness.case.errors import CaseError, CaseErrors
from harness.case.model import Where
from harness.case.suite import Check, Suite, load_suite
from harness.case.yaml import MAX_BYTES
from harness.nearby import did_you_mean

SUFFIXES: Final = (".yaml", ".yml")
_SCHEMAS: Final = "schema"
_NAME: Final = "name a case or a folder"
#: A file with the first of these keys is a case, and so is one with two of the others.
_TELLING: Final = (
    b"case", b"subject", b"subjects", b"expect", b"faults", b"stimulus", b"sabotage", b"proves",
)  # fmt: skip
#: What stands for the keys of a file that cannot be read.
_ANY: Final = frozenset({*_TELLING, b"suite"})
_KEY: Final = re.compile(rb"""^(?:\xef\xbb\xbf)?["']?([a-z]+)["']?[ \t]*:""", re.MULTILINE)
#: A run's folder has one of these from its first moment on, and its trials beside it.
_OF_A_RUN: Final = ("log.jsonl", "run.json")
_TRIALS: Final = "trials"


@dataclass(frozen=True, slots=True)
class Found:
    """What was found.

    Attributes:
        files: case files, each once, in order.
        suites: the suites among what was named, or within it.
        missing: checks of the named suites that are not written yet.
    """

    files: tuple[Path, ...] = ()
    suites: tuple[Suite, ...] = ()
    missing: tuple[Check, ...] = ()

    @property
    def of_suites(self) -> frozenset[Path]:
        """Resolved paths of the cases that belong to a suite."""
        checks = (check for one in self.suites for check in one.checks)
        return frozenset(check.case.resolve() for check in checks if check.case is not None)


def find(paths: Iterable[Path]) -> Found:
    """The cases that ``paths`` stand for.

    Raises:
        CaseErrors: a path is not there, or a suite is invalid.
    """
    found, errors = search(paths)
    if errors:
        raise CaseErrors(errors)
    return found


def search(paths: Iterable[Path]) -> tuple[Found, list[CaseError]]:
    """The cases that ``paths`` stand for, and what is wrong with the rest."""
    files: dict[Path, Path] = {}
    suites: list[Suite] = []
    missing: list[Check] = []
    errors: list[CaseError] = []
    for path in paths:
        found = _named(path, errors)
        suites.extend(one for one in found if isinstance(one, Suite))
        if path.name == suite.NAME:
            checks = (check for one in found if isinstance(one, Suite) for check in one.checks)
            missing.extend(check for check in checks if check.case is None)
        for case in found:
            if isinstance(case, Path):
                files.setdefault(case.resolve(), case)
    return Found(tuple(files.values()), tuple(suites), tuple(missing)), errors


def is_case(path: Path) -> bool:
    """Whether a YAML file is a case, perhaps an invalid one, and no other tool's file.

    It is told by the keys at the start of its lines, so that a case that is no YAML is one too. A
    file that cannot be read may be one: whoever loads it says why it cannot be.
    """
    found = _keys(path)
    return _TELLING[0] in found or len(found.intersection(_TELLING)) > 1


def is_suite(path: Path) -> bool:
    """Whether a YAML file is a suite, perhaps an invalid one, and no other tool's file."""
    return path.name == suite.NAME and b"suite" in _keys(path)


def _keys(path: Path) -> frozenset[bytes]:
    """What stands as a key at the start of a line of a regular file; nothing else is opened."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return frozenset()
        # Should a fifo have taken its place since, its end comes at once, and it is empty.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            return frozenset(_KEY.findall(file.read(MAX_BYTES)))
    except FileNotFoundError:
        return frozenset()
    except OSError:
        return _ANY


def in_a_run(path: Path) -> bool:
    """Whether a path lies in the folder of a run, where nothing is a case."""
    return any(map(is_run_folder, path.resolve().parents))


def _refused(path: Path, message: str, hint: str = _NAME) -> CaseErrors:
    return CaseErrors([CaseError(Where(str(path), 1, 1), message, hint)])


def _named(path: Path, errors: list[CaseError]) -> list[Path | Suite]:
    """What a path stands for; what is wrong goes to ``errors``."""
    found: list[Path | Suite] = []
    try:
        for one in files_within(path) if path.is_dir() else [path]:
            try:
                found += _meant(one, alone=one is path)
            except CaseErrors as error:
                errors.extend(error.errors)
    except CaseErrors as error:
        errors.extend(error.errors)
    except OSError as error:
        errors.extend(_refused(path, f"cannot be read: {error.strerror or error}").errors)
    return found


def _meant(path: Path, *, alone: bool) -> list[Path | Suite]:
    """A case, or a suite; one that was named alone stands for its cases too."""
    if not path.exists() and alone:
        hint = did_you_mean(path, _NAME, SUFFIXES)
        raise _refused(path, "there is no such file", hint)
    if path.name != suite.NAME:
        return [path]
    one = load_suite(path)
    return [one, *(check.case for check in one.checks if check.case is not None and alone)]


def files_within(folder: Path) -> Iterator[Path]:
    """YAML files beneath a folder, in order of their paths.

    No link to a folder is followed; nothing that is or lies in the folder of a run is looked at.

    Raises:
        CaseErrors: a folder cannot be read.
    """
    if in_a_run(folder / "x"):
        return

    def unreadable(error: OSError) -> None:
        raise _refused(Path(error.filename), f"cannot be read: {error.strerror}")

    for parent, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if _searched(Path(parent, name)))
        for name in sorted(names):
            if name.endswith(SUFFIXES) and name[0] != ".":
                yield Path(parent, name)


def _searched(folder: Path) -> bool:
    return folder.name[0] != "." and folder.name != _SCHEMAS and not is_run_folder(folder)


def is_run_folder(folder: Path) -> bool:
    """Whether a folder is that of a run."""
    return (folder / _TRIALS).is_dir() and any((folder / name).is_file() for name in _OF_A_RUN)
