"""Runs the command as its user does: in a process of its own, with its own state and home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Bench:
    """A folder of cases, and the command."""

    folder: Path

    def case(self, name: str, text: str) -> Path:
        path = self.folder / f"{name}.yaml"
        path.write_text(f"case: {name}\n{textwrap.dedent(text)}")
        return path

    def env(self, **more: str) -> Mapping[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "TZ")}
        return {
            **kept,
            "HOME": str(home),
            "SHAKEOUT_STATE": str(self.folder / "state"),
            "PYTHONPATH": str(TOP),
            **more,
        }

    def argv(self, *words: object) -> Sequence[str]:
        return [sys.executable, "-m", "harness", *map(str, words)]

    def __call__(self, *words: object, **env: str) -> Ran:
        done = subprocess.run(
            self.argv(*words),
            cwd=self.folder,
            env=self.env(**env),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def start(self, *words: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.argv(*words),
            cwd=self.folder,
            env=self.env(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def shakeout(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def verdict_of(shakeout: Bench) -> Callable[[str, str], tuple[int, Mapping[str, Any]]]:
    """Run one case; gives the exit code and its trial in run.json."""

    def run(name: str, text: str) -> tuple[int, Mapping[str, Any]]:
        ran = shakeout("run", shakeout.case(name, text), "--json")
        assert ran.out, ran.err
        (trial,) = ran.document["trials"]
        return ran.code, trial

    return run
