"""Shakeout itself: the harness that is running, in a sandbox, with sandboxes of its own.

Shown are its own code and the packages that it needs, each by itself, so that nothing else of
the machine comes with them. In the home lies what an installation would leave on record, by which
it can tell whether the code that it has loaded is that. It runs in the user grade, in a case that
has ``nest``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from harness import __version__
from harness.case.grammar import fill
from harness.case.model import Case, SubjectRef
from harness.code import PACKAGES
from harness.extension import Schema
from harness.state import PACKAGE
from harness.subjects.base import Dialect, Identity, Launch, Missing
from harness.subjects.distinfo import dist_info
from harness.subjects.packages import PROJECT, Packages, interpreter
from sandboxes.base import AGENT_HOME, WORKSPACE, Planted

_SHOWN: Final = Packages("/opt/shakeout", (*PACKAGES, "cases"))

_SCHEMA: Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "args": {
            "type": "array",
            "items": {"type": "string"},
            "default": ["{task}"],
            "description": "the words after shakeout; {task}, {workspace} and {home} are replaced",
        },
        "via": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "a program that is started with the command behind it, as env starts one",
        },
    },
}


class Shakeout:
    """The adapter of the harness itself."""

    name = "shakeout"
    summary = "Shakeout itself: the code that runs the case, with sandboxes of its own inside."
    schema = _SCHEMA
    dialect = Dialect()

    def identify(self, ref: SubjectRef, case: Case) -> Identity | Missing:  # noqa: ARG002
        """Its version, and the digest of its code and of every package that it needs."""
        return _SHOWN.identify(self.name)

    def launch(self, ref: SubjectRef, case: Case) -> Launch:
        """``VIA shakeout ARGS``, its state kept out of home and workspace."""
        values = {"task": case.task, "workspace": WORKSPACE, "home": AGENT_HOME}
        via = ref.params.get("via", ())
        words = [fill(word, values) for word in ref.params.get("args", ["{task}"])]
        program, mounts = interpreter()
        env = {
            "PYTHONPATH": _SHOWN.inside,
            "PYTHONDONTWRITEBYTECODE": "1",
            "SHAKEOUT_STATE": "/tmp/shakeout",  # noqa: S108 - of the sandbox
        }
        argv = [*via, program, "-m", "harness", *words]
        return Launch(argv, env, home=_on_record(), mounts=[*mounts, *_SHOWN.mounts()])

    def final_text(self, stdout: bytes) -> str | None:
        """All that it printed."""
        return stdout.decode("utf-8", "replace") if stdout else None


def _on_record() -> Sequence[Planted]:
    """That it is installed, in the home's own part of Python's path."""
    site = PurePosixPath(
        f".local/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    )
    packages = {f"{_SHOWN.inside}/{name}": PACKAGE.parent / name for name in PACKAGES}
    return dist_info(PROJECT, __version__, _SHOWN.inside, packages, site)
