"""Any program, by its argv: the subject for agents that have no adapter.

No shell is involved. Its files come from the case: a mount, whose digest is taken, or the
workspace. What is looked for on PATH is found or not found by the sandbox itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from harness.case.model import Case, SubjectRef
from harness.extension import Schema
from harness.subjects import tree
from harness.subjects.base import Dialect, Identity, Launch, Missing
from harness.subjects.programs import filled, locate, wrong
from sandboxes.base import Mount

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
        if known := wrong(filled(ref.argv, case)[0], case):
            return Missing(*known)
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


def _parts(argv: Sequence[str], case: Case) -> Iterator[bytes]:
    yield json.dumps(list(argv)).encode()
    for source, target in sorted(case.workspace.mounts.items()):
        yield f"mount {target} {tree.digest(source)}".encode()
    for file in sorted(case.workspace.files, key=lambda planted: planted.path):
        yield repr((file.path, str(file.kind), file.mode, file.target)).encode()
        yield file.content
