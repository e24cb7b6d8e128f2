"""What sealing costs: its own share of a run of trivial trials, taken inside that run."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ci.measure.figures import Figure, Unavailable
from ci.measure.trials import CASE, TRIALS
from sandboxes import proc

#: A run may take so much longer sealed than unsealed.
LIMIT = 1.05
WORKERS = 4
#: Runs the command with every call that seals timed, in seconds of its own thread's processor and of
#: the clock; a call within another one counts once.
_TIMED = """\
import json, sys, threading, time
from harness import cli
from verifiers.seals.sealer import Sealer

taken, lock, begun = {"processor": 0.0, "clock": 0.0}, threading.Lock(), time.perf_counter()

def timed(name):
    call = getattr(Sealer, name)
    def around(*words):
        processor, clock = time.thread_time(), time.perf_counter()
        try:
            return call(*words)
        finally:
            with lock:
                taken["processor"] += time.thread_time() - processor
                taken["clock"] += (time.perf_counter() - clock) / (%d if name == "seal" else 1)
    setattr(Sealer, name, around)

for name in ("attach", "seal", "finish"):
    timed(name)
code = cli.main(sys.argv[2:])
taken["run"] = time.perf_counter() - begun
open(sys.argv[1], "w").write(json.dumps(taken))
sys.exit(code)
"""


def figures() -> Iterator[Figure | Unavailable]:
    """A run of trivial trials beside the same run without the time that its seals took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "trivial.yaml").write_text(CASE)
        argv = ["run", str(folder / "trivial.yaml"), "--repeat", str(TRIALS), "-n", str(WORKERS)]
        words = [sys.executable, "-c", _TIMED % WORKERS, str(folder / "taken.json"), *argv]
        env = {**proc.minimal_env(), "SHAKEOUT_STATE": str(folder / "state")}
        ran = proc.run([*words, "--out", str(folder / "out")], env=env, timeout=600)
        if not ran.ok:
            yield Unavailable("a sealed run", ran.stderr.decode("utf-8", "replace")[-200:])
            return
        taken = json.loads((folder / "taken.json").read_text())
    yield Figure(
        "a sealed run",
        taken["run"],
        taken["run"] - taken["clock"],
        "s",
        "without its seals",
        goal=LIMIT,
        note=f"{TRIALS} trials, -n {WORKERS}; {taken['processor']:.2f} s of a processor",
    )
