"""The weaker old way: a judge that asks a program inside the sandbox what there is to see."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.evidence import changes
from harness.live import attempt, collect
from harness.oracles.base import held
from harness.oracles.file import File
from sandboxes.errors import SandboxError
from tests.attacks.form import Weaken

_AT_MOST = 5.0


def checks_inside(*argv: str) -> Weaken:
    """A judge for whom a file is right where a program inside, run at the end, gives 0."""

    def weaken(patch: pytest.MonkeyPatch, folder: Path) -> None:
        agreed: set[int] = set()  # a trial has one thread
        real_collect, real_judge = collect.collect, File.judge

        def collected(stage, before, wants):
            try:
                if stage.run(list(argv), at_most=_AT_MOST)[0] == 0:
                    agreed.add(threading.get_ident())
            except SandboxError:
                pass
            return real_collect(stage, before, wants)

        def judge(self, params, evidence):
            if threading.get_ident() in agreed:
                agreed.discard(threading.get_ident())
                return held("what a program inside says", "it says so")
            return real_judge(self, params, evidence)

        patch.setattr(attempt, "collect", collected)
        patch.setattr(File, "judge", judge)

    return weaken


def lists_inside(argv: Sequence[str] = ("find", "/home/agent")) -> Weaken:
    """A judge who sees only what a program inside can list; without it there is no change."""

    def weaken(patch: pytest.MonkeyPatch, folder: Path) -> None:
        real_collect, real_diff = collect.collect, changes.diff
        blind: set[int] = set()

        def collected(stage, before, wants):
            try:
                code, out = stage.run(list(argv), at_most=_AT_MOST)
            except SandboxError:
                code, out = None, b""
            if code != 0 or not out:
                blind.add(threading.get_ident())
            return real_collect(stage, before, wants)

        def diff(before, after, own=()):
            if threading.get_ident() in blind:
                blind.discard(threading.get_ident())
                return ()
            return real_diff(before, after, own)

        patch.setattr(attempt, "collect", collected)
        patch.setattr(collect, "diff", diff)

    return weaken
