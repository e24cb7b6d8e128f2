"""Any program, by its argv: the subject for agents that have no adapter.

No shell is involved. Its files come from the case: a mount, whose digest is taken, or the
workspace. What is looked for on PATH is found or not found by the sandbox itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from harness.case.grammar import fill
from harness.case.model import Case, SubjectRef
from harness.extension import Schema
from harness.live.inside import MODEL_URL
from harness.subjects import tree
from harness.subjects.base import Dialect, Identity, Launch, Missing
from sandboxes.base import AGENT_HOME, WORKSPACE, Kind, Mount, Planted

_SCHEMA: Schema = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "description": "the program and its arguments; {task}, {model}, {workspace} and {home} "
    "are replaced inside words",
}


class Command:
    """The subject ``command``."""

    name = "command"
    summary = "Any program, by its argv; its files come from a mount, the workspace or PATH."
    schema = _SCHEMA
    dialect = Dialect()

    def identify(self, ref: SubjectRef, case: Case) -> Identity | Missing:
        """The digest of its argv as written, of every mount, and of the planted workspace."""
        gone = [str(source) for source in case.workspace.mounts if not source.exists()]
        if gone:
            return Missing(
                f"there is no {' and no '.join(gone)} to mount",
                "make it, or mend workspace.mount; it is relative to the case file",
            )
        if locate(filled(ref.argv, case)[0], case) is None:
            return Missing(
                f"{ref.argv[0]} is in no mount and not in the workspace",
                "name a file of workspace.files or workspace.mount, or a program on PATH",
            )
        try:
            return Identity(self.name, "0", tree.digest_of(_parts(ref.argv, case)))
        except OSError as error:
            return Missing(f"the mount cannot be read: {error}", "make it readable")

    def launch(self, ref: SubjectRef, case: Case) -> Launch:
        """Its argv, placeholders replaced and the program looked up."""
        argv = filled(ref.argv, case)
        argv[0] = locate(argv[0], case) or argv[0]
        mounts = [Mount(source, target) for source, target in case.workspace.mounts.items()]
        return Launch(argv, mounts=mounts)

    def final_text(self, stdout: bytes) -> str | None:
        """All that it printed."""
        return stdout.decode("utf-8", "replace") if stdout else None


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


def _parts(argv: Sequence[str], case: Case) -> Iterator[bytes]:
    yield json.dumps(list(argv)).encode()
    for source, target in sorted(case.workspace.mounts.items()):
        yield f"mount {target} {tree.digest(source)}".encode()
    for file in sorted(case.workspace.files, key=lambda planted: planted.path):
        yield repr((file.path, str(file.kind), file.mode, file.target)).encode()
        yield file.content
