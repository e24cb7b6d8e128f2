"""The ``shakeout`` command, as its user starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[3]
SNIPPET = "import sys; from harness.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def shakeout(*words: str | Path, cwd: Path, **more: str) -> Ended:
    """Run it; ``more`` is added to its environment."""
    env = {**os.environ, "PYTHONPATH": str(TOP), "SHAKEOUT_STATE": str(cwd / ".state"), **more}
    done = subprocess.run(
        [sys.executable, "-c", SNIPPET, *map(str, words)],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    return Ended(done.returncode, done.stdout, done.stderr)
