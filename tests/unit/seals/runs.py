"""Makes sealed runs without running anything."""

from __future__ import annotations

import json
from pathlib import Path

from verifiers.seals.envelope import Artifact
from verifiers.seals.sealer import RUN, Claim, Sealer
from verifiers.seals.state import State

TRIAL = "urn:shakeout:attestation:trial:v1"
ABOUT = [Artifact("subject 1", "a" * 64)]


def claim(name: str) -> Claim:
    return Claim(TRIAL, ABOUT, {"trial": name, "verdict": "passed"})


def begun(folder: Path, state: State, run: str = "run-1") -> Sealer:
    folder.mkdir(parents=True)
    sealer = Sealer(run, folder, state)
    sealer.attach()
    return sealer


def trial(sealer: Sealer, name: str) -> Path:
    folder = sealer.folder / "trials" / name
    (folder / "requests").mkdir(parents=True)
    (folder / "stdout").write_bytes(b"")
    (folder / "verdict.json").write_text(json.dumps({"trial": name}))
    (folder / "requests" / "1.body").write_text(f"body of {name}")
    return folder


def sealed(folder: Path, state: State, run: str = "run-1", names: str = "abc") -> Path:
    """A run of one trial for each letter, sealed to the end."""
    sealer = begun(folder, state, run)
    for name in names:
        sealer.seal(trial(sealer, name), claim(name))
    (folder / "run.json").write_text(json.dumps({"run": run}))
    sealer.finish(Claim(RUN, ABOUT, {"verdict": "passed"}))
    assert sealer.broken is None
    return folder
